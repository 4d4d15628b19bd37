//! T-P: servers against the reference store. Whatever is asked of both, both answer alike, to the
//! microsecond: the reference is asked at the very moment that the server's answer names.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

#[path = "lock_stores/tier.rs"]
mod tier;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use semel::Store;
use semel::core::{
    Clock, Entry, Expect, Key, ManualClock, MemoryStore, Next, StoreTime, Swap, Touch, Ttl, Version,
};
use semel_testkit::{PostgresServer, RedisCluster, RedisServer};
use tier::Tier;

#[derive(Debug, Clone)]
enum Step {
    Swap { key: usize, expect: Wish, next: Change },
    Read { key: usize, touch: Option<u64> },
    Pass(u64),
}

#[derive(Debug, Clone, Copy)]
enum Wish {
    Absent,
    Any,
    /// The version that the key had last.
    Last,
    Wrong,
}

#[derive(Debug, Clone)]
enum Change {
    Put(Vec<u8>, u64, u64),
    Renew(u64, u64),
    Delete,
}

const KEYS: [&str; 4] = ["a", "a:b", "é%_*", "{a}"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Odd numbers of microseconds: what a server rounds shows.
    let ttl = prop_oneof![Just(0), 1..40_003_u64, 60_000_000..60_000_999_u64];
    let wish = prop_oneof![
        2 => Just(Wish::Absent), 1 => Just(Wish::Any), 3 => Just(Wish::Last), 1 => Just(Wish::Wrong)
    ];
    let change = prop_oneof![
        3 => (prop::collection::vec(any::<u8>(), 0..20), ttl.clone(), ttl.clone())
            .prop_map(|(value, lease, keep)| Change::Put(value, lease, keep)),
        2 => (ttl.clone(), ttl.clone()).prop_map(|(lease, keep)| Change::Renew(lease, keep)),
        1 => Just(Change::Delete),
    ];
    let key = 0..KEYS.len();
    let step = prop_oneof![
        6 => (key.clone(), wish, change)
            .prop_map(|(key, expect, next)| Step::Swap { key, expect, next }),
        3 => (key, prop::option::of(ttl)).prop_map(|(key, touch)| Step::Read { key, touch }),
        2 => (0..25_000_u64).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 1..40)
}

/// One clock for two owners.
#[derive(Debug)]
struct Hand(Arc<ManualClock>);

impl Clock for Hand {
    fn now(&self) -> StoreTime {
        self.0.now()
    }
}

/// What a key had last: by the server, and by the reference. Each has its own numbers.
type Versions = (Version, Version);

struct Both<'a> {
    store: &'a dyn Store,
    reference: MemoryStore,
    clock: Arc<ManualClock>,
    prefix: String,
    /// How much later the reference is asked at reads: none, but for the control.
    late: Duration,
    last: [Versions; KEYS.len()],
}

impl<'a> Both<'a> {
    async fn new(store: &'a dyn Store, case: usize, late: Duration) -> Self {
        let prefix = format!("case:{case}:");
        let now = store.read(&Key::new("clock").unwrap(), Touch::No).await.unwrap().now;
        let clock = Arc::new(ManualClock::at(now));
        let reference = MemoryStore::new(Hand(Arc::clone(&clock)));
        Self {
            store,
            reference,
            clock,
            prefix,
            late,
            last: [(Version::new(0), Version::new(0)); KEYS.len()],
        }
    }

    fn key(&self, index: usize) -> Key {
        Key::new(format!("{}{}", self.prefix, KEYS[index])).unwrap()
    }

    /// The reference's clock stands where the server's stood when it answered.
    fn it_is(&self, now: StoreTime) {
        assert!(now >= self.clock.now(), "the server's clock went back");
        self.clock.advance(now.since(self.clock.now()));
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Swap { key, expect, next } => self.swap(key, expect, next).await,
            Step::Read { key: index, touch } => {
                let key = self.key(index);
                let touch = touch.map_or(Touch::No, |lease| Touch::Lease(ttl(lease)));
                let seen = self.store.read(&key, touch).await.unwrap();
                self.it_is(seen.now);
                self.clock.advance(self.late);
                let due = self.reference.read(&key, touch).await.unwrap();
                self.assert_alike(index, seen.entry, due.entry);
            }
            Step::Pass(micros) => semel::timer::sleep(Duration::from_micros(micros)).await,
        }
    }

    async fn swap(&mut self, index: usize, wish: Wish, change: Change) {
        let key = self.key(index);
        let expect = |last| match wish {
            Wish::Absent => Expect::Absent,
            Wish::Any => Expect::Any,
            Wish::Last => Expect::Version(last),
            Wish::Wrong => Expect::Version(Version::new(u64::MAX >> 1)),
        };
        let next = match change {
            Change::Put(value, lease, keep) => {
                Next::Put { value: value.into(), lease: ttl(lease), keep: ttl(keep) }
            }
            Change::Renew(lease, keep) => Next::Renew { lease: ttl(lease), keep: ttl(keep) },
            Change::Delete => Next::Delete,
        };
        let (theirs, ours) = self.last[index];
        let swap = self.store.swap(&key, expect(theirs), next.clone()).await.unwrap();
        self.it_is(match &swap {
            Swap::Won(stamp) => stamp.now,
            Swap::Lost(there) => there.now,
        });
        let due = self.reference.swap(&key, expect(ours), next).await.unwrap();
        match (swap, due) {
            (Swap::Won(stamp), Swap::Won(due)) => {
                assert!(stamp.version > theirs, "{stamp:?} after {theirs:?}");
                self.last[index] = (stamp.version, due.version);
            }
            (Swap::Lost(there), Swap::Lost(due)) => {
                self.assert_alike(index, there.entry, due.entry);
            }
            (swap, due) => panic!("{swap:?} where {due:?} is due"),
        }
    }

    fn assert_alike(&self, index: usize, there: Option<Entry>, due: Option<Entry>) {
        let versions = there.as_ref().zip(due.as_ref()).map(|(a, b)| (a.version, b.version));
        assert!(versions.is_none_or(|both| both == self.last[index]), "{versions:?}");
        let rest = |entry: Entry| (entry.value, entry.lease_left, entry.keep_left);
        assert_eq!(there.map(rest), due.map(rest));
    }
}

fn ttl(micros: u64) -> Ttl {
    Ttl::from_micros(micros).unwrap()
}

/// What came of so many sequences that are drawn, with the shortest that shows a difference.
async fn compared(url: String, late: Duration) -> Result<(), String> {
    let store = semel::open(&url).await.unwrap();
    let runtime = tokio::runtime::Handle::current();
    let cases = Tier::now().pick(40, 200, 1_000);
    let run = move || {
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let count = AtomicUsize::new(0);
        let run = TestRunner::new(config).run(&(steps(),), |(steps,)| {
            let case = count.fetch_add(1, Ordering::Relaxed);
            runtime.block_on(async {
                let mut both = Both::new(&*store, case, late).await;
                for step in steps {
                    both.take(step).await;
                }
            });
            Ok(())
        });
        run.map_err(|found| found.to_string())
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

async fn answers_as_the_reference_does(url: String) {
    compared(url, Duration::ZERO).await.unwrap();
}

/// The control: a reference that reads a microsecond late is found out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_difference_of_a_microsecond_is_found() {
    let server = RedisServer::start().await.unwrap();
    compared(server.url(), Duration::from_micros(1)).await.unwrap_err();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proof_redis_answers_as_the_reference_does() {
    let server = RedisServer::start().await.unwrap();
    answers_as_the_reference_does(server.url()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proof_a_redis_cluster_answers_as_the_reference_does() {
    let cluster = RedisCluster::start().await.unwrap();
    answers_as_the_reference_does(cluster.url()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn proof_postgres_answers_as_the_reference_does() {
    let server = PostgresServer::launch().await.unwrap();
    answers_as_the_reference_does(server.url()).await;
}
