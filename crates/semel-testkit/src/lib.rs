//! Real servers for tests: started on free loopback ports in temporary directories, paused, killed,
//! restarted, failed over, and always cleaned up. Unpublished.
//!
//! * [`Daemon`] is a server process that can't outlive the test, not even one that is killed.
//! * [`RedisServer`], [`RedisSentinel`] and [`RedisCluster`] are Redis (or Valkey) servers.
//! * [`PostgresServer`] is a PostgreSQL server, [`PgBouncer`] a pooler in front of one.
//! * [`StorePlace`] is a store that several processes can open, of whatever kind.
//! * [`late_owners`] takes a door through the timelines of owners that come late.
//! * [`RabbitServer`] is a RabbitMQ broker.
//! * [`FaultProxy`] stands between a client and a server, and does to TCP what networks do.
//!
//! A server that is not installed is an error which says what to install; nothing skips silently.

mod account;
mod certificates;
mod daemon;
mod error;
mod late;
mod place;
mod port;
mod postgres;
mod program;
mod proxy;
mod rabbitmq;
mod redis;
mod scratch;
mod time;

pub use certificates::Certificates;
pub use daemon::Daemon;
pub use error::{TestkitError, TestkitResult};
pub use late::{End, LateDoor, Stage, Told, late_owners, late_owners_at_most_once};
pub use place::StorePlace;
pub use port::Port;
pub use postgres::{PgBouncer, PostgresBuilder, PostgresServer, postgres_program};
pub use program::Program;
pub use proxy::{Cut, Direction, FaultProxy};
pub use rabbitmq::RabbitServer;
pub use redis::{
    AppendFsync, RedisCluster, RedisReply, RedisSentinel, RedisServer, RedisServerBuilder,
};
pub use time::{eventually, pass, within};
