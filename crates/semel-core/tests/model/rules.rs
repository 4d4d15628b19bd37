//! The decision that is checked: the production one, or a broken variant of it.

use semel_core::protocol::{
    Begin, Begun, Complete, Completed, MarkDoubt, Marked, Release, Released, Renew, Renewed,
    Resolve, Resolved, Seen, Verdict, decide,
};

/// Every question with its decision. A variant replaces one of them.
pub(crate) trait Rules {
    fn begin(&self, seen: &Seen, ask: &Begin) -> Verdict<Begun> {
        decide(seen, ask)
    }

    fn complete(&self, seen: &Seen, ask: &Complete) -> Verdict<Completed> {
        decide(seen, ask)
    }

    fn release(&self, seen: &Seen, ask: &Release) -> Verdict<Released> {
        decide(seen, ask)
    }

    fn mark_doubt(&self, seen: &Seen, ask: &MarkDoubt) -> Verdict<Marked> {
        decide(seen, ask)
    }

    fn renew(&self, seen: &Seen, ask: &Renew) -> Verdict<Renewed> {
        decide(seen, ask)
    }

    fn resolve(&self, seen: &Seen, ask: &Resolve) -> Verdict<Resolved> {
        decide(seen, ask)
    }
}

/// What is shipped.
pub(crate) struct Production;

impl Rules for Production {}
