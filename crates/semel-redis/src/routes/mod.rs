//! Which server a shard is at, and the connections to it.

mod cluster;
mod homes;
mod lanes;
mod map;
mod node;

use std::sync::Arc;

use crate::address::Address;
use crate::link::{Dialer, Live, Sentinels, Where, Wiring};
use crate::preflight::Inspector;
use crate::settings::Settings;
use crate::shard::Shard;
use crate::timer::Instant;
use crate::trouble::{Failure, Trouble};
use crate::url::Topology;
use cluster::Cluster;
pub(crate) use homes::{Homes, Maps};
pub(crate) use node::Node;

/// The servers of a store.
#[derive(Debug)]
pub(crate) enum Routes {
    /// One primary for everything.
    One(Arc<Node>),
    /// A primary for each slot.
    Many(Cluster),
}

impl Routes {
    /// Begins to connect, and comes back when there is a connection.
    pub(crate) async fn open(
        settings: &Settings,
        inspector: &Arc<Inspector>,
    ) -> Result<Self, Failure> {
        let wiring = Wiring::new(settings)?;
        let place = match &settings.target.topology {
            Topology::Cluster { seeds } => {
                let cluster = Cluster::open(seeds.clone(), wiring, settings, inspector).await?;
                return Ok(Self::Many(cluster));
            }
            Topology::Single(address) => Where::At(address.clone()),
            Topology::Sentinel { sentinels, service, login } => {
                let wiring = wiring.with_login(login.clone());
                Where::Named(Sentinels::new(sentinels.clone(), service, wiring))
            }
        };
        let inspector = Arc::clone(inspector);
        let dialer = Dialer { place, wiring, inspector, probe: Some(Shard::first()) };
        let node = Node::start(dialer, settings);
        node.first().await?;
        Ok(Self::One(Arc::new(node)))
    }

    /// The node that has a shard, as far as is known. Waits for one until `deadline`.
    pub(crate) async fn to(&self, shard: Shard, deadline: Instant) -> Result<Arc<Node>, Failure> {
        match self {
            Self::One(node) => Ok(Arc::clone(node)),
            Self::Many(cluster) => cluster.to(shard, deadline).await,
        }
    }

    /// The node at an address that the cluster sent us to.
    pub(crate) fn at(&self, address: &Address) -> Option<Arc<Node>> {
        match self {
            Self::One(_) => None,
            Self::Many(cluster) => Some(cluster.node(address)),
        }
    }

    /// Takes note of a trouble that tells something about where shards are.
    pub(crate) fn learn(&self, shard: Shard, trouble: &Trouble) {
        let Self::Many(cluster) = self else { return };
        match trouble {
            Trouble::Elsewhere { at, once: false } => cluster.moved(shard, at),
            Trouble::Elsewhere { once: true, .. } => {}
            Trouble::NotYet(_) => cluster.poke(),
            trouble if trouble.ends_connection() => cluster.poke(),
            _ => {}
        }
    }

    /// A connection to each primary, and a shard that it has.
    pub(crate) async fn primaries(
        &self,
        deadline: Instant,
    ) -> Result<Vec<(Live, Option<Shard>)>, Failure> {
        match self {
            Self::One(node) => Ok(vec![(node.ready(deadline).await?, Some(Shard::first()))]),
            Self::Many(cluster) => cluster.primaries(deadline).await,
        }
    }
}
