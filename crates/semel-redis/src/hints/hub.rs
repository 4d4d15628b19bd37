//! All listeners of a store.

use std::collections::HashMap;
use std::sync::Arc;

use semel_core::{Hint, Hints, Key};
use tokio::task::{AbortHandle, JoinSet};

use super::ear::Ear;
use super::wanted::Wanted;
use crate::address::Address;
use crate::link::{Dialer, Where, Wiring};
use crate::preflight::Inspector;
use crate::routes::{Homes, Maps, Routes};
use crate::settings::Settings;
use crate::trouble::Failure;

/// Gives hints, and has listeners for as long as somebody waits. Dropped, they end.
#[derive(Debug)]
pub(crate) struct HintHub {
    hints: Hints,
    wanted: Arc<Wanted>,
    task: AbortHandle,
}

impl HintHub {
    pub(crate) fn start(
        routes: &Routes,
        settings: &Settings,
        inspector: &Arc<Inspector>,
    ) -> Result<Self, Failure> {
        let (hints, wanted) = (Hints::new(), Arc::new(Wanted::new()));
        let ear = |dialer, homes| {
            let (wanted, hints) = (Arc::clone(&wanted), hints.clone());
            Ear { dialer, homes, wanted, hints }
        };
        let task = match routes {
            Routes::One(node) => tokio::spawn(ear(node.dialer().clone(), Homes::All).listen()),
            Routes::Many(cluster) => {
                let wiring = Wiring::new(settings)?;
                let place = Where::At(Address::new("", 0));
                let inspector = Arc::clone(inspector);
                let dialer = Dialer { place, wiring, inspector, probe: None };
                tokio::spawn(listen_to_all(ear(dialer, Homes::All), cluster.maps()))
            }
        };
        Ok(Self { hints, wanted, task: task.abort_handle() })
    }

    /// A hint for the next change of a key.
    pub(crate) fn changed(&self, key: &Key) -> Hint {
        let hint = self.hints.wait(key);
        let waiting = self.wanted.enter(key);
        Hint::new(async move {
            hint.await;
            drop(waiting);
        })
    }

    /// A change that this store itself has made.
    pub(crate) fn notify(&self, key: &Key) {
        self.hints.notify(key);
    }
}

impl Drop for HintHub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Keeps a listener at each primary of a cluster.
async fn listen_to_all(ear: Ear, mut maps: Maps) {
    // Dropped, the set ends all that is in it.
    let mut tasks = JoinSet::new();
    let mut ears: HashMap<Address, AbortHandle> = HashMap::new();
    loop {
        let owners = maps.owners();
        ears.retain(|address, ear| {
            let stays = owners.contains(address);
            if !stays {
                ear.abort();
            }
            stays
        });
        for owner in owners {
            ears.entry(owner.clone()).or_insert_with(|| {
                let dialer = Dialer { place: Where::At(owner.clone()), ..ear.dialer.clone() };
                let homes = Homes::At(owner, maps.clone());
                tasks.spawn(Ear { dialer, homes, ..ear.clone() }.listen())
            });
        }
        while tasks.try_join_next().is_some() {}
        if !maps.changed().await {
            return;
        }
    }
}
