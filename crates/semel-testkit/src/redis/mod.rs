//! Redis and Valkey servers.

mod cluster;
mod replication;
mod reply;
mod sentinel;
mod server;
mod settings;

pub use cluster::RedisCluster;
pub use reply::RedisReply;
pub use sentinel::RedisSentinel;
pub use server::RedisServer;
pub use settings::{AppendFsync, RedisServerBuilder};

#[cfg(test)]
mod tests;
