//! A primary, its replicas, and a Sentinel that watches over them.

use crate::error::{TestkitError, TestkitResult};
use crate::proxy::FaultProxy;
use crate::redis::replication;
use crate::redis::reply::RedisReply;
use crate::redis::server::{LIMIT, RedisServer};
use crate::redis::settings::RedisServerBuilder;
use crate::time::eventually;

/// What the Sentinel calls the group.
const SERVICE: &str = "semel-test";

/// A primary and replicas with a Sentinel that fails over by itself within about a second.
#[derive(Debug)]
pub struct RedisSentinel {
    /// The servers. Which of them is the primary changes: see [`RedisSentinel::primary`].
    pub nodes: Vec<RedisServer>,
    /// The Sentinel.
    pub sentinel: RedisServer,
    /// What stands between the first primary and each replica, in the order of the replicas: to
    /// keep writes from them, [`FaultProxy::hold`] back what goes to the client. After a fail-over
    /// replicas follow the new primary directly.
    pub links: Vec<FaultProxy>,
}

impl RedisSentinel {
    /// Starts a primary with this many replicas, all set up alike, and waits until they are in
    /// step.
    ///
    /// # Errors
    ///
    /// [`TestkitError`] when one is not installed or does not answer in time.
    pub async fn start(replicas: usize) -> TestkitResult<Self> {
        Self::start_with(replicas, RedisServer::builder()).await
    }

    /// The same, with settings of one's own for all servers.
    ///
    /// # Errors
    ///
    /// As [`RedisSentinel::start`].
    pub async fn start_with(replicas: usize, setup: RedisServerBuilder) -> TestkitResult<Self> {
        let mut nodes = vec![setup.clone().start().await?];
        let port = nodes[0].address().port();
        let mut links = Vec::with_capacity(replicas);
        for _ in 0..replicas {
            let link = FaultProxy::start(nodes[0].address()).await?;
            let primary = format!("127.0.0.1 {}", link.address().port());
            nodes.push(setup.clone().set("replicaof", primary).start().await?);
            links.push(link);
        }
        let sentinel = sentinel_for(port, setup.password.as_deref()).start().await?;
        let group = Self { nodes, sentinel, links };
        group.in_step(0).await?;
        group.known(replicas).await?;
        Ok(group)
    }

    /// The URL by which a client finds the primary.
    #[must_use]
    pub fn url(&self) -> String {
        let password = self.nodes[0].url();
        let user = password.split_once("//").and_then(|(_, rest)| rest.split_once('@'));
        let user = user.map(|(user, _)| format!("{user}@")).unwrap_or_default();
        format!("redis-sentinel://{user}{}/{SERVICE}", self.sentinel.address())
    }

    /// The place in [`RedisSentinel::nodes`] of the one the Sentinel holds to be the primary.
    ///
    /// # Errors
    ///
    /// [`TestkitError`] when the Sentinel does not answer.
    pub async fn primary(&self) -> TestkitResult<usize> {
        let port = self.primary_port().await?;
        let place = self.nodes.iter().position(|node| node.address().port() == port);
        place.ok_or_else(|| TestkitError::Answer {
            command: "SENTINEL GET-MASTER-ADDR-BY-NAME".to_owned(),
            answer: format!("a port that is nobody's: {port}"),
        })
    }

    async fn primary_port(&self) -> TestkitResult<u16> {
        let asked = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE];
        let RedisReply::Many(parts) = self.sentinel.command(&asked).await? else { return Ok(0) };
        let port = parts.get(1).and_then(RedisReply::text).and_then(|port| port.parse().ok());
        Ok(port.unwrap_or(0))
    }

    /// Waits until a node other than `old` is the primary, and gives its place.
    ///
    /// # Errors
    ///
    /// [`TestkitError::TooLate`] when there is none.
    pub async fn promoted(&self, old: usize) -> TestkitResult<usize> {
        eventually(LIMIT, "a new primary", || async {
            let place = self.primary().await.ok().filter(|place| *place != old)?;
            let role = self.nodes[place].info("replication", "role").await.ok()??;
            (role == "master").then_some(place)
        })
        .await
    }

    /// Waits until every other server follows the primary `place` and has all that it has written.
    ///
    /// # Errors
    ///
    /// [`TestkitError::TooLate`] when they don't catch up.
    pub async fn in_step(&self, place: usize) -> TestkitResult<()> {
        let primary = &self.nodes[place];
        let others = self.nodes.iter().filter(|node| node.address() != primary.address());
        replication::in_step(primary, &others.collect::<Vec<_>>()).await
    }

    /// Waits until the Sentinel knows the replicas: before that it can't promote one.
    async fn known(&self, replicas: usize) -> TestkitResult<()> {
        eventually(LIMIT, "a Sentinel that knows the replicas", || async {
            let masters = self.sentinel.info("sentinel", "master0").await.ok()??;
            masters.contains(&format!("slaves={replicas}")).then_some(())
        })
        .await
    }

    /// Asks the Sentinel to fail over in an orderly way, and gives the new primary's place.
    ///
    /// # Errors
    ///
    /// [`TestkitError`] when it refuses or nothing comes of it.
    pub async fn fail_over(&self) -> TestkitResult<usize> {
        let old = self.primary().await?;
        // It may not have looked at the replicas yet.
        eventually(LIMIT, "a fail-over that begins", || async {
            self.sentinel.command(&["SENTINEL", "FAILOVER", SERVICE]).await.ok()
        })
        .await?;
        self.promoted(old).await
    }
}

/// How long the Sentinel waits before it holds a silent primary to be down.
const DOWN_AFTER_MS: u64 = 500;

fn sentinel_for(port: u16, password: Option<&str>) -> RedisServerBuilder {
    let service = format!("{SERVICE} 127.0.0.1 {port} 1");
    let setup = RedisServer::builder()
        .sentinel()
        .set("sentinel monitor", service)
        .set("sentinel down-after-milliseconds", format!("{SERVICE} {DOWN_AFTER_MS}"))
        // It is also after how long a replica that follows another address is put right.
        .set("sentinel failover-timeout", format!("{SERVICE} 60000"))
        .set("sentinel parallel-syncs", format!("{SERVICE} 1"));
    match password {
        Some(password) => setup.set("sentinel auth-pass", format!("{SERVICE} {password}")),
        None => setup,
    }
}
