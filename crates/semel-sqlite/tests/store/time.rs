//! The clock, as stores show it.

use std::sync::Arc;
use std::time::Duration;

use semel_core::{ManualClock, Store, StoreTime, Touch};
use semel_sqlite::SqliteStore;

use crate::support::{Place, claim, key, version, won};

async fn now(store: &SqliteStore) -> StoreTime {
    store.read(&key("none"), Touch::No).await.unwrap().now
}

#[tokio::test]
async fn stores_on_one_file_show_one_time() {
    let place = Place::new();
    let (one, two) = (place.open().await, place.open().await);
    let mut last = StoreTime::default();
    for _ in 0..50 {
        for store in [&one, &two] {
            let shown = now(store).await;
            assert!(shown >= last, "{shown:?} after {last:?}");
            last = shown;
        }
    }
}

#[tokio::test]
async fn a_store_begins_with_the_time_of_day() {
    let place = Place::new();
    let shown = now(&place.open().await).await.as_micros();
    let db = place.connect();
    let seconds: i64 = db.query_row("SELECT unixepoch()", [], |row| row.get(0)).unwrap();
    assert!(shown.abs_diff(u64::try_from(seconds).unwrap() * 1_000_000) < 5_000_000);
}

#[tokio::test]
async fn time_does_not_go_back_when_a_store_is_opened_again() {
    let place = Place::new();
    let mut last = StoreTime::default();
    for _ in 0..5 {
        let store = place.open().await;
        let shown = now(&store).await;
        assert!(shown > last);
        last = shown;
        store.close().await;
    }
}

/// A boot that this file has not seen, and a wall clock behind what it has.
#[tokio::test]
async fn after_a_boot_time_goes_on_from_the_last_that_was_seen() {
    let place = Place::new();
    let store = place.open().await;
    won(claim(&store, "a").await);
    let before = now(&store).await;
    store.close().await;
    let ahead = before.as_micros() + 3_600_000_000;
    place
        .connect()
        .execute(
            "UPDATE meta SET boot = 'another', last_time = ?1",
            [i64::try_from(ahead).unwrap()],
        )
        .unwrap();
    let store = place.open().await;
    let shown = now(&store).await.as_micros();
    assert!(shown >= ahead, "{shown} is before {ahead}");
    assert!(shown < ahead + 60_000_000, "{shown} is far beyond {ahead}");
    // Versions are above those times too.
    assert!(won(claim(&store, "b").await).version.get() >= ahead);
}

#[tokio::test]
async fn closing_leaves_the_time_in_the_file() {
    let place = Place::new();
    let clock = Arc::new(ManualClock::at(StoreTime::from_micros(1_000)));
    let builder = SqliteStore::builder(place.path()).clock(Arc::<ManualClock>::clone(&clock));
    let store = builder.open().await.unwrap();
    clock.advance(Duration::from_secs(100));
    store.close().await;
    // Another clock, which is behind.
    let late = Arc::new(ManualClock::at(StoreTime::from_micros(5)));
    let store = SqliteStore::builder(place.path()).clock(late).open().await.unwrap();
    assert_eq!(now(&store).await.as_micros(), 100_001_000);
}

/// One that another store has seen is never undercut, even by a clock that is behind.
#[tokio::test]
async fn a_clock_that_is_behind_is_held_up_by_what_others_have_written() {
    let place = Place::new();
    let at = |micros| Arc::new(ManualClock::at(StoreTime::from_micros(micros)));
    let ahead = SqliteStore::builder(place.path()).clock(at(9_000)).open().await.unwrap();
    let behind = SqliteStore::builder(place.path()).clock(at(1_000)).open().await.unwrap();
    let stamp = won(claim(&ahead, "a").await);
    assert_eq!(stamp.now.as_micros(), 9_000);
    assert!(version(&behind, "a").await.is_some());
    assert_eq!(now(&behind).await.as_micros(), 9_000);
}

/// A file that nobody sweeps does not grow for ever.
#[tokio::test]
async fn puts_clear_away_what_has_ended() {
    let place = Place::new();
    let clock = Arc::new(ManualClock::at(StoreTime::from_micros(1_000)));
    let builder = SqliteStore::builder(place.path()).clock(Arc::<ManualClock>::clone(&clock));
    let store = builder.open().await.unwrap();
    for name in 0..20 {
        won(claim(&store, name).await);
    }
    clock.advance(Duration::from_secs(86_400));
    for name in 100..110 {
        won(claim(&store, name).await);
    }
    let rows: i64 =
        place.connect().query_row("SELECT count(*) FROM entry", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 10);
}
