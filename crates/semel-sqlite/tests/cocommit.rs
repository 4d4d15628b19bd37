//! Record and rows in one transaction of one file, whatever happens to it.

mod support;

use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use semel_core::cocommit::{Began, CommitError, Fate, Recorded};
use semel_core::protocol::Completed;
use semel_core::{Expect, Extent, Key, Next, Refusal, Store, StoreErrorKind, Swap, Touch, Ttl};
use semel_sqlite::{SqliteStore, Transactional};
use support::*;

#[tokio::test]
async fn a_call_books_once_and_every_repeat_replays_its_answer() {
    let shop = shop().await;
    let file = shop.directory.path().join("store.db");
    let db = shop.transactional.connect().unwrap();
    let work = fresh(shop.transactional.begin(&db, &call("a")).unwrap());
    let answer = book(work.connection(), "a");
    // Nobody sees any of it before the commit.
    assert_eq!((booked(&file, "a"), is_recorded(&file, "a")), (0, false));
    assert_eq!(work.commit(outcome(answer.clone())).unwrap(), Recorded::Whole);
    for _ in 0..3 {
        assert_eq!(replayed(shop.transactional.begin(&db, &call("a")).unwrap()), answer);
    }
    assert_eq!(booked(&file, "a"), 1);
    let other = shop.transactional.begin(&db, &call_of("a", "cancel")).unwrap();
    assert!(matches!(other, Began::KeyReused { .. }), "{other:?}");
}

/// The store and the transactions draw from one sequence, and see each other's records.
#[tokio::test]
async fn the_store_sees_what_was_committed_beside_it_and_versions_rise_through_both() {
    let shop = shop().await;
    let db = shop.transactional.connect().unwrap();
    let hour = Ttl::new(Duration::from_secs(3_600)).unwrap();
    let put = || Next::Put { value: "v".into(), lease: hour, keep: hour };
    let mut last = 0;
    for round in 0..20 {
        let at = Key::new(format!("s:{round}")).unwrap();
        let Swap::Won(stamp) = shop.store.swap(&at, Expect::Absent, put()).await.unwrap() else {
            panic!("it is free");
        };
        assert!(stamp.version.get() > last);
        let work = fresh(shop.transactional.begin(&db, &call(&format!("t:{round}"))).unwrap());
        assert!(work.fence() > stamp.version);
        work.commit(outcome("done")).unwrap();
        let there = shop.store.read(&Key::new(format!("t:{round}")).unwrap(), Touch::No).await;
        last = there.unwrap().entry.unwrap().version.get();
    }
}

#[tokio::test]
async fn who_waits_in_the_store_is_woken_by_the_commit() {
    let shop = shop().await;
    let at = Key::new("a").unwrap();
    let hint = shop.store.changed(&at);
    let transactional = shop.transactional.clone();
    let committed = tokio::task::spawn_blocking(move || {
        let db = transactional.connect().unwrap();
        let work = fresh(transactional.begin(&db, &call("a")).unwrap());
        work.commit(outcome("done")).unwrap();
    });
    hint.await;
    committed.await.unwrap();
}

#[tokio::test]
async fn an_answer_over_the_limit_commits_its_rows_without_the_payload() {
    let shop = shop().await;
    let file = shop.directory.path().join("store.db");
    let small = SqliteStore::builder(&file).max_value_bytes(1_000).open().await.unwrap();
    let transactional = Transactional::new(&small);
    let db = transactional.connect().unwrap();
    let work = fresh(transactional.begin(&db, &call("a")).unwrap());
    book(work.connection(), "a");
    assert_eq!(work.commit(outcome(vec![0; 5_000])).unwrap(), Recorded::InPart);
    assert_eq!(booked(&file, "a"), 1);
    match transactional.begin(&db, &call("a")).unwrap() {
        Began::Replay(outcome) => assert_eq!(outcome.extent, Extent::Partial),
        began => panic!("it ran: {began:?}"),
    }
}

// ===== duplicates at the same time =====

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_200_concurrent_duplicates_one_books_and_all_have_its_answer() {
    let shop = Arc::new(shop().await);
    let start = Arc::new(Barrier::new(200));
    let duplicates: Vec<_> = (0..200)
        .map(|_| {
            let (shop, start) = (Arc::clone(&shop), Arc::clone(&start));
            thread::spawn(move || {
                let db = shop.transactional.connect().unwrap();
                db.busy_timeout(Duration::from_secs(120)).unwrap();
                start.wait();
                match shop.transactional.begin(&db, &call("a")).unwrap() {
                    Began::Fresh(work) => {
                        let answer = book(work.connection(), "a");
                        work.commit(outcome(answer.clone())).unwrap();
                        (1, answer)
                    }
                    began => (0, replayed(began)),
                }
            })
        })
        .collect();
    let all: Vec<_> = duplicates.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(all.iter().map(|(fresh, _)| fresh).sum::<u32>(), 1, "one must have run");
    assert!(all.iter().all(|(_, answer)| *answer == all[0].1), "all must have its answer");
    assert_eq!(booked(&shop.directory.path().join("store.db"), "a"), 1);
}

#[tokio::test]
async fn a_duplicate_that_waits_in_vain_says_so() {
    let shop = shop().await;
    let (first, second) =
        (shop.transactional.connect().unwrap(), shop.transactional.connect().unwrap());
    second.busy_timeout(Duration::from_millis(50)).unwrap();
    let work = fresh(shop.transactional.begin(&first, &call("a")).unwrap());
    let began = shop.transactional.begin(&second, &call("a")).unwrap();
    assert!(matches!(began, Began::Uncommitted), "{began:?}");
    work.rollback().unwrap();
    fresh(shop.transactional.begin(&second, &call("a")).unwrap()).rollback().unwrap();
}

// ===== ends that are none =====

#[tokio::test]
async fn whatever_ends_the_work_before_its_commit_leaves_nothing() {
    let shop = shop().await;
    let file = shop.directory.path().join("store.db");
    let db = shop.transactional.connect().unwrap();
    for end in ["rollback", "drop", "panic", "ended by hand", "closed"] {
        match end {
            "panic" => {
                let transactional = shop.transactional.clone();
                thread::spawn(move || {
                    let db = transactional.connect().unwrap();
                    let work = fresh(transactional.begin(&db, &call("a")).unwrap());
                    book(work.connection(), "a");
                    assert_eq!(work.fence().get(), 0, "the work panics here");
                })
                .join()
                .unwrap_err();
            }
            "closed" => {
                let db = shop.transactional.connect().unwrap();
                let work = fresh(shop.transactional.begin(&db, &call("a")).unwrap());
                book(work.connection(), "a");
                drop(work);
                drop(db);
            }
            _ => {
                let work = fresh(shop.transactional.begin(&db, &call("a")).unwrap());
                book(work.connection(), "a");
                match end {
                    "rollback" => work.rollback().unwrap(),
                    "drop" => drop(work),
                    _ => {
                        work.connection().execute_batch("ROLLBACK").unwrap();
                        let error = work.commit(outcome("never")).unwrap_err();
                        assert!(matches!(error, CommitError::RolledBack(_)), "{error:?}");
                    }
                }
            }
        }
        assert!(db.is_autocommit(), "no transaction may stay open after {end}");
        assert_eq!((booked(&file, "a"), is_recorded(&file, "a")), (0, false), "after {end}");
    }
}

/// A statement of the caller's that fails does not end the transaction; what was done before it
/// counts if the caller commits.
#[tokio::test]
async fn a_commit_that_sqlite_refuses_leaves_nothing() {
    let shop = shop().await;
    let file = shop.directory.path().join("store.db");
    let db = shop.transactional.connect().unwrap();
    db.execute_batch(
        "PRAGMA foreign_keys = ON; CREATE TABLE parent (id INTEGER PRIMARY KEY);
         CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)",
    )
    .unwrap();
    let work = fresh(shop.transactional.begin(&db, &call("a")).unwrap());
    book(work.connection(), "a");
    work.connection().execute("INSERT INTO child VALUES (7)", []).unwrap();
    let error = work.commit(outcome("never")).unwrap_err();
    assert!(matches!(error, CommitError::RolledBack(_)), "{error:?}");
    assert_eq!((booked(&file, "a"), is_recorded(&file, "a")), (0, false));
}

#[tokio::test]
async fn a_refusal_takes_the_rows_back_and_keeps_the_answer() {
    let shop = shop().await;
    let db = shop.transactional.connect().unwrap();
    let work = fresh(shop.transactional.begin(&db, &call("a")).unwrap());
    book(work.connection(), "a");
    assert_eq!(work.refuse(outcome("sold out")).unwrap(), Completed::Recorded);
    assert_eq!(booked(&shop.directory.path().join("store.db"), "a"), 0);
    assert_eq!(replayed(shop.transactional.begin(&db, &call("a")).unwrap()), "sold out");
}

#[tokio::test]
async fn what_became_of_a_claim_is_told_by_its_record() {
    let shop = shop().await;
    let db = shop.transactional.connect().unwrap();
    let work = fresh(shop.transactional.begin(&db, &call("a")).unwrap());
    let claimed = work.claimed().clone();
    work.rollback().unwrap();
    assert_eq!(shop.transactional.settle(&db, &claimed).unwrap(), Fate::RolledBack);
    let work = fresh(shop.transactional.begin(&db, &call("a")).unwrap());
    let claimed = work.claimed().clone();
    work.commit(outcome("done")).unwrap();
    assert_eq!(shop.transactional.settle(&db, &claimed).unwrap(), Fate::Committed);
}

// ===== connections that won't do =====

#[tokio::test]
async fn a_connection_that_would_break_the_promise_is_refused() {
    let shop = shop().await;
    let refused = |db: &Connection| {
        let error = shop.transactional.begin(db, &call("a")).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Refused(Refusal::Unusable), "{error}");
        error.message().to_owned()
    };
    let db = shop.transactional.connect().unwrap();
    db.execute_batch("PRAGMA synchronous = NORMAL").unwrap();
    assert!(refused(&db).contains("synchronous"));
    let other = Connection::open(shop.directory.path().join("other.db")).unwrap();
    assert!(refused(&other).contains("another file"));
    assert!(refused(&Connection::open_in_memory().unwrap()).contains("another file"));
    let db = shop.transactional.connect().unwrap();
    db.execute_batch("BEGIN").unwrap();
    assert!(refused(&db).contains("transaction open"));
}
