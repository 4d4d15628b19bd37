//! The suite that every store passes, on each kind of servers that the store knows.

mod fixture;
mod shared;

/// One server, which finds its data again after a restart.
mod single {
    use semel_testkit::{AppendFsync, RedisServer};

    use crate::fixture::On;

    async fn single() -> On<RedisServer> {
        let server = RedisServer::builder().append_only(AppendFsync::Always);
        On::make(server.start().await.expect("a server"), true).await
    }

    semel_core::conformance!(single);
}

/// One server that keeps nothing: a restart forgets everything. Versions rise all the same.
mod forgetful {
    use semel_testkit::RedisServer;

    use crate::fixture::On;

    async fn forgetful() -> On<RedisServer> {
        On::make(RedisServer::start().await.expect("a server"), false).await
    }

    semel_core::conformance!(forgetful);
}

/// A Cluster of three primaries.
mod cluster {
    use semel_testkit::RedisCluster;

    use crate::fixture::On;
    use crate::shared::{self, Shared};

    async fn cluster() -> On<Shared<RedisCluster>> {
        On::make(shared::cluster().await, true).await
    }

    semel_core::conformance!(cluster);
}

/// A primary that a Sentinel names.
mod sentinel {
    use semel_testkit::RedisSentinel;

    use crate::fixture::On;
    use crate::shared::{self, Shared};

    async fn sentinel() -> On<Shared<RedisSentinel>> {
        On::make(shared::sentinel().await, true).await
    }

    semel_core::conformance!(sentinel);
}
