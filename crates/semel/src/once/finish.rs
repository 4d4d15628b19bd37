//! Finishing a call: record what came of it, free its key, or call it doubtful.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rand::RngExt;
use semel_core::protocol::{
    Ask, Backoff, Complete, Completed, MarkDoubt, Marked, Release, Released, Seen, Successor,
};
use semel_core::{Doubt, Extent, Outcome, Refusal, Store, StoreError, StoreErrorKind, Token};

use super::claim::Claim;
use super::held::Held;
use crate::drive::{Address, Driven, drive, look};
use crate::timer;

/// How long the caller waits for its record before it gets its answer without.
const PATIENCE: Duration = Duration::from_secs(5);
const BACKOFF: Backoff = Backoff { first: Duration::from_millis(50), most: Duration::from_secs(5) };

/// How recording an outcome ended.
#[derive(Debug)]
#[must_use = "a superseded answer must not be given out as the call's answer"]
pub enum Finished {
    /// It is recorded: every repeat gets it.
    Recorded,
    /// The store could not keep all of it; that the call ended is recorded.
    RecordedInPart,
    /// The store did not take it yet. It is tried again in the background, under the lease; if
    /// that fails for good the call is in doubt.
    Pending,
    /// The claim was lost: nothing was changed, and this stands in its place.
    Superseded(Successor),
    /// It can't be recorded: the call will be in doubt once its lease ends.
    Unrecorded,
}

impl Claim {
    /// Records the outcome.
    ///
    /// May be called again after an outcome with [`Extent::Partial`], to record the whole of it.
    /// One round trip.
    ///
    /// # Cancel safety
    ///
    /// Dropped at its await, the outcome may have been recorded or not; if not, the call is in
    /// doubt once its lease ends.
    pub async fn record(&mut self, outcome: Outcome) -> Finished {
        let form = outcome.form;
        self.record_or(outcome, Outcome { form, extent: Extent::Partial, payload: Bytes::new() })
            .await
    }

    /// As [`Claim::record`], with a smaller outcome for a store that refuses the whole of it
    /// because it is full or takes no value so large. Where it refuses that one too, only that
    /// the call ended is recorded.
    ///
    /// # Cancel safety
    ///
    /// As [`Claim::record`].
    pub async fn record_or(&mut self, outcome: Outcome, less: Outcome) -> Finished {
        let less = Outcome { extent: Extent::Partial, ..less };
        let whole = outcome.extent == Extent::Whole;
        let ask = Complete { claim: self.held.claim.clone(), outcome, keep: self.held.keep };
        match timer::within(PATIENCE, self.tried(&ask)).await {
            Some(Ok(completed)) => self.completed(completed),
            Some(Err(error)) if whole && is_too_much(&error) => {
                self.record_less(Complete { outcome: less, ..ask }, &error).await
            }
            Some(Err(error)) => self.later(ask, &error),
            None => self.later(ask, &StoreError::unknown("no answer in time")),
        }
    }

    /// Frees the key: the work did not happen, or failed in a way that a retry may mend.
    ///
    /// One round trip. If the store can't be reached it is tried again in the background until
    /// the lease ends, which frees the key as well under policy `rerun`.
    pub async fn release(mut self) -> Released {
        self.leave_keeper();
        let ask = Release { token: self.held.claim.token };
        match timer::within(PATIENCE, self.tried(&ask)).await {
            Some(Ok(Released::NotOurs)) => {
                self.superseded("release");
                Released::NotOurs
            }
            Some(Ok(released)) => released,
            Some(Err(_)) | None => {
                self.persist(ask, self.held.remaining());
                Released::AlreadyGone
            }
        }
    }

    /// Says that the outcome can't be known. The policy for doubt decides what follows.
    pub async fn doubt(mut self, doubt: Doubt) -> Marked {
        self.leave_keeper();
        let ask = MarkDoubt { token: self.held.claim.token, doubt, keep: self.held.keep };
        match timer::within(PATIENCE, self.tried(&ask)).await {
            Some(Ok(Marked::NotOurs)) => {
                self.superseded("doubt");
                Marked::NotOurs
            }
            Some(Ok(marked)) => marked,
            // Without the mark the lease runs out, and that is doubt as well.
            Some(Err(_)) | None => {
                self.persist(ask, self.held.remaining());
                Marked::InDoubt
            }
        }
    }

    async fn tried<A: Ask>(&self, ask: &A) -> Result<A::Answer, StoreError> {
        tried(&*self.once.0.store, &self.held, ask).await
    }

    fn completed(&mut self, completed: Completed) -> Finished {
        self.leave_keeper();
        match completed {
            Completed::Recorded => Finished::Recorded,
            Completed::Superseded(successor) => {
                self.superseded("complete");
                Finished::Superseded(successor)
            }
        }
    }

    fn superseded(&self, event: &'static str) {
        metrics::counter!("semel_late_owners_total", "event" => event).increment(1);
        tracing::warn!(
            key = %self.held.at.digest,
            operation = %self.held.claim.operation,
            event,
            "a late owner changed nothing: its claim was lost"
        );
    }

    /// The store refuses so much: what must not be lost is that the work was done.
    async fn record_less(&mut self, mut less: Complete, error: &StoreError) -> Finished {
        tracing::warn!(key = %self.held.at.digest, %error, "an answer is recorded without its body");
        loop {
            match timer::within(PATIENCE, self.tried(&less)).await {
                Some(Ok(completed)) => {
                    return match self.completed(completed) {
                        Finished::Recorded => Finished::RecordedInPart,
                        finished => finished,
                    };
                }
                Some(Err(error)) if is_too_much(&error) && !less.outcome.payload.is_empty() => {
                    less.outcome.payload = Bytes::new();
                }
                Some(Err(error)) => return self.later(less, &error),
                None => return self.later(less, &StoreError::unknown("no answer in time")),
            }
        }
    }

    fn later(&mut self, ask: Complete, error: &StoreError) -> Finished {
        metrics::counter!("semel_records_failed_total").increment(1);
        tracing::error!(
            key = %self.held.at.digest,
            error = error as &dyn std::error::Error,
            "an outcome could not be recorded"
        );
        if error.kind() == StoreErrorKind::Damaged {
            self.leave_keeper();
            return Finished::Unrecorded;
        }
        // The keeper goes on under the background task, which owns the place from here.
        let rest = Claim {
            once: self.once.clone(),
            policy: Arc::clone(&self.policy),
            held: Arc::clone(&self.held),
            place: self.place.take(),
        };
        let limit = self.policy.max_execution.saturating_sub(self.held.since_asked()) + PATIENCE;
        self.once.0.tasks.spawn(async move {
            let mut rest = rest;
            match persist(&*rest.once.0.store, &rest.held, &ask, limit).await {
                Some(completed) => drop(rest.completed(completed)),
                None => tracing::error!(
                    key = %rest.held.at.digest,
                    "an outcome was given up on: the call is in doubt"
                ),
            }
        });
        Finished::Pending
    }

    /// Tries again in the background until it is settled, at most for `limit`.
    fn persist<A>(&self, ask: A, limit: Duration)
    where
        A: Ask + Send + Sync + 'static,
        A::Answer: Send,
    {
        let (store, held) = (Arc::clone(&self.once.0.store), Arc::clone(&self.held));
        self.once.0.tasks.spawn(async move {
            if persist(&*store, &held, &ask, limit).await.is_none() {
                tracing::error!(key = %held.at.digest, "a claim could not be given back");
            }
        });
    }
}

/// Out of the way of awaits: the generator belongs to its thread.
fn dice() -> u32 {
    rand::rng().random()
}

fn is_too_much(error: &StoreError) -> bool {
    matches!(error.kind(), StoreErrorKind::Refused(Refusal::Full | Refusal::TooLarge))
}

async fn tried<A: Ask>(store: &dyn Store, held: &Held, ask: &A) -> Result<A::Answer, StoreError> {
    let presumed = Seen::presumed_held(held.claim.clone(), held.version());
    let Driven { answer, version } = drive(store, &held.at, ask, presumed).await?;
    held.renewed(Duration::ZERO, version);
    Ok(answer)
}

/// Tries until the store answers; none when the time is up, or it refuses for good.
async fn persist<A: Ask>(
    store: &dyn Store,
    held: &Held,
    ask: &A,
    limit: Duration,
) -> Option<A::Answer> {
    let began = timer::now();
    for tries in 0_u32.. {
        timer::sleep(BACKOFF.wait(tries, dice())).await;
        match timer::within(PATIENCE, tried(store, held, ask)).await {
            Some(Ok(answer)) => return Some(answer),
            Some(Err(error)) if error.kind() == StoreErrorKind::Damaged => return None,
            Some(Err(_)) | None if timer::now() - began >= limit => return None,
            Some(Err(_)) | None => {}
        }
    }
    None
}

/// Frees a claim of which it is not known whether it was made, until its lease would have ended.
pub(super) async fn give_back(store: Arc<dyn Store>, at: Address, token: Token, lease: Duration) {
    let began = timer::now();
    let mut tries = 0;
    while timer::now() - began < lease {
        timer::sleep(BACKOFF.wait(tries, dice())).await;
        tries += 1;
        let Ok(seen) = look(&*store, &at).await else { continue };
        if drive(&*store, &at, &Release { token }, seen).await.is_ok() {
            return;
        }
    }
}
