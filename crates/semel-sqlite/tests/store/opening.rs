//! Which files are opened, how they are made, and what is said about those that are refused.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use semel_core::{Refusal, StoreError, StoreErrorKind};
use semel_sqlite::SqliteStore;

use crate::support::{Place, UNUSABLE, assert_error, claim, version, won};

async fn refused(path: impl AsRef<Path>) -> StoreError {
    SqliteStore::open(path).await.expect_err("it must be refused")
}

/// Asserts that a file is refused with these words and is the same afterwards, byte for byte.
async fn assert_left_alone(place: &Place, words: &[&str]) {
    let before = fs::read(place.path()).unwrap();
    let error = refused(place.path()).await;
    assert_error(&error, UNUSABLE);
    for word in words.iter().copied().chain(["store.db"]) {
        assert!(error.message().contains(word), "`{word}` in: {error}");
    }
    assert!(before == fs::read(place.path()).unwrap(), "the file was altered");
}

#[cfg(unix)]
#[tokio::test]
async fn a_new_file_and_those_beside_it_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let store = place.open().await;
    won(claim(&store, "a").await);
    for suffix in ["", "-wal", "-shm"] {
        let file = place.directory.path().join(format!("store.db{suffix}"));
        let mode = fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn a_file_is_durable_by_its_settings() {
    let place = Place::new();
    let store = place.open().await;
    won(claim(&store, "a").await);
    let db = place.connect();
    let mode: String = db.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[tokio::test]
async fn a_directory_that_is_missing_is_named() {
    let place = Place::new();
    let error = refused(place.directory.path().join("nowhere/store.db")).await;
    assert_error(&error, UNUSABLE);
    assert!(error.message().contains("nowhere does not exist"), "{error}");
}

#[tokio::test]
async fn a_directory_is_no_store() {
    let place = Place::new();
    let error = refused(place.directory.path()).await;
    assert_error(&error, UNUSABLE);
    assert!(error.message().contains("is a directory"), "{error}");
}

#[tokio::test]
async fn a_file_is_no_directory() {
    let place = Place::new();
    fs::write(place.directory.path().join("file"), "x").unwrap();
    let error = refused(place.directory.path().join("file/store.db")).await;
    assert_error(&error, UNUSABLE);
    assert!(error.message().contains("file"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_to_nowhere_is_said_to_be_one() {
    let place = Place::new();
    std::os::unix::fs::symlink("nowhere", place.path()).unwrap();
    let error = refused(place.path()).await;
    assert_error(&error, UNUSABLE);
    assert!(error.message().contains("link to nowhere"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_to_a_store_is_that_store() {
    let place = Place::new();
    won(claim(&place.open().await, "a").await);
    let link = place.directory.path().join("link.db");
    std::os::unix::fs::symlink(place.path(), &link).unwrap();
    let store = SqliteStore::open(link).await.unwrap();
    assert!(version(&store, "a").await.is_some());
}

/// The kernel lets nobody make files there, not even the superuser.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_place_where_files_are_not_permitted_is_named() {
    let error = refused("/sys/kernel/semel.db").await;
    assert_error(&error, StoreErrorKind::Refused(Refusal::Credentials));
    assert!(error.message().contains("/sys/kernel/semel.db"), "{error}");
}

#[tokio::test]
async fn memory_is_refused_with_what_to_use_instead() {
    let error = refused(":memory:").await;
    assert_error(&error, UNUSABLE);
    assert!(error.message().contains("`memory:`"), "{error}");
    assert_error(&refused("").await, UNUSABLE);
}

#[tokio::test]
async fn a_name_that_looks_like_a_uri_is_a_name() {
    let place = Place::new();
    let path = place.directory.path().join("file:x?mode=memory");
    let store = SqliteStore::open(&path).await.unwrap();
    won(claim(&store, "a").await);
    store.close().await;
    assert!(fs::metadata(path).unwrap().len() > 0);
}

#[tokio::test]
async fn an_empty_file_becomes_a_store() {
    let place = Place::new();
    fs::write(place.path(), "").unwrap();
    won(claim(&place.open().await, "a").await);
}

#[tokio::test]
async fn what_is_no_database_is_left_as_it_is() {
    for content in ["hello\n".to_owned(), "line\n".repeat(10_000)] {
        let place = Place::new();
        fs::write(place.path(), content).unwrap();
        assert_left_alone(&place, &["no SQLite database"]).await;
    }
}

#[tokio::test]
async fn the_database_of_another_program_is_left_as_it_is() {
    for setup in [
        "CREATE TABLE orders (id INTEGER PRIMARY KEY); INSERT INTO orders VALUES (1);",
        "PRAGMA journal_mode = WAL; CREATE TABLE orders (id); INSERT INTO orders VALUES (1);",
        "PRAGMA application_id = 7; CREATE TABLE entry (key, version);",
        "PRAGMA user_version = 9;",
    ] {
        let place = Place::new();
        place.connect().execute_batch(setup).unwrap();
        assert_left_alone(&place, &["another program"]).await;
    }
}

/// Its latest rows are in the log beside it, and stay there.
#[tokio::test]
async fn the_database_of_another_program_that_is_open_is_left_as_it_is() {
    let place = Place::new();
    let theirs = place.connect();
    theirs.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE orders (id);").unwrap();
    theirs.execute_batch("INSERT INTO orders VALUES (1)").unwrap();
    let log = place.directory.path().join("store.db-wal");
    let logged = fs::read(&log).unwrap();
    assert_left_alone(&place, &["another program"]).await;
    assert!(logged == fs::read(&log).unwrap(), "the log was altered");
    let rows: i64 = theirs.query_row("SELECT count(*) FROM orders", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 1);
}

#[tokio::test]
async fn a_newer_schema_is_left_as_it_is_and_both_versions_are_named() {
    let place = Place::new();
    won(claim(&place.open().await, "a").await);
    let db = place.connect();
    db.pragma_update(None, "user_version", 7).unwrap();
    db.close().unwrap();
    assert_left_alone(&place, &["version 7", "up to 1", "newer"]).await;
}

#[tokio::test]
async fn a_store_in_another_encoding_is_refused() {
    let place = Place::new();
    let store = place.open().await;
    store.close().await;
    let other = place.directory.path().join("other.db");
    let db = Connection::open(&other).unwrap();
    let tables: Vec<String> = place
        .connect()
        .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    db.execute_batch("PRAGMA encoding = 'UTF-16'").unwrap();
    db.execute_batch(&tables.join(";")).unwrap();
    db.execute_batch("PRAGMA application_id = 1399156076; PRAGMA user_version = 1").unwrap();
    drop(db);
    let error = refused(&other).await;
    assert_error(&error, UNUSABLE);
    assert!(error.message().contains("UTF-8"), "{error}");
}

#[tokio::test]
async fn tables_that_are_not_as_the_schema_says_are_refused() {
    for change in [
        "DROP TABLE meta",
        "DROP TABLE entry",
        "ALTER TABLE entry RENAME COLUMN keep_at TO kept",
        "ALTER TABLE meta DROP COLUMN last_version",
    ] {
        let place = Place::new();
        place.open().await.close().await;
        place.connect().execute_batch(change).unwrap();
        let error = refused(place.path()).await;
        assert_error(&error, UNUSABLE);
        assert!(error.message().contains("store.db"), "{error}");
    }
}

#[tokio::test]
async fn a_file_that_stays_locked_is_not_waited_for_longer_than_said() {
    let place = Place::new();
    place.open().await.close().await;
    let _lock = place.lock();
    let builder = SqliteStore::builder(place.path()).busy_timeout(Duration::from_millis(50));
    let error = builder.open().await.unwrap_err();
    assert_error(&error, StoreErrorKind::NotApplied);
    assert!(error.message().contains("locked"), "{error}");
}

#[tokio::test]
async fn a_setting_out_of_range_is_named_with_what_it_takes() {
    let place = Place::new();
    let builder = || SqliteStore::builder(place.path());
    for (name, builder) in [
        ("poll_interval", builder().poll_interval(Duration::ZERO)),
        ("busy_timeout", builder().busy_timeout(Duration::from_secs(3_601))),
        ("max_value_bytes", builder().max_value_bytes(0)),
        ("max_file_bytes", builder().max_file_bytes(1)),
        ("readers", builder().readers(0)),
    ] {
        let error = builder.open().await.unwrap_err();
        assert_error(&error, UNUSABLE);
        assert!(error.message().contains(name), "{error}");
    }
    assert!(!place.path().exists(), "nothing is made for settings that are refused");
}
