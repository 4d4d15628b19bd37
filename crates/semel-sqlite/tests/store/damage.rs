//! Damaged files: an error, never an absence.

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use semel_core::{Store, StoreErrorKind, Touch};
use semel_sqlite::SqliteStore;

use crate::support::{Place, UNUSABLE, assert_error, claim, key, put, won};

const ENTRIES: usize = 2_000;
const PAGE: u64 = 4_096;

async fn filled(place: &Place) {
    let store = place.open().await;
    let calls: Vec<_> = (0..ENTRIES)
        .map(|name| {
            let store = store.clone();
            tokio::spawn(async move {
                let next = put(vec![1; 300]);
                won(store.swap(&key(name), semel_core::Expect::Absent, next).await)
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    store.close().await;
}

fn overwrite(path: &Path, page: u64) {
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(page * PAGE)).unwrap();
    file.write_all(&[0xFF; 4_096]).unwrap();
}

/// Reads all entries: each is there or the error says that it can't be told.
async fn assert_none_is_called_absent(store: &SqliteStore, page: u64) -> usize {
    let mut damaged = 0;
    for name in 0..ENTRIES {
        match store.read(&key(name), Touch::No).await {
            Ok(seen) => assert!(seen.entry.is_some(), "page {page}: {name} is called absent"),
            Err(error) => {
                assert_error(&error, StoreErrorKind::Damaged);
                damaged += 1;
            }
        }
        // Nor is it claimed anew.
        if name % 50 == 0
            && let Ok(swap) = claim(store, name).await
        {
            assert!(matches!(swap, semel_core::Swap::Lost(_)), "page {page}: {name} was free");
        }
    }
    damaged
}

#[tokio::test]
async fn pages_that_were_overwritten_are_damage_and_not_absence() {
    let place = Place::new();
    filled(&place).await;
    let whole = std::fs::read(place.path()).unwrap();
    let pages = u64::try_from(whole.len()).unwrap() / PAGE;
    let mut damaged = 0;
    // The schema's page, the roots of all trees, and leaves from all over the file.
    for page in (0..8).chain((8..pages).step_by(29)) {
        std::fs::write(place.path(), &whole).unwrap();
        overwrite(&place.path(), page);
        match SqliteStore::open(place.path()).await {
            Ok(store) => {
                damaged += assert_none_is_called_absent(&store, page).await;
                store.close().await;
            }
            Err(error) => assert_error(&error, UNUSABLE),
        }
    }
    assert!(damaged > ENTRIES, "only {damaged} reads met the damage");
}

#[tokio::test]
async fn a_file_that_was_cut_short_is_damage_and_not_absence() {
    let place = Place::new();
    filled(&place).await;
    let whole = std::fs::read(place.path()).unwrap();
    for part in [2, 3, 10, 50] {
        std::fs::write(place.path(), &whole[..whole.len() / part]).unwrap();
        match SqliteStore::open(place.path()).await {
            Ok(store) => assert!(assert_none_is_called_absent(&store, 0).await > 0),
            Err(error) => assert_error(&error, UNUSABLE),
        }
    }
}

#[tokio::test]
async fn rows_that_no_store_writes_are_damage() {
    for change in [
        "UPDATE entry SET version = -1",
        "UPDATE entry SET lease_at = -1",
        "UPDATE entry SET keep_at = -5",
        "DELETE FROM meta",
        "UPDATE meta SET last_time = -1",
    ] {
        let place = Place::new();
        let store = place.open().await;
        won(claim(&store, "a").await);
        place.connect().execute_batch(change).unwrap();
        let error = store.read(&key("a"), Touch::No).await.expect_err(change);
        assert_error(&error, StoreErrorKind::Damaged);
        let error = claim(&store, "a").await.expect_err(change);
        assert_error(&error, StoreErrorKind::Damaged);
    }
}

#[tokio::test]
async fn a_key_that_breaks_the_grammar_is_damage_where_keys_are_listed() {
    let place = Place::new();
    let store = place.open().await;
    won(claim(&store, "a").await);
    place.connect().execute_batch("UPDATE entry SET key = key || ' s3cr3t'").unwrap();
    let error = store.scan("", None, 10).await.unwrap_err();
    assert_error(&error, StoreErrorKind::Damaged);
}
