//! Asking the application about a call in doubt.

use std::pin::pin;

use semel_core::Token;
use semel_core::protocol::{Resolution, Resolve, Resolved, Seen, SeenRecord};

use super::begun::refused_by;
use super::call::Call;
use super::engine::Once;
use crate::drive::{drive, in_time, look};
use crate::policy::{Doubtful, InDoubtPolicy, Reconciled};
use crate::problem::{Problem, ProblemKind};

impl Once {
    /// Asks the application about a call in doubt, settles it if it knows, and gives what is
    /// there then.
    pub(super) async fn reconcile(&self, call: &Call, there: SeenRecord) -> Result<Seen, Problem> {
        let since = there.last_written();
        let unknown = || Problem::from(ProblemKind::InDoubt { since });
        let InDoubtPolicy::Reconcile(hook) = &call.policy.in_doubt else { return Err(unknown()) };
        let doubtful = Doubtful {
            key: call.at.key.clone(),
            operation: there.record.claim.operation.clone(),
            attempt: there.record.claim.attempt,
            owner: there.record.claim.owner.clone(),
            since,
        };
        let resolution = match hook.reconcile(&doubtful).await {
            Reconciled::Done(outcome) => Resolution::Done { outcome, keep: call.policy.keep },
            Reconciled::NoEffect => Resolution::Free,
            Reconciled::Unknown => return Err(unknown()),
        };
        let ask = Resolve { version: there.version, token: Token::fresh(), resolution };
        let seen = Seen { now: since, record: Some(there) };
        let store = &*self.0.store;
        match in_time(pin!(drive(store, &call.at, &ask, seen))).await.map(|driven| driven.answer) {
            // Whether it was settled by us or by another, what is there now decides.
            Ok(
                Resolved::Settled
                | Resolved::Changed
                | Resolved::AlreadyDone
                | Resolved::StillHeld { .. },
            ) => in_time(pin!(look(store, &call.at))).await.map_err(|error| refused_by(&error)),
            Err(error) => Err(refused_by(&error)),
        }
    }
}
