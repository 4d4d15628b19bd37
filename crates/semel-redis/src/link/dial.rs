//! Finding whom to connect to, connecting, and looking whether it will do.

use std::sync::Arc;
use std::time::Duration;

use redis::PushInfo;

use super::sentinels::Sentinels;
use super::wire::{Live, Wiring};
use crate::address::Address;
use crate::preflight::Inspector;
use crate::shard::Shard;
use crate::timer::pass;
use crate::trouble::Failure;

/// How often a primary is asked for its replicas, where all of them must acknowledge.
const REPLICAS_PACE: Duration = Duration::from_secs(5);

/// Whom to connect to.
#[derive(Debug, Clone)]
pub(crate) enum Where {
    /// This one.
    At(Address),
    /// Whoever Sentinels hold to be the primary.
    Named(Sentinels),
}

/// All that is needed to make a connection.
#[derive(Debug, Clone)]
pub(crate) struct Dialer {
    pub(crate) place: Where,
    pub(crate) wiring: Wiring,
    pub(crate) inspector: Arc<Inspector>,
    /// A shard that the server has: scripts are tried in it. None: they are not tried, because
    /// another connection to the server does so.
    pub(crate) probe: Option<Shard>,
}

impl Dialer {
    pub(crate) async fn dial(&self) -> Result<Live, Failure> {
        let live = self.connect(|_| {}).await?;
        let fits = self.inspector.admit(&live, self.probe).await;
        fits.map_err(|failure| failure.at(&live.address))?;
        Ok(live)
    }

    /// A connection without a look at the server, for what is of no consequence. Pushed messages
    /// go to `pushed`.
    pub(crate) async fn connect(
        &self,
        pushed: impl Fn(PushInfo) + Send + Sync + 'static,
    ) -> Result<Live, Failure> {
        let address = match &self.place {
            Where::At(address) => address.clone(),
            Where::Named(sentinels) => sentinels.primary().await?,
        };
        self.wiring.connect(&address, pushed).await
    }

    /// Comes back when the connection has ended, or has to because another server is the primary
    /// now. Keeps count of the replicas meanwhile.
    pub(crate) async fn attend(&self, live: &Live) {
        tokio::select! {
            () = live.end() => {}
            () = self.other_primary(live) => live.give_up(),
            () = self.count_replicas(live) => {}
        }
    }

    async fn other_primary(&self, live: &Live) {
        match &self.place {
            Where::At(_) => std::future::pending().await,
            Where::Named(sentinels) => sentinels.other_than(&live.address).await,
        }
    }

    async fn count_replicas(&self, live: &Live) {
        if !self.inspector.counts_replicas() {
            return std::future::pending().await;
        }
        loop {
            pass(REPLICAS_PACE).await;
            self.inspector.count_replicas(live).await;
        }
    }
}
