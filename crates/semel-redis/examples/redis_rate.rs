//! How many claims and completions a second the store makes, beside a program that does no more
//! than send two plain `SET` by the same driver.
//!
//! ```text
//! cargo run --release -p semel-redis --example redis_rate redis://127.0.0.1/
//! ```
//!
//! A pair is what an idempotent call costs: a swap that claims a fresh key and a swap that records
//! the outcome. The server should be one that may be filled: what is written stays for a minute.

use std::error::Error;
use std::time::{Duration, Instant};

use bytes::Bytes;
use redis::aio::MultiplexedConnection;
use semel_core::{Expect, Key, Next, Store, Swap, Ttl};
use semel_redis::RedisStore;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// How long each way is measured.
const MEASURED: Duration = Duration::from_secs(4);
const CALLERS: [usize; 3] = [1, 8, 64];

/// What makes pairs.
#[derive(Clone)]
enum Maker {
    Plain(MultiplexedConnection),
    Store(RedisStore),
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let url = std::env::args().nth(1).ok_or("rate takes the URL of a server")?;
    let plain = redis::Client::open(url.as_str())?.get_multiplexed_async_connection().await?;
    let store = RedisStore::open(&url).await?;
    for callers in CALLERS {
        let floor = measure(&Maker::Plain(plain.clone()), callers).await?;
        let rate = measure(&Maker::Store(store.clone()), callers).await?;
        println!(
            "{callers:>3} callers  {rate:>8.0} pairs/s  {:>5.2} of {floor:.0} plain pairs",
            rate / floor
        );
    }
    Ok(())
}

async fn measure(maker: &Maker, callers: usize) -> Outcome<f64> {
    let start = now();
    let tasks: Vec<_> =
        (0..callers).map(|_| tokio::spawn(make(maker.clone(), start + MEASURED))).collect();
    let mut pairs = 0_u32;
    for task in tasks {
        pairs += task.await??;
    }
    Ok(f64::from(pairs) / (now() - start).as_secs_f64())
}

async fn make(maker: Maker, until: Instant) -> Outcome<u32> {
    let (held, done) = (Bytes::from(vec![b'h'; 150]), Bytes::from(vec![b'd'; 600]));
    let mut pairs = 0;
    while now() < until {
        let key = format!("idem:acme:alice:{:032x}", rand::random::<u128>());
        match &maker {
            Maker::Plain(connection) => plain(connection.clone(), &key, &held, &done).await?,
            Maker::Store(store) => swap(store, Key::new(key)?, &held, &done).await?,
        }
        pairs += 1;
    }
    Ok(pairs)
}

async fn plain(
    mut connection: MultiplexedConnection,
    key: &str,
    held: &[u8],
    done: &[u8],
) -> Outcome<()> {
    let mut claim = redis::cmd("SET");
    claim.arg(key).arg(held).arg("NX").arg("PX").arg(60_000);
    claim.exec_async(&mut connection).await?;
    redis::cmd("SET").arg(key).arg(done).arg("PX").arg(60_000).exec_async(&mut connection).await?;
    Ok(())
}

async fn swap(store: &RedisStore, key: Key, held: &Bytes, done: &Bytes) -> Outcome<()> {
    let minute = Ttl::new(Duration::from_secs(60))?;
    let claim = Next::Put { value: held.clone(), lease: minute, keep: minute };
    let Swap::Won(stamp) = store.swap(&key, Expect::Absent, claim).await? else {
        return Err("a fresh key was taken".into());
    };
    let outcome = Next::Put { value: done.clone(), lease: Ttl::ZERO, keep: minute };
    match store.swap(&key, Expect::Version(stamp.version), outcome).await? {
        Swap::Won(_) => Ok(()),
        Swap::Lost(_) => Err("a claim was lost".into()),
    }
}

#[expect(clippy::disallowed_methods, reason = "this measures real time")]
fn now() -> Instant {
    Instant::now()
}
