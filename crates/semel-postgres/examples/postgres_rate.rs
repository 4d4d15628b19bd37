//! Claims with their outcomes per second, on a server of yours: `postgres_rate URL [CALLERS [SECONDS]]`.
//!
//! It works in the schema `semel_rate`, which is left behind.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use semel_core::{Expect, Key, Next, Store, StoreError, Swap, Ttl};
use semel_postgres::{HintSource, PostgresStore};

#[tokio::main]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(url) = arguments.next() else {
        eprintln!("usage: postgres_rate URL [CALLERS [SECONDS]]");
        return ExitCode::from(64);
    };
    let mut number = |default| arguments.next().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (callers, seconds) = (number(8), number(5));
    match measure(&url, callers, Duration::from_secs(seconds)).await {
        Ok(pairs) => {
            println!("{callers} callers: {} claims with their outcomes a second", pairs / seconds);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("postgres_rate: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure(url: &str, callers: u64, time: Duration) -> Result<u64, StoreError> {
    let builder = PostgresStore::builder(url).schema("semel_rate").hints(HintSource::Off);
    let connections = usize::try_from(callers).unwrap_or(1).clamp(1, 1_000);
    let store = builder.connections(connections).open().await?;
    let pairs = Arc::<AtomicU64>::default();
    let working = (0..callers).map(|caller| {
        let (store, pairs) = (store.clone(), Arc::clone(&pairs));
        tokio::spawn(async move { work(&store, caller, &pairs).await })
    });
    let working: Vec<_> = working.collect();
    wait(time).await;
    let counted = pairs.load(Ordering::Relaxed);
    for caller in &working {
        caller.abort();
    }
    for caller in working {
        if let Ok(Err(error)) = caller.await {
            return Err(error);
        }
    }
    Ok(counted)
}

/// Claims one key after the other, and records what came of it.
async fn work(store: &PostgresStore, caller: u64, pairs: &AtomicU64) -> Result<(), StoreError> {
    let day = Ttl::from_micros(86_400_000_000).unwrap_or(Ttl::MAX);
    let run = std::process::id();
    for number in 0_u64.. {
        let key = Key::new(format!("idem:rate:{run}:{caller}-{number}"));
        let key = key.map_err(|error| StoreError::not_applied(error.to_string()))?;
        let claim = Next::Put { value: vec![b'x'; 200].into(), lease: day, keep: day };
        let Swap::Won(stamp) = store.swap(&key, Expect::Absent, claim).await? else { continue };
        let outcome = Next::Put { value: vec![b'y'; 600].into(), lease: Ttl::ZERO, keep: day };
        if let Swap::Won(_) = store.swap(&key, Expect::Version(stamp.version), outcome).await? {
            pairs.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a measurement takes real time")]
async fn wait(time: Duration) {
    tokio::time::sleep(time).await;
}
