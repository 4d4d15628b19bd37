//! What a claim with its outcome costs among many records: the number of records that are kept
//! must not matter.

#[path = "postgres/pairs.rs"]
mod pairs;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use semel::core::{Expect, Next, Ttl};
use semel::{Key, Store};
use semel_bench::{Figure, median, tell};
use semel_testkit::{PostgresServer, RedisServer};
use tokio::runtime::{Builder, Runtime};

const FEW: u64 = 10_000;
const MANY: u64 = 1_000_000;
const CALLERS: usize = 8;
const FILLERS: u8 = 255;
const TURN: Duration = Duration::from_secs(3);

fn main() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let many = std::env::var("SEMEL_BENCH_RECORDS").ok().map(|number| number.parse::<u64>());
    let many = many.transpose().expect("SEMEL_BENCH_RECORDS is a number").unwrap_or(MANY);
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let file = format!("sqlite:{}", folder.path().join("records.db").display());
    let by_the_store = |store: &Arc<dyn Store>, from, to| runtime.block_on(fill(store, from, to));
    compare(&runtime, "sqlite", &file, many, by_the_store);
    let redis = runtime.block_on(RedisServer::start()).expect("a server");
    compare(&runtime, "redis", &redis.url(), many, by_the_store);
    let postgres = runtime.block_on(PostgresServer::builder().on_disk().start()).expect("a server");
    // The store would force each of them to the disk.
    compare(&runtime, "postgres", &postgres.url(), many, |_, from, to| {
        runtime.block_on(postgres.sql(&rows(from, to))).expect("rows");
    });
}

fn rows(from: u64, to: u64) -> String {
    format!(
        "INSERT INTO semel.semel_entry (key, version, lease_at, keep_at, value) \
         SELECT 'idem:bench:' || lpad(n::text, 12, '0'), n, 0, \
         ((extract(epoch FROM now()) + 86400) * 1000000)::bigint, \
         decode(repeat('72', 600), 'hex') FROM generate_series({from}, {to} - 1) AS n; \
         ANALYZE semel.semel_entry"
    )
}

fn compare(
    runtime: &Runtime,
    name: &str,
    url: &str,
    many: u64,
    fill: impl Fn(&Arc<dyn Store>, u64, u64),
) {
    let store = runtime.block_on(semel::open(url)).expect("a store");
    let rate = || {
        let turns = (0..5).map(|_| runtime.block_on(pairs::per_second(&store, CALLERS, TURN)));
        median(&turns.collect::<Vec<_>>())
    };
    fill(&store, 0, FEW);
    let among_few = rate();
    fill(&store, FEW, many);
    let among_many = rate();
    let figure = Figure::Ratio { got: among_many / among_few, at_least: 0.80 };
    tell(&format!("{name}: among {many} records / among {FEW}"), figure);
}

/// Puts records as large as those of small answers.
async fn fill(store: &Arc<dyn Store>, from: u64, to: u64) {
    let fillers: Vec<_> = (0..u64::from(FILLERS))
        .map(|filler| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                let day = Ttl::new(Duration::from_secs(86_400)).expect("a day");
                for number in (from + filler..to).step_by(usize::from(FILLERS)) {
                    let key = Key::new(format!("idem:bench:{number:012}")).expect("a key");
                    let value = Bytes::from_static(&[b'r'; 600]);
                    let put = Next::Put { value, lease: Ttl::ZERO, keep: day };
                    let swap = store.swap(&key, Expect::Any, put).await;
                    assert!(matches!(swap, Ok(semel::core::Swap::Won(_))), "{swap:?}");
                }
            })
        })
        .collect();
    for filler in fillers {
        filler.await.expect("no panic");
    }
}
