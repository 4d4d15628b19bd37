//! Finishing a call: record what came of it.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use semel_core::protocol::{Complete, Completed};
use semel_core::{Extent, Outcome, Refusal, StoreError, StoreErrorKind, Version};

use super::background::persist;
use super::claim::Claim;
use super::finished::Finished;
use crate::drive::{By, Driven, PATIENCE, drive, in_time};

impl Claim {
    /// Records the outcome.
    ///
    /// May be called again after an outcome with [`Extent::Partial`], to record the whole of it.
    /// Any other outcome after the first one changes nothing. One round trip.
    ///
    /// A store that does not answer is waited for five seconds; then it is tried again in the
    /// background.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, if the store does not answer at once.
    ///
    /// # Cancel safety
    ///
    /// Dropped at its await, the outcome may have been recorded or not; if not, the call is in
    /// doubt once its lease ends.
    pub fn record(&mut self, outcome: Outcome) -> impl Future<Output = Finished> + Send {
        self.recorded(outcome, None::<fn() -> Outcome>)
    }

    /// As [`Claim::record`], with a smaller outcome for a store that refuses the whole of it
    /// because it is full or takes no value so large; it is made only then. Where it refuses that one too, only that
    /// the call ended is recorded.
    ///
    /// # Panics
    ///
    /// As [`Claim::record`].
    ///
    /// # Cancel safety
    ///
    /// As [`Claim::record`].
    pub fn record_or(
        &mut self,
        outcome: Outcome,
        less: impl FnOnce() -> Outcome + Send,
    ) -> impl Future<Output = Finished> + Send {
        self.recorded(outcome, Some(less))
    }

    async fn recorded<F>(&mut self, outcome: Outcome, less: Option<F>) -> Finished
    where
        F: FnOnce() -> Outcome + Send,
    {
        if let Some(transaction) = self.transaction.take() {
            let less = less.map(|less| Outcome { extent: Extent::Partial, ..less() });
            return Box::pin(self.commit(*transaction, outcome, less)).await;
        }
        let ask = Complete { claim: self.held.claim.clone(), outcome, keep: self.held.keep };
        match self.complete(&ask).await {
            Ok(finished) => finished,
            Err(error) => {
                // What seldom comes to pass is boxed: it would make every call's future larger.
                Box::pin(async {
                    if ask.outcome.extent == Extent::Whole && is_too_much(&error) {
                        let less = less.map(|less| Outcome { extent: Extent::Partial, ..less() });
                        self.record_less(ask, less, &error).await
                    } else {
                        self.complete_later(ask, &error)
                    }
                })
                .await
            }
        }
    }

    async fn complete(&mut self, ask: &Complete) -> Result<Finished, StoreError> {
        let presumed = match ask.outcome.extent {
            Extent::Whole => self.held.presumed_in_part(),
            Extent::Partial => self.held.presumed(),
        };
        let driven = drive(&*self.once.0.store, &self.held.at, ask, presumed);
        let driven = in_time(pin!(driven)).await?;
        Ok(self.completed(ask, driven))
    }

    fn completed(&mut self, ask: &Complete, driven: Driven<Completed>) -> Finished {
        self.leave_keeper();
        match driven.answer {
            Completed::Recorded => {
                self.held.finish();
                if let (By::Write, Some(version)) = (driven.by, driven.version) {
                    self.note_part(ask, version);
                }
                Finished::Recorded
            }
            Completed::Superseded(successor) => {
                self.superseded("complete");
                Finished::Superseded(successor)
            }
        }
    }

    /// What was recorded in part may be recorded whole, and that in one round trip as well.
    fn note_part(&self, ask: &Complete, version: Version) {
        if ask.outcome.extent == Extent::Partial {
            self.held.recorded_in_part(version, ask.outcome.clone());
        }
    }

    pub(super) fn superseded(&self, event: &'static str) {
        metrics::counter!("semel_late_owners_total", "event" => event).increment(1);
        tracing::warn!(
            key = %self.held.at.digest,
            operation = %self.held.claim.operation,
            event,
            "a late owner changed nothing: its claim was lost"
        );
    }

    /// The store refuses so much: what must not be lost is that the work was done.
    async fn record_less(
        &mut self,
        whole: Complete,
        less: Option<Outcome>,
        error: &StoreError,
    ) -> Finished {
        tracing::warn!(key = %self.held.at.digest, %error, "an answer is recorded without its body");
        let form = whole.outcome.form;
        let nothing = || Outcome { form, extent: Extent::Partial, payload: Bytes::new() };
        let mut less = Complete { outcome: less.unwrap_or_else(nothing), ..whole };
        loop {
            return match self.complete(&less).await {
                Ok(Finished::Recorded) => Finished::RecordedInPart,
                Ok(finished) => finished,
                Err(error) if is_too_much(&error) && !less.outcome.payload.is_empty() => {
                    less.outcome.payload = Bytes::new();
                    continue;
                }
                Err(error) => self.complete_later(less, &error),
            };
        }
    }

    fn complete_later(&mut self, ask: Complete, error: &StoreError) -> Finished {
        metrics::counter!("semel_records_failed_total").increment(1);
        tracing::error!(
            key = %self.held.at.digest,
            error = error as &dyn std::error::Error,
            "an outcome could not be recorded"
        );
        if error.kind() == StoreErrorKind::Damaged {
            self.leave_keeper();
            self.given_up_on();
            return Finished::Unrecorded;
        }
        // The keeper goes on under the background task, which owns the place from here.
        let mut rest = Self {
            once: self.once.clone(),
            policy: Arc::clone(&self.policy),
            held: Arc::clone(&self.held),
            place: self.place.take(),
            transaction: None,
        };
        let limit = self.worth_trying();
        self.once.0.tasks.spawn(async move {
            match persist(&*rest.once.0.store, &rest.held, &ask, limit).await {
                Some(driven) => drop(rest.completed(&ask, driven)),
                None => rest.given_up_on(),
            }
        });
        Finished::Pending
    }

    fn given_up_on(&self) {
        metrics::counter!("semel_records_given_up_total").increment(1);
        tracing::error!(
            key = %self.held.at.digest,
            operation = %self.held.claim.operation,
            "an outcome was given up on: the call is in doubt"
        );
    }

    /// How long trying to write in the background is worth it: as long as the claim might be
    /// renewed, and a lease at least.
    pub(super) fn worth_trying(&self) -> Duration {
        let left = self.policy.max_execution.saturating_sub(self.held.since_asked());
        left.max(self.policy.in_progress_time_to_live()) + PATIENCE
    }
}

fn is_too_much(error: &StoreError) -> bool {
    matches!(error.kind(), StoreErrorKind::Refused(Refusal::Full | Refusal::TooLarge))
}
