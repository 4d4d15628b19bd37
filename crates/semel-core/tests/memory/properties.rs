//! Long random histories: the store answers as the model does, word for word.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use proptest::prelude::*;
use semel_core::{
    Expect, Key, ManualClock, MemoryStore, Next, Snapshot, Store, StoreTime, Swap, Touch, Ttl,
    Version,
};

use super::model::Model;

const START: StoreTime = StoreTime::from_micros(1_790_000_000_000_000);
const KEYS: [&str; 5] = ["a", "ab", "a%", "b", "😀"];
const PREFIXES: [&str; 6] = ["", "a", "ab", "a%", "c", "😀"];

/// What a step expects, where versions are those that the history brought so far.
#[derive(Debug, Clone)]
enum Expected {
    Absent,
    Any,
    Current,
    Seen(prop::sample::Index),
}

#[derive(Debug, Clone)]
enum Step {
    Swap(usize, Expected, Next),
    Read(usize, Touch),
    Scan(usize, Option<usize>, usize),
    Sweep(usize),
    Pass(u64),
}

/// Microseconds that meet each other: deadlines that fall on, just before and after a step.
fn micros() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..6_u64, 1 => Just(1_000_000), 1 => Just(Ttl::MAX.as_micros())]
}

fn ttl() -> impl Strategy<Value = Ttl> {
    micros().prop_map(|micros| Ttl::from_micros(micros).unwrap())
}

fn next() -> impl Strategy<Value = Next> {
    let value = prop::collection::vec(any::<u8>(), 0..9).prop_map(Bytes::from);
    prop_oneof![
        3 => (value, ttl(), ttl()).prop_map(|(value, lease, keep)| Next::Put { value, lease, keep }),
        2 => (ttl(), ttl()).prop_map(|(lease, keep)| Next::Renew { lease, keep }),
        1 => Just(Next::Delete),
    ]
}

fn expected() -> impl Strategy<Value = Expected> {
    prop_oneof![
        Just(Expected::Absent),
        Just(Expected::Any),
        Just(Expected::Current),
        any::<prop::sample::Index>().prop_map(Expected::Seen),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let key = 0..KEYS.len();
    let touch = prop_oneof![Just(Touch::No), ttl().prop_map(Touch::Lease)];
    let cursor = prop::option::of(0..KEYS.len());
    prop_oneof![
        8 => (key.clone(), expected(), next()).prop_map(|(k, e, n)| Step::Swap(k, e, n)),
        4 => (key, touch).prop_map(|(key, touch)| Step::Read(key, touch)),
        2 => (0..PREFIXES.len(), cursor, 0..7_usize).prop_map(|(p, c, l)| Step::Scan(p, c, l)),
        1 => prop_oneof![0..3_usize, Just(usize::MAX)].prop_map(Step::Sweep),
        4 => (0..6_u64).prop_map(Step::Pass),
    ]
}

fn key(number: usize) -> Key {
    Key::new(KEYS[number]).unwrap()
}

fn now<T>(work: impl Future<Output = T>) -> T {
    work.now_or_never().expect("the memory store answers at once")
}

/// The store and its model, side by side.
struct Pair {
    clock: Arc<ManualClock>,
    store: MemoryStore,
    model: Model,
    seen: Vec<Version>,
}

impl Pair {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::at(START));
        let store = MemoryStore::new(Arc::clone(&clock));
        Self { clock, store, model: Model::new(START), seen: vec![Version::new(1)] }
    }

    fn expect(&mut self, number: usize, expected: &Expected) -> Expect {
        match expected {
            Expected::Absent => Expect::Absent,
            Expected::Any => Expect::Any,
            Expected::Seen(index) => Expect::Version(*index.get(&self.seen)),
            Expected::Current => {
                let Snapshot { entry, .. } = self.model.read(&key(number), Touch::No);
                entry.map_or(Expect::Absent, |entry| Expect::Version(entry.version))
            }
        }
    }

    fn swap(&mut self, number: usize, expected: &Expected, next: Next) {
        let expect = self.expect(number, expected);
        let ours = now(self.store.swap(&key(number), expect, next.clone())).unwrap();
        assert_eq!(ours, self.model.swap(&key(number), expect, next));
        if let Swap::Won(stamp) = ours {
            assert!(!self.seen.contains(&stamp.version), "{:?} came twice", stamp.version);
            self.seen.push(stamp.version);
        }
    }

    fn scan(&self, prefix: &str, after: Option<Key>, limit: usize) {
        let ours = now(self.store.scan(prefix, after.as_ref(), limit)).unwrap();
        let due = self.model.scan(prefix, after.as_ref(), limit);
        assert_eq!((ours.now, &ours.entries), (due.now, &due.entries));
        // Whether a full page is the last may be left open; a short one must not end too soon.
        let all = self.model.scan(prefix, after.as_ref(), usize::MAX).entries.len();
        assert!(limit == 0 || ours.next.is_some() || all == ours.entries.len());
    }

    fn sweep(&mut self, limit: usize) {
        let swept = now(self.store.sweep(limit)).unwrap();
        // Puts clear away a few on the way, so that fewer may be left.
        assert!(swept <= limit && swept <= self.model.ended(), "{swept} went");
        if limit == usize::MAX {
            self.model.sweep();
            assert_eq!(self.store.used_bytes(), self.model.bytes(128), "all else is accounted for");
        }
        assert!(self.store.used_bytes() <= self.model.bytes(128));
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Swap(number, expected, next) => self.swap(number, &expected, next),
            Step::Read(number, touch) => {
                let ours = now(self.store.read(&key(number), touch)).unwrap();
                assert_eq!(ours, self.model.read(&key(number), touch));
            }
            Step::Scan(prefix, after, limit) => {
                self.scan(PREFIXES[prefix], after.map(key), limit);
            }
            Step::Sweep(limit) => self.sweep(limit),
            Step::Pass(micros) => {
                self.clock.advance(Duration::from_micros(micros));
                self.model.now = StoreTime::from_micros(self.model.now.as_micros() + micros);
            }
        }
    }
}

/// A thousand, or more where `PROPTEST_CASES` asks for more.
fn cases() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases.max(1_000), ..usual }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn the_store_answers_as_the_model_does(
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let mut pair = Pair::new();
        for step in steps {
            pair.take(step);
        }
        pair.sweep(usize::MAX);
        pair.scan("", None, usize::MAX);
    }
}
