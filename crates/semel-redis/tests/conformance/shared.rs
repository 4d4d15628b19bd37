//! Servers that take long to start, shared by all tests of a process. Each test has a namespace of
//! its own in them.

use std::sync::Arc;

use async_trait::async_trait;
use semel_testkit::{RedisCluster, RedisSentinel};
use tokio::sync::OnceCell;

use crate::fixture::Servers;

/// Servers, in the eyes of one test.
pub(crate) struct Shared<S: 'static> {
    servers: Arc<S>,
    namespace: u64,
}

impl<S> Shared<S> {
    fn of(servers: Arc<S>) -> Self {
        Self { servers, namespace: rand::random() }
    }

    fn named(&self, url: &str) -> String {
        format!("{url}?namespace=test-{:016x}", self.namespace)
    }
}

pub(crate) async fn cluster() -> Shared<RedisCluster> {
    static CLUSTER: OnceCell<Arc<RedisCluster>> = OnceCell::const_new();
    let start = || async { Arc::new(RedisCluster::start().await.expect("a cluster")) };
    Shared::of(Arc::clone(CLUSTER.get_or_init(start).await))
}

pub(crate) async fn sentinel() -> Shared<RedisSentinel> {
    static GROUP: OnceCell<Arc<RedisSentinel>> = OnceCell::const_new();
    let start = || async { Arc::new(RedisSentinel::start(1).await.expect("a Sentinel")) };
    Shared::of(Arc::clone(GROUP.get_or_init(start).await))
}

/// The servers go on when a store is closed: others use them.
#[async_trait]
impl Servers for Shared<RedisCluster> {
    fn url(&self) -> String {
        self.named(&self.servers.url())
    }

    async fn restart(&mut self) {}
}

#[async_trait]
impl Servers for Shared<RedisSentinel> {
    fn url(&self) -> String {
        self.named(&self.servers.url())
    }

    async fn restart(&mut self) {}
}
