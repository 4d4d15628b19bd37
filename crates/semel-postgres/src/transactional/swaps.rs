//! The statements of a call in its transaction, whichever library the transaction is of.

use bytes::Bytes;
use semel_core::cocommit::{Began, Call, Claimed, Nobody, Recorded, Step};
use semel_core::protocol::{Completed, Seen, Successor};
use semel_core::{
    Expect, Extent, Key, KeyDigest, Next, Outcome, Refusal, Store, StoreError, StoreErrorKind,
    StoreResult, Swap, Version,
};
use tokio_postgres::GenericClient;

use super::calls::Transactional;
use crate::failure;
use crate::row::{self, SwapIn};
use crate::statement::Statement;

/// How often a decision is taken anew because somebody else was faster.
const ROUNDS: usize = 16;

/// A connection with an open transaction.
pub(super) trait Swaps: Send {
    /// Runs a swap in it.
    fn swap(&mut self, statement: Statement) -> impl Future<Output = StoreResult<SwapIn>> + Send;
}

/// One of `tokio_postgres`.
pub(super) struct Native<'c, C>(pub(super) &'c C);

impl<C: GenericClient + Sync> Swaps for Native<'_, C> {
    async fn swap(&mut self, statement: Statement) -> StoreResult<SwapIn> {
        let rows = self.0.query_typed(statement.sql(), &statement.parameters()).await;
        row::swap_in(&rows.map_err(failure::in_transaction)?)
    }
}

impl Transactional {
    /// The claim, or why there is none.
    pub(super) async fn claim(
        &self,
        on: &mut impl Swaps,
        call: &Call,
    ) -> StoreResult<Result<Claimed, Began<Nobody>>> {
        let mut seen = Seen::presumed_free();
        for _ in 0..ROUNDS {
            let (expect, next, attempt) = match call.step(&seen) {
                Step::Swap { expect, next, attempt } => (expect, next, attempt),
                Step::Settled(began) => return Ok(Err(began)),
            };
            let statement = self.statement(call.key(), call.digest(), expect, next)?;
            match on.swap(statement).await? {
                SwapIn::Done(Swap::Won(stamp)) => {
                    return Ok(Ok(call.claimed(attempt, stamp.version)));
                }
                SwapIn::Done(Swap::Lost(there)) => seen = call.seen(&there)?,
                SwapIn::Busy => return Ok(Err(Began::Uncommitted)),
            }
        }
        Err(others_were_faster())
    }

    /// Records an outcome. One over the limit is not sent: the transaction is as it was.
    pub(super) async fn record_on(
        &self,
        on: &mut impl Swaps,
        claimed: &Claimed,
        outcome: Outcome,
    ) -> StoreResult<()> {
        let (expect, next) = claimed.outcome(outcome);
        let statement = self.statement(claimed.key(), claimed.digest(), expect, next)?;
        match on.swap(statement).await? {
            SwapIn::Done(Swap::Won(_)) => Ok(()),
            SwapIn::Done(Swap::Lost(_)) | SwapIn::Busy => {
                Err(StoreError::not_applied("the claim is not this transaction's: roll it back"))
            }
        }
    }

    /// Records an outcome, or a smaller one, or that there is one.
    pub(super) async fn record(
        &self,
        on: &mut impl Swaps,
        claimed: &Claimed,
        outcome: Outcome,
        less: Option<Outcome>,
    ) -> StoreResult<Recorded> {
        let form = outcome.form;
        let part = |payload| Outcome { form, extent: Extent::Partial, payload };
        let less = less.map(|less| (part(less.payload), Recorded::InPart));
        for (outcome, recorded) in [(outcome, Recorded::Whole)].into_iter().chain(less) {
            match self.record_on(on, claimed, outcome).await {
                Ok(()) => return Ok(recorded),
                Err(error) if error.kind() == StoreErrorKind::Refused(Refusal::TooLarge) => {}
                Err(error) => return Err(error),
            }
        }
        self.record_on(on, claimed, part(Bytes::new())).await?;
        Ok(Recorded::InPart)
    }

    /// Records what came of a call whose transaction was rolled back.
    pub(super) async fn record_alone(
        &self,
        call: &Call,
        outcome: Outcome,
    ) -> StoreResult<Completed> {
        let mut seen = Seen::presumed_free();
        for _ in 0..ROUNDS {
            let Step::Swap { expect, attempt, .. } = call.step(&seen) else {
                let successor = Successor::of(&seen, call.claim());
                return Ok(Completed::Superseded(successor));
            };
            let (_, next) = call.claimed(attempt, Version::new(0)).outcome(outcome.clone());
            match self.store.swap(call.key(), expect, next).await? {
                Swap::Won(_) => return Ok(Completed::Recorded),
                Swap::Lost(there) => seen = call.seen(&there)?,
            }
        }
        Err(others_were_faster())
    }

    fn statement(
        &self,
        key: &Key,
        digest: KeyDigest,
        expect: Expect,
        next: Next,
    ) -> StoreResult<Statement> {
        self.store.check_size(&next)?;
        let lock_ms = i32::try_from(self.wait.as_millis()).unwrap_or(i32::MAX);
        Ok(self.store.sql().swap_in(key, digest, expect, next, lock_ms))
    }
}

fn others_were_faster() -> StoreError {
    StoreError::not_applied(format!("others were faster {ROUNDS} times in a row"))
}
