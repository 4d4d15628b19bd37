//! Durable calls: claim and complete, one by one and 64 at a time. What is written together is
//! forced to the disk together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use semel::{Begun, Call, Extent, Finished, Form, Once, Operation, Outcome, Policy, Scope};
use semel_bench::{Figure, median, tell};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

const AT_ONCE: u64 = 64;

struct Bench {
    runtime: Runtime,
    once: Once,
    policy: Arc<Policy>,
    next: Arc<AtomicU64>,
    _folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build();
        let runtime = runtime.expect("a runtime");
        // Not in a folder that may be in memory.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let url = format!("sqlite:{}", folder.path().join("bench.db").display());
        let store = runtime.block_on(semel::open(&url)).expect("a store");
        Self {
            runtime,
            once: Once::new(store),
            policy: Arc::default(),
            next: Arc::default(),
            _folder: folder,
        }
    }

    /// How long so many claims and records take, that many at a time.
    fn pairs(&self, pairs: u64, at_once: u64) -> Duration {
        let each = pairs.div_ceil(at_once);
        let tasks = || {
            (0..at_once).map(|_| {
                let (once, policy) = (self.once.clone(), Arc::clone(&self.policy));
                let next = Arc::clone(&self.next);
                self.runtime.spawn(async move {
                    for _ in 0..each {
                        pair(&once, &policy, next.fetch_add(1, Ordering::Relaxed)).await;
                    }
                })
            })
        };
        timed(|| {
            let tasks: Vec<_> = tasks().collect();
            self.runtime.block_on(async {
                for task in tasks {
                    task.await.expect("no panic");
                }
            });
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
fn timed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

async fn pair(once: &Once, policy: &Arc<Policy>, number: u64) {
    let operation = Operation::new("orders.create").expect("a name");
    let key = format!("order-{number:012}");
    let call = Call::new(policy, &Scope::anonymous(), &key, operation).expect("a key");
    let Begun::Fresh(mut claim) = once.begin(&call).await else { panic!("not fresh") };
    let payload = Bytes::from(vec![7; 1_024]);
    let outcome = Outcome { form: Form::Bytes, extent: Extent::Whole, payload };
    assert!(matches!(claim.record(outcome).await, Finished::Recorded));
}

fn sqlite(criterion: &mut Criterion) {
    let bench = Bench::new();
    let mut group = criterion.benchmark_group("sqlite, durable, claim + record");
    group.sample_size(10).throughput(Throughput::Elements(1));
    group.bench_function("one by one", |bencher| {
        bencher.iter_custom(|pairs| bench.pairs(pairs, 1));
    });
    group.bench_function("64 at once", |bencher| {
        bencher.iter_custom(|pairs| {
            let spent = bench.pairs(pairs, AT_ONCE);
            // As many as were asked for, not as many as were made.
            spent.mul_f64(share(pairs, pairs.div_ceil(AT_ONCE) * AT_ONCE))
        });
    });
    group.finish();
    let ratios: Vec<f64> = (0..7)
        .map(|_| {
            let one = bench.pairs(500, 1).as_secs_f64() / 500.0;
            let many = bench.pairs(6_400, AT_ONCE).as_secs_f64() / 6_400.0;
            one / many
        })
        .collect();
    let got = median(&ratios);
    tell("sqlite: 64 at once against one by one", Figure::Ratio { got, at_least: 4.0 });
}

#[expect(clippy::cast_precision_loss, reason = "far below the numbers where that begins")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

criterion_group!(benches, sqlite);
criterion_main!(benches);
