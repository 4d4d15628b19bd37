//! One observed call, from its beginning to its outcome.

use metrics::{Unit, counter, describe_counter, describe_histogram, histogram};
use tracing::{error, warn};

use crate::store::StoreResult;
use crate::store_error::{StoreError, StoreErrorKind};
use crate::time::{Clock, StoreTime};

const CALLS: &str = "semel_store_calls_total";
const DURATION: &str = "semel_store_call_duration_seconds";

pub(super) fn describe() {
    describe_counter!(CALLS, "Calls to the store, by method and outcome");
    describe_histogram!(DURATION, Unit::Seconds, "Time until the store answered");
}

pub(super) fn count(op: &'static str, outcome: &'static str) {
    counter!(CALLS, "op" => op, "outcome" => outcome).increment(1);
}

/// A call under way. Dropped before it ended, it counts as `dropped`.
pub(super) struct Call<'a> {
    op: &'static str,
    clock: &'a dyn Clock,
    began: StoreTime,
    outcome: &'static str,
}

impl<'a> Call<'a> {
    pub(super) fn begin(op: &'static str, clock: &'a dyn Clock) -> Self {
        Self { op, clock, began: clock.now(), outcome: "dropped" }
    }

    /// Takes the call's result, names its outcome and passes it on.
    pub(super) fn end<T>(
        mut self,
        result: StoreResult<T>,
        outcome: impl FnOnce(&T) -> &'static str,
    ) -> StoreResult<T> {
        self.outcome = match &result {
            Ok(value) => outcome(value),
            Err(error) => {
                log(error);
                failed(error.kind())
            }
        };
        result
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        count(self.op, self.outcome);
        let took = self.clock.now().since(self.began);
        histogram!(DURATION, "op" => self.op, "outcome" => self.outcome).record(took);
    }
}

const fn failed(kind: StoreErrorKind) -> &'static str {
    match kind {
        StoreErrorKind::NotApplied => "not_applied",
        StoreErrorKind::Unknown => "unknown",
        StoreErrorKind::Refused(_) => "refused",
        StoreErrorKind::Damaged => "damaged",
    }
}

fn log(error: &StoreError) {
    if error.kind() == StoreErrorKind::Damaged {
        error!(%error, "a damaged entry in the store");
    } else {
        warn!(%error, "a store call failed");
    }
}
