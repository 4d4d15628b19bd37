//! Work that ends before its commit, and commits whose acknowledgement is lost.

mod support;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use semel_core::Refusal;
use semel_core::cocommit::{CommitError, Fate};
use semel_core::protocol::Completed;
use semel_postgres::{PostgresStore, Transactional};
use semel_testkit::{Cut, Direction, FaultProxy, PostgresServer, eventually, within};
use support::cocommit::*;
use support::*;

// ===== ends that are none =====

#[tokio::test]
async fn whatever_ends_the_work_before_its_commit_leaves_nothing() {
    let shop = shop().await;
    let mut client = shop.client().await;
    for end in ["rollback", "drop", "error", "panic", "owned", "terminated"] {
        match end {
            "owned" => {
                let work = fresh(shop.transactional.begin_owned(&call("a")).await.expect("one"));
                book(work.client().expect("a connection"), "a").await;
                drop(work);
                wait_for_idle(&shop.server).await;
                assert_eq!(booked(&shop.server, "a").await, 0, "after {end}");
                continue;
            }
            "panic" => {
                let (url, transactional) = (shop.server.url(), shop.transactional.clone());
                let panicked = tokio::spawn(async move {
                    let mut client = client_of(&url).await;
                    let work =
                        fresh(transactional.begin(&mut client, &call("a")).await.expect("a"));
                    book(work.transaction(), "a").await;
                    assert!(work.claimed().fence().get() == 0, "the work panics here");
                });
                panicked.await.expect_err("it must panic");
                wait_for_idle(&shop.server).await;
                assert_eq!(booked(&shop.server, "a").await, 0, "after {end}");
                continue;
            }
            _ => {}
        }
        let work = fresh(shop.transactional.begin(&mut client, &call("a")).await.expect("a begin"));
        book(work.transaction(), "a").await;
        match end {
            "rollback" => work.rollback().await.expect("a rollback"),
            "drop" => drop(work),
            "error" => {
                // The caller overlooks that a statement of its own has failed.
                work.transaction().execute("SELECT 1/0", &[]).await.expect_err("an error");
                let error = work.commit(outcome("never")).await.expect_err("it can't commit");
                assert!(matches!(error, CommitError::RolledBack(_)), "{error:?}");
            }
            _ => {
                let pid = "SELECT pg_backend_pid()";
                let pid: i32 = work.transaction().query_one(pid, &[]).await.expect("a row").get(0);
                let end = format!("SELECT pg_terminate_backend({pid}, 10000)");
                shop.server.sql(&end).await.expect("an answer");
                let error = work.commit(outcome("never")).await.expect_err("it can't commit");
                assert!(matches!(error, CommitError::RolledBack(_)), "{error:?}");
            }
        }
        wait_for_idle(&shop.server).await;
        assert_eq!(booked(&shop.server, "a").await, 0, "after {end}");
        assert_eq!(look(&shop.store, "a").await, None, "the key is free after {end}");
    }
}

async fn wait_for_idle(server: &PostgresServer) {
    let open = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";
    eventually(PATIENCE, "the end of transactions", || async {
        (server.sql(open).await.ok()? == "0").then_some(())
    })
    .await
    .expect("they must end");
}

/// A constraint that is checked at the commit.
#[tokio::test]
async fn a_commit_that_the_server_refuses_leaves_nothing() {
    let shop = shop().await;
    let deferred =
        "ALTER TABLE booking ADD CONSTRAINT once UNIQUE (leg) DEFERRABLE INITIALLY DEFERRED";
    shop.server.sql(deferred).await.expect("a constraint");
    let mut client = shop.client().await;
    for (at, works) in [("a", true), ("b", false)] {
        let work = fresh(shop.transactional.begin(&mut client, &call(at)).await.expect("a begin"));
        let answer = book(work.transaction(), at).await;
        let committed = work.commit(outcome(answer)).await;
        assert_eq!(committed.is_ok(), works, "{committed:?}");
        assert_eq!(look(&shop.store, at).await.is_some(), works);
        assert_eq!(booked(&shop.server, at).await, u32::from(works));
    }
}

/// A failure that is final: no rows, and its answer is replayed.
#[tokio::test]
async fn a_refusal_takes_the_rows_back_and_keeps_the_answer() {
    let shop = shop().await;
    let mut client = shop.client().await;
    let work = fresh(shop.transactional.begin(&mut client, &call("a")).await.expect("a begin"));
    book(work.transaction(), "a").await;
    let refused = work.refuse(outcome("sold out")).await.expect("it is recorded");
    assert_eq!(refused, Completed::Recorded);
    assert_eq!(booked(&shop.server, "a").await, 0);
    let began = shop.transactional.begin(&mut client, &call("a")).await.expect("a begin");
    assert_eq!(replayed(began), "sold out");
    let work = fresh(shop.transactional.begin_owned(&call("b")).await.expect("a begin"));
    let refused = work.refuse(outcome("sold out")).await.expect("it is recorded");
    assert_eq!(refused, Completed::Recorded);
}

// ===== F-122: the acknowledgement is lost =====

/// The connection is cut after each byte of the commit's exchange, in both directions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_acknowledgement_is_settled_by_the_record() {
    let shop = shop().await;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, shop.server.port()));
    let proxy = FaultProxy::start(address).await.expect("a proxy");
    let url = format!("postgres://postgres@{}/postgres?sslmode=disable", proxy.address());
    let (mut committed, mut rolled_back, mut by_record) = (0, 0, 0);
    for direction in [Direction::ToServer, Direction::ToClient] {
        for after in 0..40 {
            let at = format!("{direction:?}:{after}");
            let mut client = client_of(&url).await;
            let transaction = client.transaction().await.expect("a transaction");
            let claimed = shop.transactional.claim_in(&transaction, &call(&at)).await;
            let claimed = fresh(claimed.expect("a claim"));
            book(&transaction, &at).await;
            shop.transactional
                .record_in(&transaction, &claimed, outcome("booked"))
                .await
                .expect("a record");
            proxy.cut_after(direction, after, Cut::Reset);
            let acknowledged = transaction.commit().await.is_ok();
            proxy.uncut(direction);
            let fate = shop.transactional.settle(&claimed).await.expect("a fate");
            assert!(!acknowledged || fate == Fate::Committed, "{at}: it was acknowledged");
            by_record += u32::from(!acknowledged && fate == Fate::Committed);
            let rows = booked(&shop.server, &at).await;
            assert_eq!(rows == 1, fate == Fate::Committed, "{at}: rows and record must agree");
            assert_eq!(look(&shop.store, &at).await.is_some(), fate == Fate::Committed, "{at}");
            match fate {
                Fate::Committed => committed += 1,
                Fate::RolledBack => rolled_back += 1,
            }
        }
    }
    let seen = (committed, rolled_back, by_record);
    assert!(committed > 20 && rolled_back > 5 && by_record > 5, "too few of each: {seen:?}");
}

/// The same through the work itself.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_whose_acknowledgement_is_lost_says_what_became_of_it() {
    let shop = shop().await;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, shop.server.port()));
    let proxy = FaultProxy::start(address).await.expect("a proxy");
    let url = format!("postgres://postgres@{}/postgres?sslmode=disable", proxy.address());
    for (at, lost) in [("answer", Direction::ToClient), ("question", Direction::ToServer)] {
        let mut client = client_of(&url).await;
        let call = call(at);
        let work = fresh(shop.transactional.begin(&mut client, &call).await.expect("a begin"));
        let answer = book(work.transaction(), at).await;
        // All of the outcome's exchange passes; the commit's does not.
        proxy.hold(lost);
        let cut = async {
            // What is held back is never delivered.
            semel_testkit::pass(Duration::from_millis(200)).await;
            proxy.sever(Cut::Reset);
            proxy.release(lost);
        };
        let (committed, ()) = futures_util::future::join(work.commit(outcome(answer)), cut).await;
        let rows = booked(&shop.server, at).await;
        match committed {
            Ok(_) => assert_eq!(rows, 1, "{at}"),
            Err(CommitError::RolledBack(_)) => assert_eq!(rows, 0, "{at}"),
            Err(error) => panic!("{at}: {error:?}"),
        }
    }
}

/// The commit is still under way when its acknowledgement is lost: nothing is concluded before its
/// end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_is_still_under_way_is_waited_for() {
    let shop = shop().await;
    let client = shop.client().await;
    client.batch_execute("BEGIN").await.expect("a transaction");
    let claimed = fresh(shop.transactional.claim_in(&client, &call("a")).await.expect("a claim"));
    book(&client, "a").await;
    shop.transactional.record_in(&client, &claimed, outcome("booked")).await.expect("a record");
    let settling = tokio::spawn({
        let (transactional, claimed) = (shop.transactional.clone(), claimed.clone());
        async move { transactional.settle(&claimed).await }
    });
    semel_testkit::pass(Duration::from_millis(1_500)).await;
    assert!(!settling.is_finished(), "nothing can be concluded yet");
    client.batch_execute("COMMIT").await.expect("a commit");
    let fate = within(PATIENCE, "a fate", settling).await.expect("in time").expect("no panic");
    assert_eq!(fate.expect("a fate"), Fate::Committed);
}

/// F-123.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owned_work_does_not_count_as_committed_before_its_standby_has_it() {
    let shop = shop().await;
    let store = hasty(&shop.server.url()).open().await.expect("a store");
    let transactional = Transactional::new(&store);
    let work = fresh(transactional.begin_owned(&call("a")).await.expect("a begin"));
    book(work.client().expect("a connection"), "a").await;
    miss_a_standby(&shop.server).await;
    let committing = tokio::spawn(work.commit(outcome("booked")));
    cancel_commits(&shop.server).await;
    let committed = within(PATIENCE, "an end", committing).await.expect("in time");
    let error = committed.expect("no panic").expect_err("the standby does not have it");
    assert!(matches!(error, CommitError::Unknown(_)), "{error:?}");
}

#[tokio::test]
async fn a_claim_over_the_limit_is_refused_before_it_is_sent() {
    let shop = shop().await;
    let small = PostgresStore::builder(&shop.server.url()).max_value_bytes(10).open().await;
    let transactional = Transactional::new(&small.expect("a store"));
    let mut client = shop.client().await;
    let began = transactional.begin(&mut client, &call("a")).await;
    assert_eq!(kind(began), refused(Refusal::TooLarge));
    let sum: i32 = client.query_one("SELECT 1 + 1", &[]).await.expect("a row").get(0);
    assert_eq!(sum, 2, "the connection is as it was");
}
