//! The store.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use semel_core::{
    Expect, Hint, Key, Next, Page, Preflight, Refusal, Snapshot, Store, StoreError, StoreResult,
    Swap, Touch,
};

use crate::exchange::Exchange;
use crate::hints::HintHub;
use crate::losses::Losses;
use crate::preflight::Inspector;
use crate::read::read;
use crate::routes::Routes;
use crate::scan::scan;
use crate::script::{Call, Reply};
use crate::settings::Settings;
use crate::stats::RedisStats;
use crate::trouble::{Failure, Trouble};

/// A store on Redis or Valkey: one server, a primary that Sentinels watch, or a Cluster.
///
/// A clone is a second handle to the same connections. Dropped, the last one closes them.
#[derive(Clone)]
pub struct RedisStore(Arc<Inner>);

struct Inner {
    exchange: Exchange,
    hints: HintHub,
    max_value_bytes: usize,
}

impl RedisStore {
    pub(crate) async fn connect(settings: Settings) -> StoreResult<Self> {
        Ok(Self(Arc::new(Inner::connect(&settings, false).await?)))
    }

    pub(crate) async fn examine(settings: Settings) -> StoreResult<Preflight> {
        let inner = Inner::connect(&settings, true).await?;
        Self(Arc::new(inner)).preflight().await
    }

    /// Looks the servers over anew: what the store promises as they are set up, what it does
    /// not, and what to change.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when a server can't be reached; nothing was changed.
    pub async fn preflight(&self) -> StoreResult<Preflight> {
        let exchange = self.exchange();
        let servers = exchange.routes.primaries(exchange.deadline()).await?;
        Ok(exchange.inspector.report(servers).await?)
    }

    /// What the store has met so far that is out of the ordinary.
    #[must_use]
    pub fn stats(&self) -> RedisStats {
        self.exchange().counters.stats(self.exchange().losses.count())
    }

    pub(crate) fn exchange(&self) -> &Exchange {
        &self.0.exchange
    }

    fn check_size(&self, next: &Next) -> StoreResult<()> {
        let limit = self.0.max_value_bytes;
        match next {
            Next::Put { value, .. } if value.len() > limit => Err(StoreError::refused(
                Refusal::TooLarge,
                format!("the value has {} bytes, the limit is {limit}", value.len()),
            )),
            _ => Ok(()),
        }
    }

    fn check_pause(&self, call: &Call) -> StoreResult<()> {
        if call.claims && self.exchange().losses.pauses() {
            let says = "the server lost its data: no claims until what may still run has ended";
            return Err(StoreError::not_applied(says));
        }
        Ok(())
    }
}

#[async_trait]
impl Store for RedisStore {
    async fn swap(&self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap> {
        self.check_size(&next)?;
        let call = Call::swap(self.exchange().named(key), expect, next);
        self.check_pause(&call)?;
        match self.exchange().call(&call).await? {
            Reply::Won(won) => {
                self.0.hints.notify(key);
                Ok(Swap::Won(won.stamp))
            }
            Reply::There(snapshot) => Ok(Swap::Lost(snapshot)),
            Reply::Damaged => Err(Trouble::Damaged.failure(call.doing).error()),
        }
    }

    async fn read(&self, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        read(self.exchange(), key, touch).await
    }

    fn changed(&self, key: &Key) -> Hint {
        self.0.hints.changed(key)
    }

    async fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> StoreResult<Page> {
        scan(self.exchange(), prefix, after, limit).await
    }

    /// Redis removes what has ended by itself: there is nothing to sweep, and it counts nothing.
    async fn sweep(&self, _limit: usize) -> StoreResult<usize> {
        Ok(0)
    }
}

impl Inner {
    async fn connect(settings: &Settings, admits_all: bool) -> Result<Self, Failure> {
        let losses = Arc::new(Losses::new(settings.pause_after_loss));
        let inspector = Arc::new(Inspector::new(settings, Arc::clone(&losses), admits_all));
        let routes = Routes::open(settings, &inspector).await?;
        let hints = HintHub::start(&routes, settings, &inspector)?;
        let exchange = Exchange::new(routes, settings, (inspector, losses));
        Ok(Self { exchange, hints, max_value_bytes: settings.max_value_bytes })
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("namespace", &self.exchange().inspector.names().namespace())
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
