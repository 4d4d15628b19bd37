//! Semel's embedded store: one SQLite file on a local disk, shared by the processes of one machine.
//!
//! Use it when everything that must agree runs on one machine. Several machines need a server:
//! a network file system does not do, because SQLite's locks and shared memory don't work there.
//!
//! ```no_run
//! use semel_core::{Expect, Key, Next, Store, Swap, Ttl};
//! use semel_sqlite::SqliteStore;
//!
//! # async fn show() -> Result<(), Box<dyn std::error::Error>> {
//! let store = SqliteStore::open("orders.db").await?;
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
//! * One thread writes. It takes all calls that wait, runs them in one transaction, commits once
//!   and only then answers them (group commit): the disk's slowest step is shared.
//! * A few threads read, each on its own connection, and see committed data only.
//! * Deadlines are judged by a clock that all processes of the machine share and that wall-clock
//!   jumps don't reach.
//! * Wake-ups travel directly inside a process; between processes the file is looked at, at a
//!   bounded pace and only while somebody waits.
//!
//! [`Transactional`] commits a call's record together with the rows that its work writes in the
//! same file.
//!
//! The page `docs/stores/sqlite.md` has promises, limits and costs.

mod builder;
mod clock;
mod connection;
mod failure;
mod open;
mod path;
mod preflight;
mod queue;
mod read_call;
mod reader;
mod reply;
mod row;
mod schema;
mod settings;
mod shared;
mod store;
mod transactional;
mod writer;

pub use builder::SqliteBuilder;
pub use rusqlite;
pub use shared::WriterStats;
pub use store::SqliteStore;
#[cfg(feature = "axum")]
pub use transactional::NoTx;
pub use transactional::{OwnedWork, Transactional, Tx, Work};
