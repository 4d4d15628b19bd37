//! No room: on a file with a bound, and on a disk that takes no more.

use bytes::Bytes;
use semel_core::{Expect, Next, Store, StoreError, StoreErrorKind, Swap, Touch, Ttl};
use semel_sqlite::SqliteStore;

use crate::child::{Other, say};
use crate::support::{FULL, Place, UNUSABLE, assert_error, key, put, secs, version, won};

const VALUE: usize = 1_500;

async fn add(store: &SqliteStore, name: impl std::fmt::Display) -> Result<Swap, StoreError> {
    store.swap(&key(name), Expect::Absent, put(vec![7; VALUE])).await
}

/// A store that took as many entries as it would, and how many.
async fn filled(place: &Place) -> (SqliteStore, usize) {
    let store = SqliteStore::builder(place.path()).max_file_bytes(1 << 20).open().await.unwrap();
    for count in 0.. {
        match add(&store, count).await {
            Ok(swap) => drop(won(Ok(swap))),
            Err(error) => {
                assert_error(&error, FULL);
                return (store, count);
            }
        }
    }
    unreachable!("a file of 1 MiB holds no end of entries");
}

/// F-84: what was let in can be completed, though nothing new is let in any more.
#[tokio::test]
async fn a_full_store_refuses_new_entries_and_serves_those_it_has() {
    let place = Place::new();
    let (store, count) = filled(&place).await;
    assert!((300..500).contains(&count), "{count} entries");
    for existing in 0..count / 10 {
        // Half as large again as it was.
        let next = put(vec![8; VALUE * 3 / 2]);
        won(store.swap(&key(existing), Expect::Any, next).await);
        won(store
            .swap(&key(existing), Expect::Any, Next::Renew { lease: secs(60), keep: secs(60) })
            .await);
        store.read(&key(existing), Touch::Lease(secs(30))).await.unwrap();
    }
    assert_error(&add(&store, "new").await.unwrap_err(), FULL);
    for existing in 0..count {
        assert!(version(&store, existing).await.is_some(), "it never evicts");
    }
    store.close().await;
    let size = std::fs::metadata(place.path()).unwrap().len();
    assert!(size <= 1 << 20, "the file has {size} bytes");
}

#[tokio::test]
async fn a_full_store_takes_new_entries_for_those_that_go() {
    let place = Place::new();
    let (store, count) = filled(&place).await;
    for gone in 0..count / 2 {
        won(store.swap(&key(gone), Expect::Any, Next::Delete).await);
    }
    for new in 0..count / 3 {
        won(add(&store, format!("new-{new}")).await);
    }
}

#[tokio::test]
async fn a_full_store_makes_room_of_what_has_ended() {
    let place = Place::new();
    let (store, count) = filled(&place).await;
    for ended in 0..count / 2 {
        let next = Next::Renew { lease: Ttl::ZERO, keep: Ttl::ZERO };
        won(store.swap(&key(ended), Expect::Any, next).await);
    }
    for new in 0..count / 3 {
        won(add(&store, format!("new-{new}")).await);
    }
}

/// More than the reserve: only what has ended makes room for it.
#[tokio::test]
async fn a_full_store_makes_room_for_what_grows_beyond_the_reserve() {
    let place = Place::new();
    let (store, count) = filled(&place).await;
    let large = || put(vec![8; 250_000]);
    assert_error(&store.swap(&key(0), Expect::Any, large()).await.unwrap_err(), FULL);
    for ended in count / 2..count {
        let next = Next::Renew { lease: Ttl::ZERO, keep: Ttl::ZERO };
        won(store.swap(&key(ended), Expect::Any, next).await);
    }
    won(store.swap(&key(0), Expect::Any, large()).await);
}

/// It takes the place of what has ended.
#[tokio::test]
async fn a_full_store_takes_a_key_anew_that_has_ended() {
    let place = Place::new();
    let (store, count) = filled(&place).await;
    for ended in 0..count {
        let next = Next::Renew { lease: Ttl::ZERO, keep: Ttl::ZERO };
        won(store.swap(&key(ended), Expect::Any, next).await);
        let stamp = won(add(&store, ended).await);
        assert_eq!(version(&store, ended).await, Some(stamp.version), "{ended} of {count}");
    }
}

#[tokio::test]
async fn a_file_beyond_its_bound_is_served_and_does_not_grow() {
    let place = Place::new();
    let store = place.open().await;
    for name in 0..500 {
        won(add(&store, name).await);
    }
    store.close().await;
    let store = SqliteStore::builder(place.path()).max_file_bytes(1 << 16).open().await.unwrap();
    assert_error(&add(&store, "new").await.unwrap_err(), FULL);
    won(store.swap(&key(1), Expect::Any, put("smaller")).await);
    won(store.swap(&key(2), Expect::Any, Next::Delete).await);
    assert!(version(&store, 499).await.is_some());
}

/// F-84: other programs fill disks too.
#[cfg(unix)]
#[tokio::test]
async fn a_disk_that_is_nearly_full_is_kept_for_the_entries_that_are_there() {
    let place = Place::new();
    let roomy = SqliteStore::builder(place.path()).min_free_bytes(1 << 10).open().await.unwrap();
    won(add(&roomy, "a").await);
    let tight = SqliteStore::builder(place.path()).min_free_bytes(1 << 60).open().await.unwrap();
    let error = add(&tight, "b").await.unwrap_err();
    assert_error(&error, FULL);
    assert!(error.message().contains("free on the disk"), "{error}");
    won(tight.swap(&key("a"), Expect::Any, put(vec![8; 2 * VALUE])).await);
    won(tight.swap(&key("a"), Expect::Any, Next::Delete).await);
    let careless = SqliteStore::builder(place.path()).min_free_bytes(0).open().await.unwrap();
    won(add(&careless, "b").await);
}

#[tokio::test]
async fn a_value_over_the_limit_is_refused_before_it_gets_anywhere() {
    let place = Place::new();
    let store = SqliteStore::builder(place.path()).max_value_bytes(1_000).open().await.unwrap();
    let next =
        |bytes| Next::Put { value: Bytes::from(vec![0; bytes]), lease: secs(1), keep: secs(1) };
    let error = store.swap(&key("a"), Expect::Any, next(1_001)).await.unwrap_err();
    assert_error(&error, StoreErrorKind::Refused(semel_core::Refusal::TooLarge));
    assert_eq!(store.stats().calls, 0);
    won(store.swap(&key("a"), Expect::Any, next(1_000)).await);
}

/// F-83, F-84: writes fail at some point of a commit. What was acknowledged stays, and after a
/// failure that leaves it open what is on the disk the store does not go on.
#[cfg(unix)]
#[tokio::test]
async fn when_the_disk_takes_no_more_nothing_acknowledged_is_lost() {
    for limit in [200_000_u64, 333_333, 1_000_000] {
        let place = Place::new();
        place.open().await.close().await;
        let said = Other::start_with_file_limit("fill", &place.path(), limit).finish();
        let (failed, acknowledged): (Vec<_>, Vec<_>) =
            said.iter().partition(|line| line.starts_with("failed "));
        assert!(!acknowledged.is_empty(), "limit {limit}");
        assert!(!failed.is_empty(), "limit {limit}: it must have hit the limit");
        let store = place.open().await;
        for line in acknowledged {
            assert!(version(&store, line).await.is_some(), "limit {limit}: {line}");
        }
        won(add(&store, "with-room-again").await);
    }
}

/// Adds entries, eight to a batch, until that fails for good; says what came of each.
pub(crate) async fn fill(store: &SqliteStore) {
    let mut ended = false;
    for batch in 0..500 {
        let names: Vec<_> = (0..8).map(|call| format!("{batch}-{call}")).collect();
        // All are on their way before the first is waited for.
        let calls: Vec<_> = names
            .iter()
            .map(|name| {
                let (store, name) = (store.clone(), name.clone());
                tokio::spawn(async move { add(&store, name).await })
            })
            .collect();
        for (name, call) in names.iter().zip(calls) {
            ended |= told(name, call.await.unwrap());
        }
        if ended {
            let error = add(store, "late").await.unwrap_err();
            assert_error(&error, UNUSABLE);
            let error = store.read(&key("0-0"), Touch::No).await.unwrap_err();
            assert_error(&error, UNUSABLE);
            return;
        }
    }
}

/// Says what came of a call, and whether the store has ended with it.
fn told(name: &str, swap: Result<Swap, StoreError>) -> bool {
    let error = match swap {
        Ok(swap) => {
            won(Ok(swap));
            say(name);
            return false;
        }
        Err(error) => error,
    };
    say(format!("failed {error}"));
    match error.kind() {
        FULL => false,
        UNUSABLE | StoreErrorKind::Unknown => true,
        kind => panic!("{kind:?}: {error}"),
    }
}
