//! A store that fails on demand, for tests of everything above it.

mod action;
mod gate;
mod plan;
mod spoil;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;

pub use self::action::{FaultAction, FaultCall, StoreOp};
pub use self::gate::Gate;
use self::plan::Plan;
use crate::key::Key;
use crate::store::{Expect, Hint, Next, Page, Snapshot, Store, StoreResult, Swap, Touch};
use crate::store_error::{Refusal, StoreError};

/// A store that fails, stalls or lies where a test says so, and counts its calls.
///
/// Each call takes the next action that was put up for its method with [`Fault::next`]; where
/// none is left, the plan given to [`Fault::with_plan`] decides; without one the call passes.
/// Calls are counted before anything else, so [`Fault::calls`] is the number of round trips that
/// were asked for.
///
/// An action that has no meaning for a method ([`FaultAction::Corrupt`] for a sweep, say) makes
/// the call `Refused(Unusable)` with a message that says so: a test can't miss that its fault
/// never struck. See [`Fault::left`] for those that no call has taken.
///
/// ```
/// # use semel_core::*;
/// # fn faulty(inner: MemoryStore) -> Fault<MemoryStore> {
/// let store = Fault::new(inner);
/// // The next swap is applied, but its reply is lost.
/// store.next(StoreOp::Swap, FaultAction::FailAfter(StoreErrorKind::Unknown));
/// # store
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Fault<S> {
    inner: S,
    plan: Arc<Plan>,
}

impl<S> Fault<S> {
    /// Passes everything on, but for what [`Fault::next`] puts up.
    pub fn new(inner: S) -> Self {
        Self::with_plan(inner, |_| FaultAction::Pass)
    }

    /// Asks `plan` about each call.
    pub fn with_plan(
        inner: S,
        plan: impl Fn(&FaultCall<'_>) -> FaultAction + Send + Sync + 'static,
    ) -> Self {
        Self { inner, plan: Arc::new(Plan::new(Box::new(plan))) }
    }

    /// Puts up an action for one call of `op`: the next that none is put up for yet.
    pub fn next(&self, op: StoreOp, action: FaultAction) {
        self.plan.put_up(op, action);
    }

    /// How many calls of `op` there were.
    #[must_use]
    pub fn calls(&self, op: StoreOp) -> u64 {
        self.plan.calls(op)
    }

    /// How many actions put up for `op` no call has taken yet.
    #[must_use]
    pub fn left(&self, op: StoreOp) -> usize {
        self.plan.left(op)
    }

    /// The store beneath.
    pub const fn inner(&self) -> &S {
        &self.inner
    }
}

/// Does what an action says about when the call runs and whether its reply arrives.
async fn perform<T>(
    action: &FaultAction,
    call: impl Future<Output = StoreResult<T>>,
) -> StoreResult<T> {
    match action {
        FaultAction::FailBefore(kind) => {
            Err(StoreError::of(*kind, "an injected fault, before the call"))
        }
        FaultAction::FailAfter(kind) => {
            // Whatever the reply was, it is lost.
            let _ = call.await;
            Err(StoreError::of(*kind, "an injected fault, after the call"))
        }
        FaultAction::HoldBefore(gate) => {
            gate.pass().await;
            call.await
        }
        FaultAction::HoldAfter(gate) => {
            let reply = call.await;
            gate.pass().await;
            reply
        }
        FaultAction::Pass | FaultAction::Crossed(_) | FaultAction::Corrupt { .. } => call.await,
        FaultAction::LoseHint | FaultAction::FalseHint => Err(meaningless(action)),
    }
}

fn meaningless(action: &FaultAction) -> StoreError {
    let message = format!("the injected fault {action:?} has no meaning for this method");
    StoreError::refused(Refusal::Unusable, message)
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for Fault<S> {
    async fn swap(&self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap> {
        let action = self.plan.decide(StoreOp::Swap, Some(key));
        let swap = perform(&action, self.inner.swap(key, expect, next)).await?;
        match (swap, action) {
            (_, FaultAction::Crossed(other)) => {
                Ok(Swap::Lost(self.inner.read(&other, Touch::No).await?))
            }
            (Swap::Lost(there), FaultAction::Corrupt { at }) => {
                Ok(Swap::Lost(spoil::snapshot(there, at)))
            }
            (swap, _) => Ok(swap),
        }
    }

    async fn read(&self, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        let action = self.plan.decide(StoreOp::Read, Some(key));
        let there = perform(&action, self.inner.read(key, touch)).await?;
        match action {
            FaultAction::Crossed(other) => self.inner.read(&other, Touch::No).await,
            FaultAction::Corrupt { at } => Ok(spoil::snapshot(there, at)),
            _ => Ok(there),
        }
    }

    fn changed(&self, key: &Key) -> Hint {
        let action = self.plan.decide(StoreOp::Changed, Some(key));
        match action {
            FaultAction::LoseHint | FaultAction::FailBefore(_) | FaultAction::FailAfter(_) => {
                Hint::never()
            }
            FaultAction::FalseHint => Hint::new(std::future::ready(())),
            FaultAction::Crossed(other) => self.inner.changed(&other),
            FaultAction::HoldBefore(gate) | FaultAction::HoldAfter(gate) => {
                let hint = self.inner.changed(key);
                Hint::new(async move {
                    hint.await;
                    gate.pass().await;
                })
            }
            FaultAction::Pass | FaultAction::Corrupt { .. } => self.inner.changed(key),
        }
    }

    async fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> StoreResult<Page> {
        let action = self.plan.decide(StoreOp::Scan, None);
        let page = perform(&action, self.inner.scan(prefix, after, limit)).await?;
        match action {
            FaultAction::Crossed(_) => Err(meaningless(&action)),
            FaultAction::Corrupt { at } => Ok(spoil::page(page, at)),
            _ => Ok(page),
        }
    }

    async fn sweep(&self, limit: usize) -> StoreResult<usize> {
        let action = self.plan.decide(StoreOp::Sweep, None);
        if matches!(action, FaultAction::Crossed(_) | FaultAction::Corrupt { .. }) {
            return Err(meaningless(&action));
        }
        perform(&action, self.inner.sweep(limit)).await
    }
}
