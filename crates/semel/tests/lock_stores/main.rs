//! Locks over SQLite, Redis and PostgreSQL: real time, real servers, several engines as several
//! processes would have them.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod backends;
mod contention;
mod counter;
mod evicted;
mod fail_over;
mod fences;
mod gates;
mod load;
mod lost;
mod lost_many;
mod suite;
mod tier;
mod worker_processes;
mod workers;

use std::sync::Arc;
use std::time::Duration;

use semel::{Locks, Owner, Store};

async fn process(url: &str, name: &str) -> Locks {
    let store: Arc<dyn Store> = semel::open(url).await.unwrap();
    Locks::with_owner(store, Owner::new(name))
}

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}
