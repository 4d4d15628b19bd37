//! What a store does, for metrics and traces.

mod call;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use tracing::{Instrument, debug_span};

use self::call::Call;
use crate::key::Key;
use crate::store::{Expect, Hint, Next, Page, Snapshot, Store, StoreResult, Swap, Touch};
use crate::time::Clock;

/// A store whose calls are counted, timed and traced.
///
/// | metric | labels | |
/// | --- | --- | --- |
/// | `semel_store_calls_total` | `op`, `outcome` | counter |
/// | `semel_store_call_duration_seconds` | `op`, `outcome` | histogram |
///
/// `op` is `swap`, `read`, `changed`, `scan` or `sweep`. `outcome` is `won` or `lost` for a swap,
/// `present` or `absent` for a read, `given` for a hint, `done` for scan and sweep; for errors
/// `not_applied`, `unknown`, `refused` or `damaged`; and `dropped` where the caller went away
/// before the answer came. Hints are counted, not timed.
///
/// Each call is a span `semel_store` at level debug; an error is logged in it, `damaged` as an
/// error, any other as a warning. Keys appear as digests, values and prefixes not at all, and no
/// metric has a label per key.
///
/// Durations are measured by the clock that is given: core reads none of its own.
#[derive(Clone)]
pub struct Observe<S> {
    inner: S,
    clock: Arc<dyn Clock>,
}

impl<S> Observe<S> {
    /// Observes `inner`, and times its calls by `clock`.
    pub fn new(inner: S, clock: impl Clock + 'static) -> Self {
        call::describe();
        Self { inner, clock: Arc::new(clock) }
    }

    fn call(&self, op: &'static str) -> Call<'_> {
        Call::begin(op, &*self.clock)
    }
}

impl<S: fmt::Debug> fmt::Debug for Observe<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observe").field(&self.inner).finish()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for Observe<S> {
    async fn swap(&self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap> {
        let span = debug_span!("semel_store", op = "swap", key = %key.digest(), ?expect, ?next);
        let call = self.call("swap");
        let work = async {
            let result = self.inner.swap(key, expect, next).await;
            call.end(result, |swap| match swap {
                Swap::Won(_) => "won",
                Swap::Lost(_) => "lost",
            })
        };
        work.instrument(span).await
    }

    async fn read(&self, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        let span = debug_span!("semel_store", op = "read", key = %key.digest(), ?touch);
        let call = self.call("read");
        let work = async {
            let result = self.inner.read(key, touch).await;
            let outcome = |there: &Snapshot| there.entry.as_ref().map_or("absent", |_| "present");
            call.end(result, outcome)
        };
        work.instrument(span).await
    }

    fn changed(&self, key: &Key) -> Hint {
        call::count("changed", "given");
        self.inner.changed(key)
    }

    async fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> StoreResult<Page> {
        let span = debug_span!("semel_store", op = "scan", limit);
        let call = self.call("scan");
        let work = async {
            let result = self.inner.scan(prefix, after, limit).await;
            call.end(result, |_| "done")
        };
        work.instrument(span).await
    }

    async fn sweep(&self, limit: usize) -> StoreResult<usize> {
        let span = debug_span!("semel_store", op = "sweep", limit);
        let call = self.call("sweep");
        let work = async {
            let result = self.inner.sweep(limit).await;
            call.end(result, |_| "done")
        };
        work.instrument(span).await
    }
}
