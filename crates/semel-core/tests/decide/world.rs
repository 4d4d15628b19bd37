//! A key in the memory store, a clock that is moved by hand, and a driver: swap, decide, swap.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use semel_core::protocol::{
    Ask, Begin, Begun, Completed, InDoubt, MarkDoubt, Marked, Release, Released, Renew, Renewed,
    Resolve, Resolved, Seen, Verdict, Write, decide,
};
use semel_core::{
    Clock, Doubt, Key, ManualClock, MemoryStore, Next, Outcome, Snapshot, Store, StoreTime, Swap,
    Token, Touch, Version, codec,
};

use crate::fixtures::{begin, claim, complete, keep, lease};

/// What becomes of a swap on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// It arrives, and its reply too.
    Clear,
    /// It arrives; its reply does not.
    ReplyLost,
    /// It does not arrive, and nobody says so.
    RequestLost,
}

pub(crate) struct World {
    store: MemoryStore,
    clock: Arc<ManualClock>,
    key: Key,
}

#[derive(Debug)]
struct Hand(Arc<ManualClock>);

impl Clock for Hand {
    fn now(&self) -> StoreTime {
        self.0.now()
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(ManualClock::at(StoreTime::from_micros(1_000_000)));
        let store = MemoryStore::new(Hand(Arc::clone(&clock)));
        Self { store, clock, key: Key::new("idem:acme:alice:1").unwrap() }
    }

    pub(crate) fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// The entry as it is: for "nothing was changed".
    pub(crate) fn snapshot(&self) -> Snapshot {
        at_once(self.store.read(&self.key, Touch::No)).unwrap()
    }

    pub(crate) fn look(&self) -> Seen {
        Seen::of(&self.key.digest(), &self.snapshot()).unwrap()
    }

    /// Puts `ask` to the key, starting from what is presumed. Each swap goes one of the `ways`;
    /// when they are used up, the way is clear.
    pub(crate) fn drive<A: Ask>(&self, ask: &A, presumed: Seen, ways: &[Way]) -> Driven<A::Answer> {
        let mut seen = presumed;
        let mut ways = ways.iter().copied().chain(std::iter::repeat(Way::Clear));
        for swaps in 0..20 {
            match decide(&seen, ask) {
                Verdict::Answer(answer) => {
                    return Driven { answer, version: seen.record.map(|r| r.version), swaps };
                }
                Verdict::Write { expect, write, answer } => {
                    let way = ways.next().unwrap();
                    let swap = || {
                        at_once(self.store.swap(&self.key, expect, self.encoded(&write))).unwrap()
                    };
                    // A lost swap brings what is there; a lost reply is followed by a read.
                    let snapshot = match way {
                        Way::Clear => match swap() {
                            Swap::Won(stamp) => {
                                let version = Some(stamp.version);
                                return Driven { answer, version, swaps: swaps + 1 };
                            }
                            Swap::Lost(snapshot) => snapshot,
                        },
                        Way::ReplyLost => {
                            let _nobody_hears_it = swap();
                            self.snapshot()
                        }
                        Way::RequestLost => self.snapshot(),
                    };
                    seen = Seen::of(&self.key.digest(), &snapshot).unwrap();
                }
            }
        }
        panic!("the decision goes round in circles")
    }

    fn encoded(&self, write: &Write) -> Next {
        match write {
            Write::Put { record, lease, keep } => {
                let value = codec::encode(&self.key.digest(), record);
                Next::Put { value, lease: *lease, keep: *keep }
            }
            Write::Renew { lease, keep } => Next::Renew { lease: *lease, keep: *keep },
            Write::Delete => Next::Delete,
        }
    }

    // ===== whole calls, by the number of their token =====

    pub(crate) fn ask_to_begin(&self, ask: &Begin) -> Begun {
        self.drive(ask, Seen::presumed_free(), &[]).answer
    }

    pub(crate) fn begin(&self, number: u8, in_doubt: InDoubt) -> Begun {
        self.ask_to_begin(&begin(number, in_doubt))
    }

    /// Begins a call that must be fresh.
    pub(crate) fn begin_fresh(&self, number: u8) -> Version {
        let driven = self.drive(&begin(number, InDoubt::Rerun), Seen::presumed_free(), &[]);
        assert!(matches!(driven.answer, Begun::Fresh { .. }), "{:?}", driven.answer);
        driven.version.unwrap()
    }

    pub(crate) fn complete(&self, number: u8, at: Version, outcome: Outcome) -> Completed {
        self.drive(&complete(number, outcome), held(number, at), &[]).answer
    }

    pub(crate) fn release(&self, number: u8, at: Version) -> Released {
        self.drive(&Release { token: token(number) }, held(number, at), &[]).answer
    }

    pub(crate) fn renew(&self, number: u8, at: Version) -> Renewed {
        self.drive(&renew(number), held(number, at), &[]).answer
    }

    pub(crate) fn doubt(&self, number: u8, at: Version) -> Marked {
        self.drive(&mark_doubt(number), held(number, at), &[]).answer
    }

    pub(crate) fn resolve(&self, ask: &Resolve) -> Resolved {
        self.drive(ask, self.look(), &[]).answer
    }
}

#[derive(Debug, PartialEq)]
pub(crate) struct Driven<A> {
    pub(crate) answer: A,
    pub(crate) version: Option<Version>,
    /// How many round trips it took, reads not counted.
    pub(crate) swaps: usize,
}

/// The memory store never waits.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().unwrap()
}

pub(crate) fn held(number: u8, at: Version) -> Seen {
    Seen::presumed_held(claim(number), at)
}

fn token(number: u8) -> Token {
    claim(number).token
}

pub(crate) fn renew(number: u8) -> Renew {
    Renew { token: token(number), lease: lease(), keep: keep() }
}

pub(crate) fn mark_doubt(number: u8) -> MarkDoubt {
    MarkDoubt { token: token(number), doubt: Doubt::CutOff, keep: keep() }
}
