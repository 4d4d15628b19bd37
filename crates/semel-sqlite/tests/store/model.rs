//! Against the reference: whatever is asked of both, both answer alike.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use semel_core::{
    Clock, Expect, Key, ManualClock, MemoryStore, Next, Store, StoreTime, Swap, Touch, Ttl, Version,
};
use semel_sqlite::SqliteStore;

use crate::support::Place;

#[derive(Debug, Clone)]
enum Step {
    Swap { key: usize, expect: Wish, next: Change },
    Read { key: usize, touch: Option<u64> },
    Scan { prefix: usize, after: Option<usize>, limit: usize },
    Pass(u64),
    Sweep(usize),
}

#[derive(Debug, Clone, Copy)]
enum Wish {
    Absent,
    Any,
    /// The version that the key had last, or another one.
    Last,
    Wrong,
}

#[derive(Debug, Clone)]
enum Change {
    Put(Vec<u8>, u64, u64),
    Renew(u64, u64),
    Delete,
}

const KEYS: [&str; 5] = ["a", "a:b", "a:é", "a\u{10FFFF}", "b%_*"];
const PREFIXES: [&str; 5] = ["", "a", "a:", "a\u{10FFFF}", "b%"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ttl = 0..40_u64;
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
        3 => (key.clone(), prop::option::of(ttl.clone()))
            .prop_map(|(key, touch)| Step::Read { key, touch }),
        1 => (0..PREFIXES.len(), prop::option::of(key), 0..4_usize)
            .prop_map(|(prefix, after, limit)| Step::Scan { prefix, after, limit }),
        3 => (0..25_u64).prop_map(Step::Pass),
        1 => (0..4_usize).prop_map(Step::Sweep),
    ];
    prop::collection::vec(step, 1..60)
}

fn key(index: usize) -> Key {
    Key::new(KEYS[index]).unwrap()
}

fn ttl(micros: u64) -> Ttl {
    Ttl::from_micros(micros).unwrap()
}

struct Both {
    reference: MemoryStore,
    store: SqliteStore,
    clock: Arc<ManualClock>,
    last: [Version; KEYS.len()],
}

/// One clock for two owners.
#[derive(Debug)]
struct Hand(Arc<ManualClock>);

impl Clock for Hand {
    fn now(&self) -> StoreTime {
        self.0.now()
    }
}

impl Both {
    async fn new(place: &Place) -> Self {
        let clock = Arc::new(ManualClock::at(StoreTime::from_micros(1_000_000)));
        let reference = MemoryStore::new(Hand(Arc::clone(&clock)));
        let builder = SqliteStore::builder(place.path()).clock(Arc::<ManualClock>::clone(&clock));
        let store = builder.open().await.unwrap();
        Self { reference, store, clock, last: [Version::new(0); KEYS.len()] }
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Swap { key: index, expect, next } => self.swap(index, expect, next).await,
            Step::Read { key: index, touch } => {
                let touch = touch.map_or(Touch::No, |lease| Touch::Lease(ttl(lease)));
                let expected = self.reference.read(&key(index), touch).await.unwrap();
                assert_eq!(self.store.read(&key(index), touch).await.unwrap(), expected);
            }
            Step::Scan { prefix, after, limit } => {
                let (prefix, after) = (PREFIXES[prefix], after.map(key));
                let expected = self.reference.scan(prefix, after.as_ref(), limit).await.unwrap();
                let found = self.store.scan(prefix, after.as_ref(), limit).await.unwrap();
                assert_eq!(found, expected);
            }
            Step::Pass(micros) => self.clock.advance(Duration::from_micros(micros)),
            // How many go is left to each: both also tidy up by themselves.
            Step::Sweep(limit) => {
                self.reference.sweep(limit).await.unwrap();
                assert!(self.store.sweep(limit).await.unwrap() <= limit);
            }
        }
    }

    async fn swap(&mut self, index: usize, wish: Wish, change: Change) {
        let expect = match wish {
            Wish::Absent => Expect::Absent,
            Wish::Any => Expect::Any,
            Wish::Last => Expect::Version(self.last[index]),
            Wish::Wrong => Expect::Version(Version::new(u64::MAX)),
        };
        let next = match change {
            Change::Put(value, lease, keep) => {
                Next::Put { value: value.into(), lease: ttl(lease), keep: ttl(keep) }
            }
            Change::Renew(lease, keep) => Next::Renew { lease: ttl(lease), keep: ttl(keep) },
            Change::Delete => Next::Delete,
        };
        let expected = self.reference.swap(&key(index), expect, next.clone()).await.unwrap();
        let swap = self.store.swap(&key(index), expect, next).await.unwrap();
        assert_eq!(swap, expected);
        if let Swap::Won(stamp) = swap {
            self.last[index] = stamp.version;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn it_answers_as_the_reference_does(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let place = Place::new();
            let mut both = Both::new(&place).await;
            for step in steps {
                both.take(step).await;
            }
            both.store.close().await;
        });
    }
}
