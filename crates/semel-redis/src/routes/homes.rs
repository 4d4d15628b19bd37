//! Following where shards are.

use std::sync::Arc;

use semel_core::Key;
use tokio::sync::{Notify, watch};

use super::map::Map;
use crate::address::Address;
use crate::shard::Shard;

/// The maps of a cluster, one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Maps {
    pub(super) maps: watch::Receiver<Arc<Map>>,
    pub(super) poke: Arc<Notify>,
}

impl Maps {
    pub(crate) fn owners(&self) -> Vec<Address> {
        let owners = self.maps.borrow().owners();
        owners.into_iter().map(|(owner, _)| owner).collect()
    }

    /// Comes back at the next change; false when there will be none.
    pub(crate) async fn changed(&mut self) -> bool {
        self.maps.changed().await.is_ok()
    }
}

/// Which keys are at a server.
#[derive(Debug, Clone)]
pub(crate) enum Homes {
    /// All: there is no other.
    All,
    /// Those that the map says.
    At(Address, Maps),
}

impl Homes {
    pub(crate) fn has(&self, key: &Key) -> bool {
        match self {
            Self::All => true,
            Self::At(me, maps) => maps.maps.borrow().owner(Shard::of(key)) == Some(me),
        }
    }

    /// Comes back when keys may have come or gone.
    pub(crate) async fn moved(&mut self) {
        match self {
            Self::All => std::future::pending().await,
            Self::At(_, maps) => {
                if !maps.changed().await {
                    std::future::pending::<()>().await;
                }
            }
        }
    }

    /// The map may be out of date.
    pub(crate) fn poke(&self) {
        if let Self::At(_, maps) = self {
            maps.poke.notify_one();
        }
    }
}
