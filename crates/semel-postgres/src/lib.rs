//! Semel's store on PostgreSQL: instances on many machines share one truth.
//!
//! ```no_run
//! use semel_core::{Expect, Key, Next, Store, Swap, Ttl};
//! use semel_postgres::PostgresStore;
//!
//! # async fn show() -> Result<(), Box<dyn std::error::Error>> {
//! let url = "postgres://app:secret@db.example.com/shop?sslmode=verify-full";
//! let store = PostgresStore::open(url).await?;
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
//! * One table has a row for each key. Each call is one statement, one transaction and one round
//!   trip: a function in the schema compares and swaps under the row's lock, by the server's clock.
//! * No state is kept in a session: statements have no names, settings are the transaction's. It
//!   works behind a pooler in transaction mode.
//! * Each call runs in a task of its own. Who called may go away at any moment; the connection is
//!   handed back clean, or cut.
//! * Claims and outcomes are durable before they are acknowledged; renewals and releases do not
//!   wait for the disk.
//! * Wake-ups travel by `NOTIFY`, and only for keys that somebody waits for.
//!
//! [`Transactional`] commits a call's record together with the rows that its work writes.
//!
//! The page `docs/stores/postgres.md` has promises, limits and costs.

mod builder;
mod exchange;
mod failure;
mod gate;
mod hints;
mod link;
mod pool;
mod preflight;
mod row;
mod schema;
mod settings;
mod sql;
mod statement;
mod store;
mod target;
mod timer;
mod tls;
mod transactional;

pub use builder::PostgresBuilder;
pub use settings::{HintSource, Migrations};
#[cfg(feature = "sqlx")]
pub use sqlx;
pub use store::PostgresStore;
pub use tokio_postgres;
#[cfg(feature = "axum")]
pub use transactional::NoTx;
#[cfg(feature = "sqlx")]
pub use transactional::SqlxWork;
pub use transactional::{OwnedWork, Transactional, Tx, Work};
