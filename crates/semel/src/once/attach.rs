//! Attaching to a call that another owner runs: wait for its answer, never run it.

use std::pin::pin;
use std::time::Duration;

use semel_core::protocol::{Ask, Inspect, Seen, Status, Successor, Verdict};

use super::begin::Given;
use super::begun::{Begun, Busy, Replay, busy, refused_by};
use super::call::Call;
use super::engine::Once;
use crate::drive::{in_time, look};
use crate::problem::{Problem, ProblemKind};
use crate::timer;

/// What became of a call that was attached to.
#[derive(Debug)]
#[non_exhaustive]
pub enum Attached {
    /// It ended: this came of it.
    Replay(Replay),
    /// It is still in flight, and the time to wait is up.
    Busy(Busy),
    /// It can't be told: it is in doubt, the key belongs to another operation or another request,
    /// or the store failed.
    Refused(Problem),
    /// There is no such call: it never began, was released, or is forgotten.
    Nothing,
}

impl Once {
    /// Waits for the call's answer as its policy says, without ever running it. Nothing is
    /// written; one round trip where it need not wait. For functions,
    /// [`CallBuilder::attach`](crate::CallBuilder::attach) gives the value.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves nothing behind; the call goes on.
    pub async fn attach(&self, call: &Call) -> Attached {
        let began = timer::now();
        let mut seen = match self.seen(call).await {
            Ok(seen) => seen,
            Err(failed) => return failed,
        };
        loop {
            let left = match judged(call, &seen) {
                Judged::Told(attached) => return attached,
                Judged::InFlight(left) => left,
            };
            match self.wait(call, seen.now, timer::now() - began, left).await {
                Ok(there) => seen = there,
                Err(Given::Failed(problem)) => return Attached::Refused(problem),
                Err(Given::Busy(busy)) => return Attached::Busy(busy),
            }
        }
    }

    /// As [`Once::attach`], without waiting.
    pub(crate) async fn look_at(&self, call: &Call) -> Attached {
        match self.seen(call).await.map(|seen| judged(call, &seen)) {
            Ok(Judged::Told(attached)) | Err(attached) => attached,
            Ok(Judged::InFlight(left)) => Attached::Busy(busy(&call.policy, left)),
        }
    }

    async fn seen(&self, call: &Call) -> Result<Seen, Attached> {
        let seen = in_time(pin!(look(&*self.0.store, &call.at))).await;
        seen.map_err(|error| Attached::Refused(refused_by(&error)))
    }

    /// The answer of whoever took over from a late owner: what is known of it, or is waited for as
    /// [`Once::attach`] waits.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// As [`Once::attach`].
    pub async fn attach_to(&self, call: &Call, successor: Successor) -> Attached {
        match successor {
            Successor::Done(outcome) => Attached::Replay(Replay { outcome }),
            Successor::Nothing => Attached::Nothing,
            Successor::InFlight { .. } | Successor::InDoubt { .. } | Successor::Other => {
                self.attach(call).await
            }
        }
    }
}

/// What follows from what was seen.
enum Judged {
    Told(Attached),
    /// With so much left of its lease.
    InFlight(Duration),
}

fn judged(call: &Call, seen: &Seen) -> Judged {
    if let Some(refused) = of_another_request(call, seen) {
        return Judged::Told(Attached::Refused(refused));
    }
    let Verdict::Answer(status) = Inspect.decide(seen) else {
        return Judged::Told(Attached::Nothing);
    };
    Judged::Told(match status {
        Status::Absent => Attached::Nothing,
        Status::Done(outcome) => Attached::Replay(Replay { outcome }),
        Status::InDoubt { since } => Attached::Refused(ProblemKind::InDoubt { since }.into()),
        Status::InFlight { lease_left } => return Judged::InFlight(lease_left.as_duration()),
    })
}

/// The answer to another request must never be given out as the answer to this one.
fn of_another_request(call: &Call, seen: &Seen) -> Option<Problem> {
    let recorded = &seen.record.as_ref()?.record.claim;
    if recorded.operation != call.operation {
        let operation = call.operation.clone();
        let recorded = recorded.operation.clone();
        return Some(ProblemKind::KeyReused { operation, recorded }.into());
    }
    let (ours, theirs) = (call.fingerprint.as_ref()?, recorded.fingerprint.as_ref()?);
    let differs: Vec<_> =
        ours.differs_from(theirs).iter().map(|part| part.as_str().into()).collect();
    (!differs.is_empty()).then(|| ProblemKind::PayloadMismatch { differs }.into())
}

impl From<Attached> for Option<Begun> {
    /// As if it had been begun; none where there is nothing.
    fn from(attached: Attached) -> Self {
        match attached {
            Attached::Replay(replay) => Some(Begun::Replay(replay)),
            Attached::Busy(busy) => Some(Begun::Busy(busy)),
            Attached::Refused(problem) => Some(Begun::Refused(problem)),
            Attached::Nothing => None,
        }
    }
}
