//! Forget: somebody wants a key to be as if it had never been used.

use super::{Ask, Seen, Verdict, Write};
use crate::record::State;
use crate::store::{Expect, Version};
use crate::time::Ttl;

/// An operator forgets a call: its key is free, and it may run again.
#[derive(Debug, Clone, Copy)]
pub struct Forget {
    /// The version that was looked at: a decision on old news changes nothing.
    pub version: Version,
    /// Whether an owner at work stands in the way.
    pub owner: AtWork,
}

/// What an owner at work means to [`Forget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AtWork {
    /// Nothing is forgotten while it has its lease.
    Respected,
    /// It loses its claim. Another may do the same work while it is still at it.
    Overridden,
}

/// The answer to [`Forget`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Forgotten {
    /// It is forgotten: the key is free. That also if it was free before.
    Forgotten,
    /// It changed since it was looked at: look again. Nothing was changed.
    Changed,
    /// Its owner is at work. Nothing was changed.
    StillHeld {
        /// What is left of its lease.
        lease_left: Ttl,
    },
}

impl Ask for Forget {
    type Answer = Forgotten;

    fn decide(&self, seen: &Seen) -> Verdict<Forgotten> {
        let Some(there) = &seen.record else { return Verdict::Answer(Forgotten::Forgotten) };
        if there.version != self.version {
            return Verdict::Answer(Forgotten::Changed);
        }
        let is_at_work = there.record.state == State::Held && !there.lease_left.is_zero();
        if is_at_work && self.owner == AtWork::Respected {
            return Verdict::Answer(Forgotten::StillHeld { lease_left: there.lease_left });
        }
        Verdict::Write {
            expect: Expect::Version(there.version),
            write: Write::Delete,
            answer: Forgotten::Forgotten,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::SeenRecord;
    use crate::record::{Claim, Doubt, Extent, Form, Operation, Outcome, Record, Token};
    use crate::time::StoreTime;

    const VERSION: Version = Version::new(7);

    fn seen(state: State, lease_left: Ttl) -> Seen {
        let claim = Claim {
            operation: Operation::new("charge").unwrap(),
            fingerprint: None,
            token: Token::from_bytes([1; 16]),
            attempt: 1,
            owner: None,
        };
        let record = Record { claim, state };
        let there = SeenRecord { version: VERSION, lease_left, keep_left: Ttl::MAX, record };
        Seen { now: StoreTime::from_micros(9), record: Some(there) }
    }

    fn done() -> State {
        State::Done(Outcome { form: Form::Bytes, extent: Extent::Whole, payload: "x".into() })
    }

    fn forgets(seen: &Seen, owner: AtWork) -> bool {
        let expected = Expect::Version(VERSION);
        matches!(
            Forget { version: VERSION, owner }.decide(seen),
            Verdict::Write { expect, write: Write::Delete, answer: Forgotten::Forgotten }
                if expect == expected
        )
    }

    #[test]
    fn what_is_over_or_in_doubt_is_forgotten() {
        for state in [done(), State::Doubt(Doubt::CutOff), State::Held] {
            for owner in [AtWork::Respected, AtWork::Overridden] {
                assert!(forgets(&seen(state.clone(), Ttl::ZERO), owner), "{state:?} {owner:?}");
            }
        }
    }

    #[test]
    fn an_owner_at_work_is_forgotten_only_where_that_is_wanted() {
        let held = seen(State::Held, Ttl::MAX);
        assert!(forgets(&held, AtWork::Overridden));
        let ask = Forget { version: VERSION, owner: AtWork::Respected };
        let still = Forgotten::StillHeld { lease_left: Ttl::MAX };
        assert_eq!(ask.decide(&held), Verdict::Answer(still));
    }

    #[test]
    fn old_news_forget_nothing_and_nothing_is_forgotten_already() {
        let ask = Forget { version: Version::new(6), owner: AtWork::Overridden };
        let changed = Verdict::Answer(Forgotten::Changed);
        assert_eq!(ask.decide(&seen(done(), Ttl::ZERO)), changed);
        let nothing = Seen { now: StoreTime::from_micros(9), record: None };
        assert_eq!(ask.decide(&nothing), Verdict::Answer(Forgotten::Forgotten));
    }
}
