//! What happens when the store is full.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use semel_core::{
    Expect, Key, ManualClock, MemoryLimits, MemoryStore, Next, Refusal, Store, StoreErrorKind,
    StoreResult, StoreTime, Swap, Touch, Ttl,
};

/// What an entry costs beside its key and value.
const OVERHEAD: usize = 128;

fn store(total_bytes: usize) -> (MemoryStore, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at(StoreTime::from_micros(1_790_000_000_000_000)));
    let limits = MemoryLimits { total_bytes, value_bytes: 200_000 };
    (MemoryStore::with_limits(Arc::clone(&clock), limits), clock)
}

fn now<T>(work: impl Future<Output = T>) -> T {
    work.now_or_never().expect("the memory store answers at once")
}

fn key(number: usize) -> Key {
    Key::new(format!("key-{number:04}")).unwrap()
}

const KEY_BYTES: usize = "key-0000".len();

fn put(store: &MemoryStore, number: usize, bytes: usize, keep: Duration) -> StoreResult<Swap> {
    let keep = Ttl::new(keep).unwrap();
    let next = Next::Put { value: Bytes::from(vec![1; bytes]), lease: keep, keep };
    now(store.swap(&key(number), Expect::Any, next))
}

const DAY: Duration = Duration::from_secs(86_400);

/// Fills the store with entries until one is refused, and says how many fitted.
fn filled(store: &MemoryStore, bytes: usize) -> usize {
    for number in 0.. {
        if let Err(refused) = put(store, number, bytes, DAY) {
            assert_eq!(refused.kind(), StoreErrorKind::Refused(Refusal::Full));
            return number;
        }
    }
    unreachable!("the store has a limit")
}

fn is_there(store: &MemoryStore, number: usize) -> bool {
    now(store.read(&key(number), Touch::No)).unwrap().entry.is_some()
}

#[test]
fn f_71_a_full_store_refuses_and_evicts_nothing() {
    let (store, _) = store(100_000);
    let count = filled(&store, 100);
    assert!(count > 300, "only {count} entries fitted");
    for _ in 0..50 {
        assert!(put(&store, 9_999, 100, DAY).is_err(), "it must stay full");
    }
    assert!((0..count).all(|number| is_there(&store, number)), "no entry may be evicted");
    assert!(!is_there(&store, 9_999), "what was refused must not be there");
}

#[test]
fn what_was_let_in_can_also_be_recorded() {
    let (store, _) = store(100_000);
    let count = filled(&store, 10);
    // An eighth is kept back: claims can still be turned into longer records.
    let reserve = 100_000 / 8;
    let mut grown = 0;
    for number in 0..count {
        if put(&store, number, 1_010, DAY).is_ok() {
            grown += 1;
        }
    }
    assert!(grown >= reserve / 1_000, "{grown} records fitted into the reserve");
    assert!(store.used_bytes() <= 100_000, "{} bytes are in use", store.used_bytes());
    // Full to the last byte, what shrinks, is renewed or goes away is still let through.
    assert!(put(&store, 0, 5, DAY).is_ok());
    let renew = Next::Renew { lease: Ttl::MAX, keep: Ttl::MAX };
    assert!(matches!(now(store.swap(&key(1), Expect::Any, renew)), Ok(Swap::Won(_))));
    assert!(matches!(now(store.swap(&key(2), Expect::Any, Next::Delete)), Ok(Swap::Won(_))));
}

#[test]
fn a_refused_put_over_an_entry_leaves_it_as_it_was() {
    let (store, _) = store(3_000);
    let Ok(Swap::Won(stamp)) = put(&store, 0, 100, DAY) else { panic!("it must fit") };
    let refused = put(&store, 0, 3_500, DAY).unwrap_err();
    assert_eq!(refused.kind(), StoreErrorKind::Refused(Refusal::Full));
    let there = now(store.read(&key(0), Touch::No)).unwrap().entry.unwrap();
    assert_eq!((there.version, there.value.len()), (stamp.version, 100));
}

#[test]
fn what_has_ended_makes_room_as_much_as_it_takes() {
    let (store, clock) = store(400_000);
    // More ended entries than one round of clearing takes, each far smaller than what comes.
    let mut count = 0;
    while put(&store, count, 1, Duration::from_secs(1)).is_ok() {
        count += 1;
    }
    assert!(count > 1_000, "only {count} entries fitted");
    clock.advance(Duration::from_secs(1));
    for number in 0..3 {
        let fits = put(&store, 9_000 + number, 100_000, DAY);
        assert!(fits.is_ok(), "{number} of 3: {fits:?}");
    }
    assert!(put(&store, 9_999, 100_000, DAY).is_err(), "what has not ended makes no room");
}

#[test]
fn every_byte_is_given_back() {
    let (store, clock) = store(1_000_000);
    for number in 0..50 {
        let _ = put(&store, number, number, Duration::from_secs(1)).unwrap();
        let _ = put(&store, number, 2 * number, Duration::from_secs(1)).unwrap();
    }
    let due: usize = (0..50).map(|number| 2 * number + KEY_BYTES + OVERHEAD).sum();
    assert_eq!(store.used_bytes(), due, "each key counts once, with its last value");
    for number in 0..25 {
        let _ = now(store.swap(&key(number), Expect::Any, Next::Delete)).unwrap();
    }
    clock.advance(Duration::from_secs(1));
    assert_eq!(now(store.sweep(100)).unwrap(), 25);
    assert_eq!(store.used_bytes(), 0);
}

#[test]
fn puts_clear_ended_entries_away_without_any_sweep() {
    let (store, clock) = store(1_000_000);
    for round in 0..200 {
        for number in 0..50 {
            let _ = put(&store, round * 50 + number, 10, Duration::from_secs(1)).unwrap();
        }
        clock.advance(Duration::from_secs(1));
    }
    // 10,000 were written, 50 live at a time. Each put clears more than it adds.
    let live = 50 * (10 + KEY_BYTES + OVERHEAD);
    assert!(store.used_bytes() < 4 * live, "{} bytes are in use", store.used_bytes());
}

#[test]
fn debug_shows_how_full_it_is_and_no_key_or_value() {
    let (store, _) = store(1_000);
    let next = Next::Put { value: "SECRET".into(), lease: Ttl::MAX, keep: Ttl::MAX };
    let key = Key::new("SECRET").unwrap();
    let shown = format!("{next:?} {store:?}");
    let _ = now(store.swap(&key, Expect::Absent, next)).unwrap();
    let there = now(store.read(&key, Touch::No)).unwrap();
    let page = now(store.scan("", None, 1)).unwrap();
    let shown = format!("{shown} {store:?} {there:?} {page:?}");
    assert!(!shown.contains("SECRET"), "{shown}");
    assert!(shown.contains("used_bytes: 140"), "{shown}");
}
