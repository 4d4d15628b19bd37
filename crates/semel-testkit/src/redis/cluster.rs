//! A Redis Cluster: three primaries, with replicas if asked for.

use crate::error::TestkitResult;
use crate::redis::replication;
use crate::redis::reply::RedisReply;
use crate::redis::server::{LIMIT, RedisServer};
use crate::redis::settings::RedisServerBuilder;
use crate::time::eventually;

const SLOTS: u16 = 16_384;

/// How many primaries share the slots.
const PRIMARIES: usize = 3;

/// A cluster of three primaries.
#[derive(Debug)]
pub struct RedisCluster {
    /// The nodes: first the three primaries that share the slots at the start, in the order of
    /// their slots, then a replica of each, if there are any.
    pub nodes: Vec<RedisServer>,
}

impl RedisCluster {
    /// Starts three primaries that share all slots.
    ///
    /// # Errors
    ///
    /// [`TestkitError`](crate::TestkitError) when one is not installed or does not answer in time.
    pub async fn start() -> TestkitResult<Self> {
        Self::start_with(false, RedisServer::builder()).await
    }

    /// The same with settings of one's own and, if asked for, a replica for each. Nodes that listen
    /// with TLS speak it among each other too, and tell clients with TLS of those addresses.
    ///
    /// # Errors
    ///
    /// As [`RedisCluster::start`].
    pub async fn start_with(replicas: bool, setup: RedisServerBuilder) -> TestkitResult<Self> {
        let setup = setup
            .set("cluster-enabled", "yes")
            .set("cluster-node-timeout", "1000")
            .set("cluster-allow-replica-migration", "no");
        let setup = if setup.tls { setup.set("tls-cluster", "yes") } else { setup };
        let count = if replicas { PRIMARIES * 2 } else { PRIMARIES };
        let mut nodes = Vec::with_capacity(count);
        for _ in 0..count {
            nodes.push(setup.clone().start().await?);
        }
        let cluster = Self { nodes };
        cluster.share_slots().await?;
        cluster.meet().await?;
        cluster.replicate().await?;
        cluster.healthy().await?;
        Ok(cluster)
    }

    async fn share_slots(&self) -> TestkitResult<()> {
        for (place, node) in self.nodes.iter().enumerate() {
            let epoch = (place + 1).to_string();
            node.command(&["CLUSTER", "SET-CONFIG-EPOCH", &epoch]).await?;
            if place < PRIMARIES {
                let slots: Vec<String> = slots_of(place).map(|slot| slot.to_string()).collect();
                let mut command = vec!["CLUSTER", "ADDSLOTS"];
                command.extend(slots.iter().map(String::as_str));
                node.command(&command).await?;
            }
        }
        Ok(())
    }

    async fn meet(&self) -> TestkitResult<()> {
        for node in &self.nodes[1..] {
            let port = node.tls_address().unwrap_or(node.address()).port().to_string();
            self.nodes[0].command(&["CLUSTER", "MEET", "127.0.0.1", &port]).await?;
        }
        self.each_knows(&format!("cluster_known_nodes:{}", self.nodes.len())).await
    }

    async fn replicate(&self) -> TestkitResult<()> {
        for (place, replica) in self.nodes.iter().enumerate().skip(PRIMARIES) {
            let primary = self.id(place - PRIMARIES).await?;
            eventually(LIMIT, "a replica that knows its primary", || async {
                replica.command(&["CLUSTER", "REPLICATE", &primary]).await.ok()
            })
            .await?;
        }
        Ok(())
    }

    async fn each_knows(&self, line: &str) -> TestkitResult<()> {
        for node in &self.nodes {
            eventually(LIMIT, line, || async {
                let info = node.command(&["CLUSTER", "INFO"]).await.ok()?;
                info.text()?.lines().any(|it| it.trim_end() == line).then_some(())
            })
            .await?;
        }
        Ok(())
    }

    /// Waits until all nodes hold the cluster to be up, and all replicas are in step.
    ///
    /// # Errors
    ///
    /// [`TestkitError::TooLate`](crate::TestkitError::TooLate) when it does not come up.
    pub async fn healthy(&self) -> TestkitResult<()> {
        self.each_knows("cluster_state:ok").await?;
        self.in_step().await
    }

    /// Waits until each replica that there was at the start has all that its primary has written.
    ///
    /// # Errors
    ///
    /// [`TestkitError::TooLate`](crate::TestkitError::TooLate) when one doesn't catch up.
    pub async fn in_step(&self) -> TestkitResult<()> {
        for (primary, replica) in self.nodes.iter().zip(&self.nodes[PRIMARIES..]) {
            replication::in_step(primary, &[replica]).await?;
        }
        Ok(())
    }

    /// The URL of the cluster: two of its nodes are named, the rest is to be found.
    #[must_use]
    pub fn url(&self) -> String {
        let url = self.nodes[0].url();
        let user = url.split_once("//").and_then(|(_, rest)| rest.split_once('@'));
        let user = user.map(|(user, _)| format!("{user}@")).unwrap_or_default();
        format!("redis-cluster://{user}{},{}", self.nodes[0].address(), self.nodes[1].address())
    }

    /// The name of a node in the cluster.
    ///
    /// # Errors
    ///
    /// [`TestkitError`](crate::TestkitError) when it does not answer.
    pub async fn id(&self, place: usize) -> TestkitResult<String> {
        let id = self.nodes[place].command(&["CLUSTER", "MYID"]).await?;
        Ok(id.text().unwrap_or_default().to_owned())
    }

    /// The primary that had a slot at the start.
    #[must_use]
    pub fn home_of(slot: u16) -> usize {
        (0..PRIMARIES).find(|place| slots_of(*place).contains(&slot)).unwrap_or(0)
    }

    /// Begins to move a slot from one primary to another: from now on keys that are not at
    /// `from` are asked for at `to`.
    ///
    /// # Errors
    ///
    /// [`TestkitError`](crate::TestkitError) when a node refuses.
    pub async fn begin_move(&self, slot: u16, from: usize, to: usize) -> TestkitResult<()> {
        let (slot, source, target) = (slot.to_string(), self.id(from).await?, self.id(to).await?);
        self.nodes[to].command(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &source]).await?;
        self.nodes[from].command(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &target]).await?;
        Ok(())
    }

    /// Moves the keys of a slot, one at a time.
    ///
    /// # Errors
    ///
    /// [`TestkitError`](crate::TestkitError) when a node refuses.
    pub async fn move_keys(&self, slot: u16, from: usize, to: usize) -> TestkitResult<()> {
        let (number, port) = (slot.to_string(), self.nodes[to].address().port().to_string());
        loop {
            let keys =
                self.nodes[from].command(&["CLUSTER", "GETKEYSINSLOT", &number, "10"]).await?;
            let RedisReply::Many(keys) = keys else { return Ok(()) };
            if keys.is_empty() {
                return Ok(());
            }
            for key in keys.iter().filter_map(RedisReply::text) {
                let command = ["MIGRATE", "127.0.0.1", &port, key, "0", "5000"];
                self.nodes[from].command(&command).await?;
            }
        }
    }

    /// Ends the move of a slot: it now belongs to `to`, and all nodes know.
    ///
    /// # Errors
    ///
    /// [`TestkitError`](crate::TestkitError) when a node refuses.
    pub async fn end_move(&self, slot: u16, to: usize) -> TestkitResult<()> {
        let (slot, target) = (slot.to_string(), self.id(to).await?);
        self.nodes[to].command(&["CLUSTER", "SETSLOT", &slot, "NODE", &target]).await?;
        for node in &self.nodes[..PRIMARIES] {
            node.command(&["CLUSTER", "SETSLOT", &slot, "NODE", &target]).await?;
        }
        Ok(())
    }

    /// Waits until the replica of a killed primary has taken its place.
    ///
    /// # Errors
    ///
    /// [`TestkitError::TooLate`](crate::TestkitError::TooLate) when it does not.
    pub async fn promoted(&self, primary: usize) -> TestkitResult<usize> {
        let place = primary + PRIMARIES;
        eventually(LIMIT, "a replica that was promoted", || async {
            let role = self.nodes[place].info("replication", "role").await.ok()??;
            let info = self.nodes[place].command(&["CLUSTER", "INFO"]).await.ok()?;
            let up = info.text()?.contains("cluster_state:ok");
            (role == "master" && up).then_some(place)
        })
        .await
    }
}

fn slots_of(place: usize) -> std::ops::Range<u16> {
    let bound =
        |place: usize| u16::try_from(usize::from(SLOTS) * place / PRIMARIES).unwrap_or(SLOTS);
    bound(place)..bound(place + 1)
}
