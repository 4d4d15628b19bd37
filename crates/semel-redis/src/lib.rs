//! Semel's store on Redis and Valkey: entries that many machines share.
//!
//! Use it where several machines must agree and a Redis is there already. What it promises depends
//! on how the servers are set up: [`RedisStore::preflight`] says so, and the page
//! `docs/stores/redis.md` explains it.
//!
//! ```no_run
//! use semel_core::{Expect, Key, Next, Store, Swap, Ttl};
//! use semel_redis::RedisStore;
//!
//! # async fn show() -> Result<(), Box<dyn std::error::Error>> {
//! let store = RedisStore::open("redis://127.0.0.1/").await?;
//! let minute = Ttl::new(std::time::Duration::from_secs(60))?;
//! let claim = Next::Put { value: "held".into(), lease: minute, keep: minute };
//! match store.swap(&Key::new("idem:-:-:order-1")?, Expect::Absent, claim).await? {
//!     Swap::Won(stamp) => println!("ours, version {}", stamp.version),
//!     Swap::Lost(there) => println!("somebody's: {there:?}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! * Every call is one script, called by its hash: one command, one round trip. A lost swap brings
//!   the present entry with it.
//! * Each of 2048 shards has a counter from which its versions are drawn, in the same slot as its
//!   entries: in a Cluster too, everything a script touches is in its `KEYS`.
//! * The server's clock stamps and judges, to the microsecond. Redis removes what has ended by
//!   itself, a moment later.
//! * One connection carries all calls to a server. When an answer does not come in time the outcome
//!   is unknown, nothing is sent again, and the connection is replaced.
//! * Changes are told by pub/sub on a connection of its own, only of keys that somebody waits for.
//!
//! Redis 6.2 and later, and Valkey.

mod ack;
mod address;
mod builder;
mod exchange;
mod hints;
mod link;
mod losses;
mod preflight;
mod read;
mod routes;
mod scan;
mod script;
mod settings;
mod shard;
mod stats;
mod store;
mod timer;
mod trouble;
mod url;

pub use ack::Ack;
pub use builder::RedisBuilder;
pub use preflight::Check;
pub use stats::RedisStats;
pub use store::RedisStore;
