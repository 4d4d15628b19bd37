//! What calls cost, counted on the server.

mod support;

use std::time::Duration;

use semel_core::{Expect, Next, Store, Swap, Touch, Ttl};
use semel_postgres::{HintSource, PostgresStore};
use semel_testkit::{PostgresServer, eventually, within};
use support::*;

/// A server that writes down each statement.
async fn telling() -> PostgresServer {
    PostgresServer::builder().setting("log_statement", "all").start().await.expect("a server")
}

/// The statements that clients of ours sent since the mark.
fn statements(server: &PostgresServer, mark: &str) -> Vec<String> {
    let log = server.log();
    let after = log.rsplit_once(mark).expect("the mark is in the log").1;
    let sent = after.lines().filter(|line| {
        line.contains("semel LOG:") && (line.contains(" execute ") || line.contains(" statement: "))
    });
    sent.map(str::to_owned).collect()
}

/// Writes something into the log that what follows can be told by.
async fn mark(server: &PostgresServer, mark: &str) {
    server.sql(&format!("SELECT 'mark {mark}'")).await.expect("an answer");
}

fn outcome() -> Next {
    let day = ttl(Duration::from_secs(86_400));
    Next::Put { value: "outcome".into(), lease: Ttl::ZERO, keep: day }
}

#[tokio::test]
async fn a_first_call_is_two_statements_and_a_replay_is_one() {
    let server = telling().await;
    let store = open(&server).await;
    // Its connection is made.
    assert_eq!(look(&store, "a").await, None);

    mark(&server, "first").await;
    let claimed = win(&store, "a", Expect::Absent, put("claim")).await;
    win(&store, "a", Expect::Version(claimed.version), outcome()).await;
    let first = statements(&server, "mark first");
    assert_eq!(first.len(), 2, "claim and outcome: {first:#?}");
    assert!(first.iter().all(|line| line.contains("execute <unnamed>")), "{first:#?}");

    mark(&server, "replay").await;
    match claim(&store, "a").await.expect("a swap") {
        Swap::Lost(there) => assert_eq!(there.entry.expect("the outcome").value, "outcome"),
        Swap::Won(stamp) => panic!("it ran already: {stamp:?}"),
    }
    let replay = statements(&server, "mark replay");
    assert_eq!(replay.len(), 1, "{replay:#?}");
}

#[tokio::test]
async fn every_other_call_is_one_statement() {
    let server = telling().await;
    let store = open(&server).await;
    let first = win(&store, "a", Expect::Absent, put("v")).await;
    let renew = Next::Renew { lease: ttl(SECOND), keep: ttl(60 * SECOND) };

    mark(&server, "others").await;
    store.read(&key("a"), Touch::No).await.expect("a read");
    store.read(&key("a"), Touch::Lease(ttl(SECOND))).await.expect("a touch");
    let renewed = win(&store, "a", Expect::Version(first.version), renew).await;
    win(&store, "a", Expect::Version(renewed.version), Next::Delete).await;
    store.scan("", None, 10).await.expect("a listing");
    store.sweep(10).await.expect("a sweep");
    let sent = statements(&server, "mark others");
    assert_eq!(sent.len(), 6, "{sent:#?}");
}

/// A replay writes nothing, so it waits for no disk and leaves nothing to clear up.
#[tokio::test]
async fn a_lost_swap_and_a_read_write_nothing() {
    let server = server().await;
    let store = PostgresStore::builder(&server.url()).hints(HintSource::Off).open().await;
    let store = store.expect("a store");
    win(&store, "a", Expect::Absent, put("v")).await;
    let written = "SELECT pg_current_wal_insert_lsn(), pg_snapshot_xmax(pg_current_snapshot())";
    // What the server writes by itself is not ours: a quiet moment is found.
    eventually(PATIENCE, "a moment in which nothing is written", || async {
        let before = server.sql(written).await.expect("an answer");
        for _ in 0..50 {
            assert!(matches!(claim(&store, "a").await, Ok(Swap::Lost(_))));
            look(&store, "a").await.expect("it is there");
        }
        (server.sql(written).await.expect("an answer") == before).then_some(())
    })
    .await
    .expect("lost swaps and reads must write nothing");
}

/// Claims and outcomes wait for the disk, renewals and releases do not.
#[tokio::test]
async fn each_call_is_as_durable_as_it_must_be() {
    // A default that the store must not take over.
    let server = PostgresServer::builder()
        .setting("synchronous_commit", "off")
        // Nothing gets to the disk by itself while this test looks.
        .setting("wal_writer_delay", "10s")
        .start()
        .await
        .expect("a server");
    let store = open(&server).await;
    let behind = "SELECT pg_current_wal_insert_lsn() > pg_current_wal_flush_lsn()";
    let is_behind = async || server.sql(behind).await.expect("an answer") == "t";
    let claimed = win(&store, "a", Expect::Absent, put("v")).await;
    assert!(!is_behind().await, "a claim must be on the disk");
    let renew = Next::Renew { lease: ttl(SECOND), keep: ttl(60 * SECOND) };
    let renewed = win(&store, "a", Expect::Version(claimed.version), renew).await;
    assert!(is_behind().await, "a renewal must not wait for the disk");
    let done = win(&store, "a", Expect::Version(renewed.version), outcome()).await;
    assert!(!is_behind().await, "an outcome must be on the disk, with all before it");
    win(&store, "a", Expect::Version(done.version), Next::Delete).await;
    assert!(is_behind().await, "a release must not wait for the disk");
    assert_eq!(server.sql("SHOW synchronous_commit").await.expect("an answer"), "off");
}

// ===== wake-ups =====

/// A transaction that notifies commits alone: nobody may pay for wake-ups that nobody waits for.
#[tokio::test]
async fn changes_notify_only_where_somebody_waits() {
    let server = server().await;
    let store = open(&server).await;
    let (listener, mut connection) =
        tokio_postgres::connect(&server.url(), tokio_postgres::NoTls).await.expect("a connection");
    let (heard, mut hear) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(Ok(message)) = std::future::poll_fn(|cx| connection.poll_message(cx)).await {
            let _ = heard.send(message);
        }
    });
    listener.batch_execute("LISTEN semel_changed").await.expect("it listens");
    win(&store, "a", Expect::Absent, put("v")).await;
    win(&store, "a", Expect::Any, Next::Delete).await;
    listener.batch_execute("SELECT 1").await.expect("an answer");
    assert!(hear.try_recv().is_err(), "nobody waits");

    let _waiting = store.changed(&key("a"));
    watched(&server, "a").await;
    win(&store, "a", Expect::Any, put("v")).await;
    within(PATIENCE, "a notification", hear.recv()).await.expect("in time").expect("one");
    // It does not give the key away to whoever listens.
    win(&store, "a", Expect::Any, put("v")).await;
    let told = within(PATIENCE, "a notification", hear.recv()).await.expect("in time");
    let tokio_postgres::AsyncMessage::Notification(told) = told.expect("one") else {
        panic!("a notification");
    };
    assert_eq!(told.payload().len(), 32, "a digest, and nothing else");
}

/// Waits until the table knows that a key is waited for.
async fn watched(server: &PostgresServer, at: &str) {
    let digest = key(at).digest().as_bytes().map(|byte| format!("{byte:02x}")).concat();
    let sql = format!("SELECT count(*) FROM semel.semel_watch WHERE digest = '\\x{digest}'");
    eventually(PATIENCE, "a watch", || async {
        (server.sql(&sql).await.ok()? == "1").then_some(())
    })
    .await
    .expect("it must be told to the table");
}

#[tokio::test]
async fn a_change_elsewhere_wakes_within_a_second_also_after_the_connection_was_lost() {
    let server = server().await;
    let (store, other) = (open(&server).await, open(&server).await);
    for round in 0..3 {
        let at = format!("a:{round}");
        // Waits as an engine does: listens, looks, and waits then.
        let woken = tokio::spawn({
            let (store, at) = (store.clone(), at.clone());
            async move {
                loop {
                    let hint = store.changed(&key(&at));
                    if look(&store, &at).await.is_some() {
                        return;
                    }
                    hint.await;
                }
            }
        });
        watched(&server, &at).await;
        win(&other, &at, Expect::Absent, put("v")).await;
        within(SECOND * 5, "the wake-up", woken).await.expect("in time").expect("no panic");
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                   WHERE query LIKE '%semel_watch%' AND application_name = 'semel'";
        server.sql(end).await.expect("an answer");
    }
}
