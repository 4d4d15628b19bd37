//! A job that several machines start at once, and one of them does.
//!
//! Two processes of one machine, at the same time:
//!
//! ```text
//! $ cargo run --example daily_report -- sqlite:reports.db & cargo run --example daily_report -- sqlite:reports.db
//! report of today, under fence 1764590591042117
//! true
//! false
//! ```
//!
//! With `redis://…` or `postgres://…` (features `redis`, `postgres`) they may be on two machines.

use std::error::Error;
use std::time::Duration;

use semel::TryAcquired::Acquired;
use semel::{Fence, Locks};

/// Longer than clocks differ by which the machines start it. A machine that is late finds it done.
const LEAST: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite:reports.db".to_owned());
    let locks = Locks::new(semel::open(&url).await?);
    let done = report(&locks).await?;
    // What was released in the background is written before the process ends.
    locks.shutdown(Duration::from_secs(5)).await;
    println!("{done}");
    Ok(())
}

/// Whether this process did the report: `false` if another one does it, or did it just now.
pub(crate) async fn report(locks: &Locks) -> Result<bool, Box<dyn Error>> {
    let lock = locks.lock("report:daily").ttl(Duration::from_secs(300)).min_hold(LEAST);
    let Acquired(guard) = lock.try_acquire().await? else { return Ok(false) };
    work(guard.fence()).await;
    guard.release().await?;
    Ok(true)
}

/// What it writes goes with the fence, so that a process that was stopped in the middle and comes
/// back tomorrow can be refused.
async fn work(fence: Fence) {
    println!("report of today, under fence {fence}");
    semel::timer::sleep(Duration::from_millis(50)).await;
}
