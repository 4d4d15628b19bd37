//! The state of the world: the store, the owners, and what is on the wires.

/// A call, by its number: its token, and what its effect and its answer are called.
pub(crate) type Call = u8;

/// A set of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Calls(u16);

impl Calls {
    pub(crate) const fn has(self, call: Call) -> bool {
        self.0 & (1 << call) != 0
    }

    pub(crate) const fn add(&mut self, call: Call) {
        self.0 |= 1 << call;
    }

    pub(crate) const fn add_some(&mut self, call: Option<Call>) {
        if let Some(call) = call {
            self.add(call);
        }
    }

    pub(crate) const fn count(self) -> u32 {
        self.0.count_ones()
    }

    pub(crate) const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    pub(crate) const fn within(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }
}

/// The most owners, and the most calls altogether.
pub(crate) const OWNERS: usize = 3;
pub(crate) const CALLS: usize = 6;

/// Somebody who only asks, and an operator.
pub(crate) const PASSER_BY: Call = 14;
pub(crate) const OPERATOR: Call = 15;

// ===== the store =====

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Progress {
    Held,
    Doubt,
    Done { answer: Call, whole: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Claimed {
    pub(crate) token: Call,
    pub(crate) progress: Progress,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    pub(crate) version: u8,
    /// Whether its lease has not ended.
    pub(crate) live: bool,
    pub(crate) claimed: Claimed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Shelf {
    pub(crate) entry: Option<Entry>,
    pub(crate) last_version: u8,
}

// ===== what goes over the wires =====

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Asked {
    Begin,
    Complete { answer: Call, whole: bool },
    Release,
    Doubt,
    Renew,
    Resolve { version: u8, answer: Option<Call> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Expected {
    Absent,
    Version(u8),
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Change {
    Put(Claimed),
    Renew,
    Delete,
}

/// What a decision answers, as far as an owner acts upon it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Answer {
    Fresh,
    Replay {
        answer: Call,
        whole: bool,
    },
    /// In flight, in doubt, or refused: come back later, or don't.
    Wait,
    Unknown,
    Recorded,
    SupersededBy {
        answer: Call,
        whole: bool,
    },
    Superseded,
    /// Anything that a release, a mark, a renewal or a resolution is told.
    Settled,
}

/// A compare-and-swap on its way to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Swap {
    pub(crate) call: Call,
    pub(crate) asked: Asked,
    pub(crate) expected: Expected,
    pub(crate) change: Change,
    /// What is the answer if it wins.
    pub(crate) answer: Answer,
}

// ===== owners and upstream =====

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    /// Before its first call, or between two.
    Idle,
    /// Its swap is on its way and it waits for the reply.
    Asking(Swap),
    /// It heard nothing, and must look before it concludes anything.
    Looking(Asked),
    /// The claim is its own and it works: its call to the upstream is on the wire, or was, and
    /// its answer got lost.
    Working { version: u8 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct OwnerState {
    pub(crate) phase: Phase,
    /// How many calls it has made; the last one is the present one.
    pub(crate) made: u8,
    /// Renewals that the present call may still send.
    pub(crate) renewals: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Wire {
    /// Nothing was sent, or it is over.
    #[default]
    Quiet,
    /// It is about to be sent or on its way, with its fence where somebody looks at it.
    There { fence: u8 },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct World {
    pub(crate) shelf: Shelf,
    pub(crate) owners: [OwnerState; OWNERS],
    pub(crate) wires: [Wire; CALLS],
    /// Swaps that nobody waits for any more, in order.
    pub(crate) strays: Vec<Swap>,
    pub(crate) resolutions: u8,
    // ----- what the upstream remembers -----
    pub(crate) effects: Calls,
    pub(crate) first_effect: Option<Call>,
    pub(crate) top_fence: u8,
    // ----- what the laws remember -----
    /// Calls that held the key.
    pub(crate) held: Calls,
    /// Calls that failed, crashed, gave up, or whose lease ended at work.
    pub(crate) harmed: Calls,
    /// The first answer that rests on a record, and the first at all.
    pub(crate) told_recorded: Option<Call>,
    pub(crate) told: Option<Call>,
    pub(crate) top_version: u8,
}

impl World {
    pub(crate) fn new(resolutions: u8) -> Self {
        let idle = OwnerState { phase: Phase::Idle, made: 0, renewals: 0 };
        Self {
            shelf: Shelf::default(),
            owners: [idle; OWNERS],
            wires: [Wire::Quiet; CALLS],
            strays: Vec::new(),
            resolutions,
            effects: Calls::default(),
            first_effect: None,
            top_fence: 0,
            held: Calls::default(),
            harmed: Calls::default(),
            told_recorded: None,
            told: None,
            top_version: 0,
        }
    }

    pub(crate) fn stray(&mut self, swap: Swap) {
        let at = self.strays.partition_point(|other| *other < swap);
        self.strays.insert(at, swap);
    }
}
