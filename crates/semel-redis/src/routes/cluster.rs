//! A cluster: which node has which shard is learnt, and learnt again when it changes.
//!
//! The driver's own cluster client is not used: it sends a command again when its answer was
//! lost, and a swap that was applied would then report that it lost, to itself.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use redis::cmd;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tracing::{debug, warn};

use super::homes::Maps;
use super::map::Map;
use super::node::Node;
use crate::address::Address;
use crate::link::{Backoff, Dialer, Live, Where, Wiring};
use crate::preflight::Inspector;
use crate::script::Doing;
use crate::settings::Settings;
use crate::shard::Shard;
use crate::timer::{Instant, by, now, pass};
use crate::trouble::Failure;

/// How often the map is looked at when nothing told of a change.
const PACE: Duration = Duration::from_secs(30);

/// How often a call asks for a new map while its node is down: the others may take a while to agree
/// on who takes over.
const ASK_AGAIN: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) struct Cluster {
    known: Arc<Known>,
    task: AbortHandle,
}

#[derive(Debug)]
struct Known {
    seeds: Vec<Address>,
    wiring: Wiring,
    settings: Settings,
    inspector: Arc<Inspector>,
    map: watch::Sender<Arc<Map>>,
    nodes: Mutex<HashMap<Address, Arc<Node>>>,
    changed: Arc<Notify>,
}

impl Cluster {
    pub(super) async fn open(
        seeds: Vec<Address>,
        wiring: Wiring,
        settings: &Settings,
        inspector: &Arc<Inspector>,
    ) -> Result<Self, Failure> {
        let known = Arc::new(Known {
            seeds,
            wiring,
            settings: settings.clone(),
            inspector: Arc::clone(inspector),
            map: watch::Sender::new(Arc::new(Map::unknown())),
            nodes: Mutex::default(),
            changed: Arc::default(),
        });
        known.refresh().await?;
        let task = tokio::spawn(keep_fresh(Arc::clone(&known))).abort_handle();
        let cluster = Self { known, task };
        cluster.all_up().await?;
        Ok(cluster)
    }

    /// Each primary must do, not just the first that answers.
    async fn all_up(&self) -> Result<(), Failure> {
        let map = self.known.map();
        if map.gaps() > 0 {
            return Err(Failure::not_applied("some slots of the cluster are at no node"));
        }
        for (owner, shard) in map.owners() {
            self.known.node(&owner, Some(shard)).first().await?;
        }
        Ok(())
    }

    pub(super) async fn to(&self, shard: Shard, deadline: Instant) -> Result<Arc<Node>, Failure> {
        let mut maps = self.known.map.subscribe();
        loop {
            let owner = maps.borrow_and_update().owner(shard).cloned();
            let Some(owner) = owner else {
                self.poke();
                match by(deadline, maps.changed()).await {
                    Some(Ok(())) => continue,
                    _ => return Err(Failure::not_applied("the slot is at no node")),
                }
            };
            let node = self.known.node(&owner, Some(shard));
            if node.is_up() {
                return Ok(node);
            }
            // It may be gone for good: then another takes its place on the map.
            self.poke();
            tokio::select! {
                ready = node.ready(deadline) => return ready.map(|_| node.clone()),
                _ = maps.changed() => {}
                () = pass(ASK_AGAIN) => {}
            }
        }
    }

    /// The node at an address, whatever the map says.
    pub(super) fn node(&self, address: &Address) -> Arc<Node> {
        self.known.node(address, None)
    }

    /// A node said where the shard is.
    pub(super) fn moved(&self, shard: Shard, to: &Address) {
        self.known.map.send_modify(|map| Arc::make_mut(map).set(shard, to.clone()));
        self.poke();
    }

    /// Something may have changed.
    pub(super) fn poke(&self) {
        self.known.changed.notify_one();
    }

    pub(super) async fn primaries(
        &self,
        deadline: Instant,
    ) -> Result<Vec<(Live, Option<Shard>)>, Failure> {
        let mut primaries = Vec::new();
        for (_, shard) in self.known.map().owners() {
            let node = self.to(shard, deadline).await?;
            primaries.push((node.ready(deadline).await?, Some(shard)));
        }
        Ok(primaries)
    }

    /// Where the shard is, for those who follow changes of the map.
    pub(crate) fn maps(&self) -> Maps {
        Maps { maps: self.known.map.subscribe(), poke: Arc::clone(&self.known.changed) }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Known {
    fn map(&self) -> Arc<Map> {
        Arc::clone(&self.map.borrow())
    }

    fn node(&self, address: &Address, probe: Option<Shard>) -> Arc<Node> {
        let mut nodes = self.nodes.lock();
        let start = || {
            let dialer = Dialer {
                place: Where::At(address.clone()),
                wiring: self.wiring.clone(),
                inspector: Arc::clone(&self.inspector),
                probe,
            };
            Arc::new(Node::start(dialer, &self.settings))
        };
        Arc::clone(nodes.entry(address.clone()).or_insert_with(start))
    }

    /// Asks the nodes that are known, and then those the URL names, for the map.
    async fn refresh(&self) -> Result<(), Failure> {
        let mut last = Failure::not_applied("no node of the cluster could be reached");
        let known = self.map().owners().into_iter().map(|(owner, _)| owner);
        for address in known.chain(self.seeds.iter().cloned()) {
            match self.ask(&address).await {
                Ok(map) => {
                    self.take(map);
                    return Ok(());
                }
                Err(failure) => last = failure,
            }
        }
        Err(last)
    }

    async fn ask(&self, address: &Address) -> Result<Map, Failure> {
        // A connection of its own: that of the node may be waiting for the node.
        let live = self.wiring.connect(address, |_| {}).await?;
        let answer = live.ask(cmd("CLUSTER").arg("SLOTS")).await;
        let answer = answer.map_err(|trouble| trouble.failure(Doing::Read).at(address))?;
        let map = Map::from_slots(answer, address);
        map.ok_or_else(|| Failure::unusable("the server is not part of a cluster").at(address))
    }

    fn take(&self, map: Map) {
        let owners = map.owners();
        self.nodes.lock().retain(|address, _| owners.iter().any(|(owner, _)| owner == address));
        self.map.send_if_modified(|present| {
            let differs = **present != map;
            if differs {
                debug!(primaries = owners.len(), "the cluster's slots have moved");
                *present = Arc::new(map);
            }
            differs
        });
    }
}

/// After as much quiet, attempts begin anew.
const QUIET: Duration = Duration::from_secs(5);

async fn keep_fresh(known: Arc<Known>) {
    let mut backoff = Backoff::default();
    loop {
        let waiting = now();
        // A tick of the clock and somebody's asking are the same.
        let _ = by(waiting + PACE, known.changed.notified()).await;
        if now() >= waiting + QUIET {
            backoff.reset();
        }
        if let Err(failure) = known.refresh().await {
            warn!(error = %failure.says, "the cluster's slots can't be learnt");
        }
        // However many ask: no more often than this.
        pass(backoff.next()).await;
    }
}
