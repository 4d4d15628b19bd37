//! The connections that calls share.

use std::sync::Arc;
use std::time::Duration;

use deadpool::managed::{Manager, Metrics, Object, Pool, PoolError, RecycleError, RecycleResult};
use semel_core::{Refusal, StoreError, StoreResult};
use tokio::time::Instant;

use crate::gate::Gate;
use crate::link::{Link, Linker};
use crate::timer;

/// A connection on loan. Dropped, it goes back.
pub(crate) type Loan = Object<Links>;

/// Makes connections for the pool.
#[derive(Debug)]
pub(crate) struct Links {
    linker: Arc<Linker>,
    gate: Gate,
}

impl Manager for Links {
    type Type = Link;
    type Error = StoreError;

    async fn create(&self) -> Result<Link, StoreError> {
        self.gate.check()?;
        let linked = self.linker.link().await;
        self.gate.note(&linked);
        linked
    }

    /// A connection comes back only after its exchange was finished, so there is nothing to
    /// clean. It may have been closed since.
    async fn recycle(&self, link: &mut Link, _: &Metrics) -> RecycleResult<StoreError> {
        if link.is_closed() { Err(RecycleError::message("it was closed")) } else { Ok(()) }
    }
}

/// The connections of a store.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pool: Pool<Links>,
    linker: Arc<Linker>,
}

impl Shared {
    pub(crate) fn new(linker: Arc<Linker>, size: usize) -> StoreResult<Self> {
        let links = Links { linker: Arc::clone(&linker), gate: Gate::default() };
        let pool = Pool::builder(links).max_size(size).build();
        let pool = pool.map_err(|error| {
            let message = "the pool of connections can't be made";
            StoreError::refused(Refusal::Unusable, message).caused_by(error)
        })?;
        Ok(Self { pool, linker })
    }

    /// A connection, before `deadline`.
    pub(crate) async fn lend(&self, deadline: Instant) -> StoreResult<Loan> {
        let limit = deadline.saturating_duration_since(timer::now());
        match timer::within(limit, self.pool.get()).await {
            Some(Ok(loan)) => Ok(loan),
            Some(Err(PoolError::Backend(error))) => Err(error),
            Some(Err(PoolError::Closed)) => {
                Err(StoreError::refused(Refusal::Unusable, "the store is closed"))
            }
            Some(Err(_)) | None => Err(self.exhausted(limit)),
        }
    }

    fn exhausted(&self, limit: Duration) -> StoreError {
        StoreError::not_applied(format!(
            "no connection to {} was free within {limit:?}: all {} are in use, or can't be made",
            self.linker.address(),
            self.pool.status().max_size
        ))
    }

    /// Cuts the connections that nobody has used for so long: for when one of them stays silent. A
    /// connection that was lent since then, and is back, was answered.
    pub(crate) fn cut_idle(&self, unused_for: Duration) {
        let idle = self.pool.retain(|_, metrics| metrics.last_used() < unused_for);
        if !idle.removed.is_empty() {
            let count = idle.removed.len();
            tracing::debug!(count, "a connection is silent: idle ones are made anew");
        }
        idle.removed.into_iter().for_each(Link::cut);
    }

    pub(crate) fn close(&self) {
        self.pool.close();
    }
}
