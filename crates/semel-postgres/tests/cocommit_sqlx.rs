//! Record and rows in one transaction of `sqlx`.

#![cfg(feature = "sqlx")]

mod support;

use std::time::Duration;

use futures_util::FutureExt;
use semel_core::Touch;
use semel_core::cocommit::{Began, CommitError, Recorded};
use semel_core::protocol::Completed;
use semel_core::{Extent, Store, StoreErrorKind};
use semel_postgres::sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use semel_postgres::sqlx::{Connection, Row, query};
use semel_postgres::{PostgresStore, SqlxWork, Transactional};
use semel_testkit::{PgBouncer, PostgresServer, eventually};
use support::cocommit::{
    FIRST_LEG, SECOND_LEG, Shop, booked, call, call_of, fresh, outcome, replayed, shop,
};
use support::*;

async fn pool(shop: &Shop) -> PgPool {
    PgPool::connect(&shop.server.url()).await.expect("a pool")
}

async fn book(work: &mut SqlxWork<'_>, at: &str) -> String {
    // As behind a pooler.
    let first = query(FIRST_LEG).bind(at).persistent(false);
    let row = first.fetch_one(&mut **work.transaction()).await.expect("a row");
    let second = query(SECOND_LEG).bind(at).persistent(false);
    second.execute(&mut **work.transaction()).await.expect("a row");
    format!("booking {}", row.get::<i64, _>(0))
}

#[tokio::test]
async fn a_call_books_once_and_every_repeat_replays_its_answer() {
    let shop = shop().await;
    let pool = pool(&shop).await;
    let mut work = fresh(shop.transactional.begin_sqlx(&pool, &call("a")).await.expect("a begin"));
    let answer = book(&mut work, "a").await;
    assert_eq!((booked(&shop.server, "a").await, look(&shop.store, "a").await), (0, None));
    assert_eq!(work.commit(outcome(answer.clone())).await.expect("a commit"), Recorded::Whole);
    for _ in 0..3 {
        let began = shop.transactional.begin_sqlx(&pool, &call("a")).await.expect("a begin");
        assert_eq!(replayed(began), answer);
    }
    // Both libraries see one record.
    let began = shop.transactional.begin_owned(&call("a")).await.expect("a begin");
    assert_eq!(replayed(began), answer);
    assert_eq!(booked(&shop.server, "a").await, 1);
    let other = shop.transactional.begin_sqlx(&pool, &call_of("a", "cancel")).await;
    assert!(matches!(other, Ok(Began::KeyReused { .. })), "{other:?}");
}

/// Where the caller's own statements have names, so have ours: one round trip each.
#[tokio::test]
async fn statements_are_named_where_the_callers_are() {
    let shop = shop().await;
    let pool = PgPoolOptions::new().max_connections(1).connect(&shop.server.url()).await;
    let pool = pool.expect("a pool");
    let named = async || {
        let sql = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%semel%'";
        let row = query(sql).persistent(false).fetch_one(&pool).await.expect("a row");
        row.get::<i64, _>(0)
    };
    for (at, due) in [("a", 0), ("b", 0), ("c", 1), ("d", 1)] {
        let mut work = fresh(shop.transactional.begin_sqlx(&pool, &call(at)).await.expect("one"));
        book(&mut work, at).await;
        work.commit(outcome("booked")).await.expect("a commit");
        assert_eq!(named().await, due, "after {at}");
        if at == "b" {
            query("SELECT 1").execute(&pool).await.expect("a statement with a name");
        }
    }
}

#[tokio::test]
async fn a_transaction_that_the_caller_has_opened_will_do() {
    let shop = shop().await;
    let mut connection = PgConnection::connect(&shop.server.url()).await.expect("a connection");
    let transaction = connection.begin().await.expect("a transaction");
    let began = shop.transactional.begin_on_sqlx(transaction, &call("a")).await;
    let mut work = fresh(began.expect("a begin"));
    let answer = book(&mut work, "a").await;
    work.commit(outcome(answer)).await.expect("a commit");
    assert_eq!(booked(&shop.server, "a").await, 1);
}

#[tokio::test]
async fn whatever_ends_the_work_before_its_commit_leaves_nothing() {
    let shop = shop().await;
    let pool = pool(&shop).await;
    for end in ["rollback", "drop", "error", "terminated", "refused"] {
        let began = shop.transactional.begin_sqlx(&pool, &call(end)).await;
        let mut work = fresh(began.expect("a begin"));
        book(&mut work, end).await;
        match end {
            "rollback" => work.rollback().await.expect("a rollback"),
            "drop" => drop(work),
            "error" => {
                let wrong = query("SELECT 1 / 0").execute(&mut **work.transaction()).await;
                wrong.expect_err("it must fail");
                let error = work.commit(outcome("never")).await.expect_err("it can't commit");
                assert!(matches!(error, CommitError::RolledBack(_)), "{error:?}");
            }
            "terminated" => {
                let pid = query("SELECT pg_backend_pid()");
                let pid = pid.fetch_one(&mut **work.transaction()).await.expect("a row");
                let pid: i32 = pid.get(0);
                let end = format!("SELECT pg_terminate_backend({pid}, 10000)");
                shop.server.sql(&end).await.expect("an answer");
                let error = work.commit(outcome("never")).await.expect_err("it can't commit");
                assert!(matches!(error, CommitError::RolledBack(_)), "{error:?}");
            }
            _ => {
                let refused = work.refuse(outcome("sold out")).await.expect("it is recorded");
                assert_eq!(refused, Completed::Recorded);
            }
        }
        let left = eventually(PATIENCE, "the end of the transaction", || async {
            let open = "SELECT count(*) FROM pg_stat_activity \
                        WHERE state LIKE 'idle in transaction%'";
            (shop.server.sql(open).await.ok()? == "0").then_some(())
        });
        left.await.expect("it must end");
        assert_eq!(booked(&shop.server, end).await, 0, "after {end}");
        assert_eq!(look(&shop.store, end).await.is_some(), end == "refused", "after {end}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_200_concurrent_duplicates_one_books_and_all_have_its_answer() {
    let shop = shop().await;
    let pool = PgPoolOptions::new().max_connections(20).connect(&shop.server.url()).await;
    let pool = pool.expect("a pool");
    let patient = shop.transactional.clone().wait(PATIENCE);
    let duplicates = (0..200).map(|_| {
        let (pool, patient) = (pool.clone(), patient.clone());
        tokio::spawn(async move {
            match patient.begin_sqlx(&pool, &call("a")).await.expect("a begin") {
                Began::Fresh(mut work) => {
                    let answer = book(&mut work, "a").await;
                    work.commit(outcome(answer.clone())).await.expect("a commit");
                    (1, answer)
                }
                began => (0, replayed(began)),
            }
        })
    });
    let duplicates: Vec<_> = duplicates.collect();
    let mut all = Vec::new();
    for duplicate in duplicates {
        all.push(duplicate.await.expect("no panic"));
    }
    assert_eq!(all.iter().map(|(fresh, _)| fresh).sum::<u32>(), 1, "one must have run");
    assert!(all.iter().all(|(_, answer)| *answer == all[0].1), "all must have its answer");
    assert_eq!(booked(&shop.server, "a").await, 1);
}

/// F-126: `sqlx` up to 0.9.0 gives a connection whose `begin` was dropped in the middle back with
/// its transaction open.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_that_go_away_while_it_begins_leave_no_open_transaction() {
    let shop = shop().await;
    let pool = PgPoolOptions::new().max_connections(1).connect(&shop.server.url()).await;
    let pool = pool.expect("a pool");
    for round in 0..200_u64 {
        let at = call(&format!("gone:{round}"));
        let begin = shop.transactional.begin_sqlx(&pool, &at);
        // At each moment of its way.
        let gone = semel_testkit::within(Duration::from_micros(round * 5), "a begin", begin).await;
        drop(gone);
        // Nothing that the next user of the connection writes is lost with a foreign transaction.
        let mut next = pool.acquire().await.expect("a connection");
        let sql = "INSERT INTO booking (key, leg) VALUES ($1, 1), ($1, 2)";
        let next = query(sql).bind(format!("next:{round}")).execute(&mut *next).await;
        next.expect("rows");
    }
    let lost = "SELECT 200 - count(DISTINCT key) FROM booking WHERE key LIKE 'next:%'";
    assert_eq!(shop.server.sql(lost).await.expect("an answer"), "0");
    let open = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";
    eventually(PATIENCE, "the end of all transactions", || async {
        (shop.server.sql(open).await.ok()? == "0").then_some(())
    })
    .await
    .expect("they must end");
}

/// The hazard that the task of its own is for is there: without it this test should be dropped,
/// and `begin_sqlx` simplified.
#[tokio::test]
async fn a_begin_of_the_library_that_is_dropped_in_the_middle_leaks() {
    let shop = shop().await;
    let pool = PgPoolOptions::new().max_connections(1).connect(&shop.server.url()).await;
    let pool = pool.expect("a pool");
    // Polled once: its statement is sent, its answer is not read.
    let mut leaked = false;
    for _ in 0..50 {
        let mut begin = Box::pin(pool.begin());
        for _ in 0..3 {
            if (&mut begin).now_or_never().is_some() {
                break;
            }
        }
        drop(begin);
        let mut next = pool.acquire().await.expect("a connection");
        query("SELECT pg_sleep(0.01)").execute(&mut *next).await.expect("a while");
        // In a transaction of its own a statement begins when that does.
        let alone = query("SELECT now() = statement_timestamp()").fetch_one(&mut *next).await;
        leaked |= !alone.expect("a row").get::<bool, _>(0);
    }
    assert!(leaked, "a library that is fixed needs no task of its own");
}

#[tokio::test]
async fn an_answer_over_the_limit_commits_its_rows_without_the_payload() {
    let shop = shop().await;
    let pool = pool(&shop).await;
    let small = PostgresStore::builder(&shop.server.url()).max_value_bytes(1_000).open().await;
    let transactional = Transactional::new(&small.expect("a store"));
    let mut work = fresh(transactional.begin_sqlx(&pool, &call("a")).await.expect("a begin"));
    book(&mut work, "a").await;
    let recorded = work.commit(outcome(vec![0; 5_000])).await.expect("a commit");
    assert_eq!((recorded, booked(&shop.server, "a").await), (Recorded::InPart, 1));
    match transactional.begin_sqlx(&pool, &call("a")).await.expect("a begin") {
        Began::Replay(outcome) => assert_eq!(outcome.extent, Extent::Partial),
        began => panic!("it ran: {began:?}"),
    }
}

#[tokio::test]
async fn it_works_through_a_pooler_in_transaction_mode() {
    let shop = shop().await;
    let pooler = PgBouncer::start(&shop.server).await.expect("a pooler");
    // What `sqlx` needs behind a pooler: no names, and no parameter that it does not know.
    let options: PgConnectOptions = pooler.url().parse().expect("a URL");
    let options = options.statement_cache_capacity(0).extra_float_digits(None);
    let pool = PgPool::connect_with(options).await.expect("a pool");
    for at in ["a", "b", "c"] {
        let mut work = fresh(shop.transactional.begin_sqlx(&pool, &call(at)).await.expect("one"));
        let answer = book(&mut work, at).await;
        work.commit(outcome(answer.clone())).await.expect("a commit");
        let began = shop.transactional.begin_sqlx(&pool, &call(at)).await.expect("a begin");
        assert_eq!(replayed(began), answer);
    }
}

#[tokio::test]
async fn a_server_that_is_gone_is_not_applied() {
    let mut shop = shop().await;
    let pool = PgPoolOptions::new().acquire_timeout(SECOND).connect(&shop.server.url()).await;
    let pool = pool.expect("a pool");
    let at = call("a");
    let work = fresh(shop.transactional.begin_sqlx(&pool, &at).await.expect("a begin"));
    shop.server.kill().await.expect("it is killed");
    let error = work.rollback().await.expect_err("nobody is there");
    assert_eq!(error.kind(), StoreErrorKind::NotApplied);
    let error = shop.transactional.begin_sqlx(&pool, &at).await.expect_err("nobody is there");
    assert_eq!(error.kind(), StoreErrorKind::NotApplied, "{error:?}");
    restart(&mut shop.server).await;
    assert!(shop.store.read(&key("a"), Touch::No).await.expect("a read").entry.is_none());
}

async fn restart(server: &mut PostgresServer) {
    server.start().await.expect("it comes back");
}
