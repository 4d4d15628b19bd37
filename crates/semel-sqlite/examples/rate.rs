//! How many claims and completions a second the store makes durable, one caller after the other
//! and with 64 callers at once.
//!
//! ```text
//! cargo run --release -p semel-sqlite --example rate [DIRECTORY]
//! ```
//!
//! A pair is what an idempotent call costs: a swap that claims a fresh key and a swap that records
//! the outcome. The directory should be on the disk in question; the default is the current one.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::Bytes;
use semel_core::{Expect, Key, Next, Store, Swap, Ttl};
use semel_sqlite::SqliteStore;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// How long each way is measured.
const MEASURED: Duration = Duration::from_secs(5);
const CALLERS: [usize; 3] = [1, 8, 64];

#[tokio::main]
async fn main() -> Outcome<()> {
    let directory = std::env::args().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let mut alone = None;
    for callers in CALLERS {
        let (rate, per_commit) = measure(&directory, callers).await?;
        let ratio = rate / *alone.get_or_insert(rate);
        println!(
            "{callers:>3} callers  {rate:>8.0} pairs/s  {ratio:>5.1} x  {per_commit:>6.1} calls a commit"
        );
    }
    Ok(())
}

async fn measure(directory: &Path, callers: usize) -> Outcome<(f64, f64)> {
    let directory = tempfile::tempdir_in(directory)?;
    let store = SqliteStore::open(directory.path().join("rate.db")).await?;
    let start = now();
    let tasks: Vec<_> = (0..callers)
        .map(|caller| tokio::spawn(call(store.clone(), caller, start + MEASURED)))
        .collect();
    let mut pairs = 0_u32;
    for task in tasks {
        pairs += task.await??;
    }
    let took = now() - start;
    let stats = store.stats();
    store.close().await;
    let per_commit =
        f64::from(u32::try_from(stats.calls)?) / f64::from(u32::try_from(stats.commits)?);
    Ok((f64::from(pairs) / took.as_secs_f64(), per_commit))
}

async fn call(store: SqliteStore, caller: usize, until: Instant) -> Outcome<u32> {
    let (lease, keep) = (ttl(60)?, ttl(86_400)?);
    let (held, done) = (Bytes::from(vec![b'h'; 150]), Bytes::from(vec![b'd'; 600]));
    let mut pairs = 0;
    while now() < until {
        let key = Key::new(format!("idem:acme:alice:{caller}-{pairs}"))?;
        let claim = Next::Put { value: held.clone(), lease, keep: lease };
        let Swap::Won(stamp) = store.swap(&key, Expect::Absent, claim).await? else {
            return Err("a fresh key was taken".into());
        };
        let outcome = Next::Put { value: done.clone(), lease: Ttl::ZERO, keep };
        let Swap::Won(_) = store.swap(&key, Expect::Version(stamp.version), outcome).await? else {
            return Err("a claim was lost".into());
        };
        pairs += 1;
    }
    Ok(pairs)
}

fn ttl(seconds: u64) -> Outcome<Ttl> {
    Ok(Ttl::new(Duration::from_secs(seconds))?)
}

#[expect(clippy::disallowed_methods, reason = "this measures real time")]
fn now() -> Instant {
    Instant::now()
}
