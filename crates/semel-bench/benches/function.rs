//! The function form over the memory store: a value of 1 KiB, first calls and replays.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use semel::timer::SystemClock;
use semel::{MemoryLimits, MemoryStore, Once};
use semel_bench::{Figure, median, tell};
use tokio::runtime::{Builder, Runtime};

/// So many keys in one store, before the next is made.
const BATCH: usize = 1_000;

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().expect("a runtime")
}

fn engine() -> Once {
    let limits = MemoryLimits { total_bytes: 1 << 30, ..MemoryLimits::default() };
    Once::new(Arc::new(MemoryStore::with_limits(SystemClock::new(), limits)))
}

fn value() -> String {
    "v".repeat(1_024)
}

async fn call(once: &Once, key: &str) {
    let value = once.call(key).run(async |_| Ok::<_, ()>(value())).await;
    black_box(value).expect("a value");
}

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
async fn timed(work: impl Future<Output = ()>) -> Duration {
    let started = Instant::now();
    work.await;
    started.elapsed()
}

/// First calls: each claims, runs and records.
async fn first_calls(calls: u64) -> Duration {
    let keys: Vec<_> = (0..BATCH).map(|n| format!("order-{n:08}")).collect();
    let (mut left, mut spent) = (usize::try_from(calls).expect("few enough"), Duration::ZERO);
    while left > 0 {
        let (once, batch) = (engine(), &keys[..left.min(BATCH)]);
        spent += timed(async {
            for key in batch {
                call(&once, key).await;
            }
        })
        .await;
        left -= batch.len();
    }
    spent
}

/// Replays of calls that are recorded.
async fn replays(calls: u64) -> Duration {
    let once = engine();
    let keys: Vec<_> = (0..1_000).map(|n| format!("order-{n:08}")).collect();
    for key in &keys {
        call(&once, key).await;
    }
    timed(async {
        for key in keys.iter().cycle().take(usize::try_from(calls).expect("few enough")) {
            call(&once, key).await;
        }
    })
    .await
}

fn function(criterion: &mut Criterion) {
    let runtime = runtime();
    let mut group = criterion.benchmark_group("function, memory, 1 KiB");
    group.bench_function("first call", |bencher| {
        bencher.iter_custom(|calls| runtime.block_on(first_calls(calls)));
    });
    group.bench_function("replay", |bencher| {
        bencher.iter_custom(|calls| runtime.block_on(replays(calls)));
    });
    group.finish();
    summary(&runtime);
}

fn summary(runtime: &Runtime) {
    let per_call = |measured: &dyn Fn() -> Duration| {
        median(&(0..21).map(|_| measured()).collect::<Vec<_>>()) / 10_000
    };
    let first = per_call(&|| runtime.block_on(first_calls(10_000)));
    let replay = per_call(&|| runtime.block_on(replays(10_000)));
    let micros = Duration::from_micros;
    tell("function: begin + complete", Figure::Time { got: first, at_most: micros(2) });
    tell("function: replay", Figure::Time { got: replay, at_most: micros(1) });
}

criterion_group!(benches, function);
criterion_main!(benches);
