//! A client: what it sends, and what it makes of what it is told.

use semel_core::lock::{LockEntry, Want};
use semel_core::protocol::lock::{
    Acquire, Acquired, Ending, KeepPlaces, LockSeen, Queueing, Release, Renew, Renewed,
};
use semel_core::protocol::{Verdict, Write};
use semel_core::{Expect, Token, Ttl, Version};

use crate::rules::Rules;

/// A second of the model: the tail of an entry is two of these.
pub(crate) const TICK: u64 = 5_000_000;

pub(crate) const fn ticks(count: u64) -> Ttl {
    match Ttl::from_micros(count * TICK) {
        Some(ttl) => ttl,
        None => Ttl::ZERO,
    }
}

/// How long a lease lasts.
pub(crate) const LEASE: Ttl = ticks(2);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Client {
    pub(crate) token: Token,
    /// How many acquisitions it may begin yet.
    pub(crate) attempts: u8,
    pub(crate) phase: Phase,
    /// What it believes to hold.
    pub(crate) hold: Option<Hold>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Phase {
    Idle,
    Asking(Message),
    /// It was applied at this version and left this; the reply is on its way.
    Applied(Message, u64, Option<LockEntry>),
    Queued,
    Holding,
    Dead,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Hold {
    pub(crate) fence: u64,
    pub(crate) deadline: u64,
    pub(crate) wrote: Option<(LockEntry, u64)>,
}

/// A swap on its way to the store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Message {
    pub(crate) what: What,
    pub(crate) token: Token,
    /// When what it rests on was asked for, and when it was sent.
    pub(crate) asked: u64,
    pub(crate) sent: u64,
    pub(crate) expect: Expect,
    pub(crate) write: Write<LockEntry>,
    /// What is true if it wins.
    pub(crate) then: Then,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum What {
    Acquire,
    Renew,
    Keep,
    Release,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Then {
    Granted { fence: Option<u64>, left: Ttl },
    Queued,
    Held,
    Renewed,
    Lost,
    Kept,
    Released,
}

/// How clients behave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manners {
    pub(crate) waits: bool,
    pub(crate) delay: Ttl,
    pub(crate) alive: Ttl,
}

pub(crate) fn acquire(token: Token, manners: Manners) -> Acquire {
    Acquire {
        token,
        want: Want::mutex(),
        owner: None,
        lease: LEASE,
        lock_delay: manners.delay,
        min_hold: Ttl::ZERO,
        queueing: if manners.waits { Queueing::Place(manners.alive) } else { Queueing::Past },
    }
}

impl Client {
    /// Decides on what is seen or presumed: a message, or an answer at once.
    pub(crate) fn decide<R: Rules>(
        &self,
        rules: &R,
        manners: Manners,
        what: What,
        seen: &LockSeen,
    ) -> Result<(Expect, Write<LockEntry>, Then), Then> {
        let token = self.token;
        match what {
            What::Acquire => {
                told(rules.acquire(&acquire(token, manners), seen), |acquired| match acquired {
                    Acquired::Granted { fence, left } => {
                        Then::Granted { fence: fence.map(semel_core::Fence::get), left }
                    }
                    Acquired::Queued(_) => Then::Queued,
                    Acquired::Held(_) | Acquired::OtherKind(_) => Then::Held,
                })
            }
            What::Renew => {
                let ask = Renew { token, lease: LEASE };
                told(rules.renew(&ask, seen), |renewed| match renewed {
                    Renewed::Renewed => Then::Renewed,
                    Renewed::Lost(_) => Then::Lost,
                })
            }
            What::Keep => {
                let ask = KeepPlaces { tokens: vec![token], alive: manners.alive };
                told(rules.keep(&ask, seen), |_| Then::Kept)
            }
            What::Release => {
                let ask = Release { token, ending: Ending::Used };
                told(rules.release(&ask, seen), |_| Then::Released)
            }
        }
    }

    /// What is presumed by a holder that wrote last, if that is enough.
    pub(crate) fn presumed(&self) -> Option<LockSeen> {
        let (entry, version) = self.hold.as_ref()?.wrote.as_ref()?;
        LockSeen::presumed_held(entry, Version::new(*version))
    }

    /// What it makes of an answer that rests on `asked` and was told at `told`.
    pub(crate) fn take<R: Rules>(
        &mut self,
        rules: &R,
        then: Then,
        (asked, told): (u64, u64),
        wrote: Option<(LockEntry, u64)>,
        version: u64,
    ) {
        let from = rules.counted_from(asked, told);
        match then {
            Then::Granted { fence, left } => {
                let fence = fence.unwrap_or(version);
                self.hold = Some(Hold { fence, deadline: from + left.as_micros(), wrote });
                self.phase = Phase::Holding;
            }
            Then::Renewed => {
                if let Some(hold) = &mut self.hold {
                    hold.deadline = from + LEASE.as_micros();
                    hold.wrote = wrote;
                }
                self.phase = Phase::Holding;
            }
            Then::Queued | Then::Kept => self.phase = Phase::Queued,
            Then::Held | Then::Lost | Then::Released => {
                self.hold = None;
                self.phase = Phase::Idle;
            }
        }
    }

    /// Whether it works under the lock: it believes in its lease by its own clock.
    pub(crate) fn believes(&self, now: u64) -> bool {
        self.phase != Phase::Dead && self.hold.as_ref().is_some_and(|hold| now < hold.deadline)
    }
}

fn told<A>(
    verdict: Verdict<A, LockEntry>,
    then: impl Fn(A) -> Then,
) -> Result<(Expect, Write<LockEntry>, Then), Then> {
    match verdict {
        Verdict::Write { expect, write, answer } => Ok((expect, write, then(answer))),
        Verdict::Answer(answer) => Err(then(answer)),
    }
}
