//! Finding whom to connect to, connecting, and looking whether it will do.

use std::sync::Arc;
use std::time::Duration;

use redis::{PushInfo, Value, cmd};

use super::wire::{Live, Wiring};
use crate::address::Address;
use crate::preflight::Inspector;
use crate::shard::Shard;
use crate::timer::{by, now};
use crate::trouble::Failure;

/// How often a primary is asked for its replicas, where all of them must acknowledge.
const REPLICAS_PACE: Duration = Duration::from_secs(5);

/// Whom to connect to.
#[derive(Debug, Clone)]
pub(crate) enum Where {
    /// This one.
    At(Address),
    /// Whoever these Sentinels hold to be the primary of the service.
    Sentinels { sentinels: Vec<Address>, service: String, wiring: Box<Wiring> },
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
        let address = self.find().await?;
        let live = self.wiring.connect(&address, |_| {}).await?;
        let fits = self.inspector.admit(&live, self.probe).await;
        fits.map_err(|failure| failure.at(&address))?;
        Ok(live)
    }

    /// A connection without a look at the server, for what is of no consequence. Pushed messages
    /// go to `pushed`.
    pub(crate) async fn connect(
        &self,
        pushed: impl Fn(PushInfo) + Send + Sync + 'static,
    ) -> Result<Live, Failure> {
        self.wiring.connect(&self.find().await?, pushed).await
    }

    /// Comes back when the connection has ended; meanwhile keeps count of the replicas.
    pub(crate) async fn attend(&self, live: &Live) {
        if !self.inspector.counts_replicas() {
            return live.end().await;
        }
        while by(now() + REPLICAS_PACE, live.end()).await.is_none() {
            self.inspector.count_replicas(live).await;
        }
    }

    async fn find(&self) -> Result<Address, Failure> {
        match &self.place {
            Where::At(address) => Ok(address.clone()),
            Where::Sentinels { sentinels, service, wiring } => {
                let mut last = Failure::not_applied("there is no Sentinel");
                for sentinel in sentinels {
                    match ask_sentinel(sentinel, service, wiring).await {
                        Ok(address) => return Ok(address),
                        Err(failure) => last = failure,
                    }
                }
                Err(last)
            }
        }
    }
}

async fn ask_sentinel(
    sentinel: &Address,
    service: &str,
    wiring: &Wiring,
) -> Result<Address, Failure> {
    let live = wiring.connect(sentinel, |_| {}).await?;
    let mut command = cmd("SENTINEL");
    command.arg("GET-MASTER-ADDR-BY-NAME").arg(service);
    let answer = live
        .ask(&command)
        .await
        .map_err(|trouble| trouble.failure(crate::script::Doing::Read).at(sentinel))?;
    let unknown = || Failure::not_applied("the Sentinel does not know the service").at(sentinel);
    let Value::Array(parts) = answer else { return Err(unknown()) };
    let text = |place: usize| match parts.get(place) {
        Some(Value::BulkString(bytes)) => String::from_utf8(bytes.clone()).ok(),
        _ => None,
    };
    let port = text(1).and_then(|port| port.parse().ok());
    Ok(Address::new(text(0).ok_or_else(unknown)?, port.ok_or_else(unknown)?))
}
