//! Rows that others hold, connections that run out, callers that go away, clocks that go back.

mod support;

use std::time::Duration;

use futures_util::FutureExt;
use semel_core::{Expect, Next, Store, StoreErrorKind, Swap, Touch, Version};
use semel_postgres::PostgresStore;
use semel_testkit::{PostgresServer, eventually, within};
use support::*;
use tokio_postgres::{Client, NoTls};

/// A connection beside the store's, as an application has one.
async fn client(server: &PostgresServer) -> Client {
    let (client, connection) =
        tokio_postgres::connect(&server.url(), NoTls).await.expect("a connection");
    tokio::spawn(connection);
    client
}

/// Makes, changes or removes a row in a transaction that stays open.
async fn hold(client: &Client, sql: &str) {
    client.batch_execute(&format!("BEGIN; {sql}")).await.expect("a transaction");
}

const INSERT: &str = "INSERT INTO semel.semel_entry VALUES \
                      ('a', 7, 9000000000000000, 9000000000000000, 'theirs')";
const UPDATE: &str = "UPDATE semel.semel_entry SET version = version + 1 WHERE key = 'a'";

// ===== F-120, F-121: rows that others hold =====

#[tokio::test]
async fn a_claim_that_another_transaction_makes_is_waited_for_and_then_shown() {
    let server = server().await;
    let store = open(&server).await;
    let other = client(&server).await;
    hold(&other, INSERT).await;
    let lost = tokio::spawn({
        let store = store.clone();
        async move { claim(&store, "a").await }
    });
    waits_for_a_lock(&server).await;
    other.batch_execute("COMMIT").await.expect("a commit");
    // There is no moment at which who lost sees nothing.
    match lost.await.expect("no panic").expect("a swap") {
        Swap::Lost(there) => assert_eq!(there.entry.expect("the winner's").value, "theirs"),
        Swap::Won(stamp) => panic!("it was there first: {stamp:?}"),
    }
}

#[tokio::test]
async fn a_claim_that_another_transaction_undoes_is_won_and_stamped_after_the_wait() {
    let server = server().await;
    let store = open(&server).await;
    let other = client(&server).await;
    hold(&other, INSERT).await;
    let claimed = tokio::spawn({
        let store = store.clone();
        async move { claim(&store, "a").await }
    });
    waits_for_a_lock(&server).await;
    let before = store.read(&key("elsewhere"), Touch::No).await.expect("a read").now;
    semel_testkit::pass(Duration::from_millis(20)).await;
    other.batch_execute("ROLLBACK").await.expect("a rollback");
    match claimed.await.expect("no panic").expect("a swap") {
        Swap::Won(stamp) => assert!(stamp.now > before, "the clock is asked after the wait"),
        Swap::Lost(there) => panic!("nobody else made it: {there:?}"),
    }
}

/// A loser that had looked at the row before somebody else deleted it.
#[tokio::test]
async fn a_delete_that_waited_for_another_delete_finds_nothing() {
    let server = server().await;
    let store = open(&server).await;
    win(&store, "a", Expect::Absent, put("v")).await;
    let other = client(&server).await;
    hold(
        &other,
        "UPDATE semel.semel_entry SET version = version + 1, lease_at = 0, keep_at = 0, value = NULL",
    )
    .await;
    let lost = tokio::spawn({
        let store = store.clone();
        async move { store.swap(&key("a"), Expect::Any, Next::Delete).await }
    });
    waits_for_a_lock(&server).await;
    other.batch_execute("COMMIT").await.expect("a commit");
    match lost.await.expect("no panic").expect("a swap") {
        Swap::Lost(there) => assert_eq!(there.entry, None),
        Swap::Won(stamp) => panic!("nothing was left to delete: {stamp:?}"),
    }
}

#[tokio::test]
async fn a_row_that_stays_held_is_not_applied_and_the_call_leaves_nothing_behind() {
    let server = server().await;
    let store = hasty(&server.url()).open().await.expect("a store");
    let first = win(&store, "a", Expect::Absent, put("v")).await;
    let other = client(&server).await;
    hold(&other, UPDATE).await;
    let expect = Expect::Version(first.version);
    for next in [put("w"), Next::Renew { lease: ttl(SECOND), keep: ttl(SECOND) }, Next::Delete] {
        let held = within(SECOND, "an answer", store.swap(&key("a"), expect, next)).await;
        assert_eq!(kind(held.expect("in time")), StoreErrorKind::NotApplied);
    }
    let touched = store.read(&key("a"), Touch::Lease(ttl(SECOND))).await;
    assert_eq!(kind(touched), StoreErrorKind::NotApplied);
    // Reading waits for nobody, nor does a swap that loses, nor a sweep.
    assert_eq!(look(&store, "a").await.expect("it is there").value, "v");
    assert!(matches!(claim(&store, "a").await, Ok(Swap::Lost(_))), "a replay does not wait");
    assert_eq!(store.sweep(10).await.expect("a sweep"), 0);
    other.batch_execute("ROLLBACK").await.expect("a rollback");
    assert_eq!(look(&store, "a").await.expect("it is there").version, first.version);
}

/// F-67: what somebody is about to claim anew is not swept away under them.
#[tokio::test]
async fn a_sweep_passes_over_an_ended_row_that_is_being_claimed() {
    let server = server().await;
    let store = open(&server).await;
    let short = ttl(Duration::from_millis(1));
    for at in ["a", "b"] {
        win(&store, at, Expect::Absent, Next::Put { value: "v".into(), lease: short, keep: short })
            .await;
    }
    semel_testkit::pass(Duration::from_millis(10)).await;
    let other = client(&server).await;
    hold(&other, "UPDATE semel.semel_entry SET keep_at = 9000000000000000 WHERE key = 'a'").await;
    assert_eq!(store.sweep(10).await.expect("a sweep"), 1, "only what nobody holds");
    other.batch_execute("COMMIT").await.expect("a commit");
    assert_eq!(store.sweep(10).await.expect("a sweep"), 0);
    assert!(look(&store, "a").await.is_some(), "it was claimed anew");
}

async fn waits_for_a_lock(server: &PostgresServer) {
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    eventually(PATIENCE, "a call that waits", || async {
        (server.sql(waiting).await.ok()? != "0").then_some(())
    })
    .await
    .expect("it must wait");
}

// ===== connections =====

#[tokio::test]
async fn a_call_that_gets_no_connection_is_not_applied_and_never_made() {
    let server = server().await;
    let store = PostgresStore::builder(&server.url())
        .connections(1)
        .call_timeout(Duration::from_millis(1_000))
        .lock_timeout(Duration::from_millis(350));
    let store = store.open().await.expect("a store");
    win(&store, "a", Expect::Absent, put("v")).await;
    let other = client(&server).await;
    hold(&other, UPDATE).await;
    // Some that are held one after the other on the only connection, and one that gets no turn.
    let blocked = (0..4).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.swap(&key("a"), Expect::Any, put("w")).await })
    });
    let blocked: Vec<_> = blocked.collect();
    waits_for_a_lock(&server).await;
    let error = claim(&store, "b").await.expect_err("no connection is free");
    assert_eq!(error.kind(), StoreErrorKind::NotApplied, "{error}");
    assert!(error.message().contains("no connection"), "{error}");
    for blocked in blocked {
        let _ = blocked.await.expect("no panic");
    }
    other.batch_execute("ROLLBACK").await.expect("a rollback");
    recovered(&store).await;
    assert_eq!(look(&store, "b").await, None, "what got no connection was never made");
    win(&store, "b", Expect::Absent, put("v")).await;
}

/// A server that has no connection left for us.
#[tokio::test]
async fn too_many_clients_is_not_applied_and_passes() {
    let server = PostgresServer::builder()
        .setting("max_connections", 4)
        .setting("superuser_reserved_connections", 0)
        .start()
        .await
        .expect("a server");
    let store = hasty(&server.url()).open().await.expect("a store");
    // The store's first connection is gone by now or will be.
    let mut others = Vec::new();
    while let Ok((client, connection)) = tokio_postgres::connect(&server.url(), NoTls).await {
        tokio::spawn(connection);
        others.push(client);
    }
    let error = claim(&store, "a").await.expect_err("there is no connection left");
    assert_eq!(error.kind(), StoreErrorKind::NotApplied, "{error}");
    drop(others);
    recovered(&store).await;
    win(&store, "a", Expect::Absent, put("v")).await;
}

/// F-31, F-126: whoever goes away at whatever moment, the next borrower finds a clean connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_that_go_away_leave_no_dirty_connection() {
    let server = server().await;
    let store = PostgresStore::builder(&server.url()).connections(3).open().await.expect("a store");
    for round in 0_u32..300 {
        let at = key(&format!("dropped:{round}"));
        let value = round.to_be_bytes().to_vec();
        let call = store.swap(&at, Expect::Absent, put(value));
        // Dropped after a while: before, during or after the exchange.
        let patience = Duration::from_micros(u64::from(round % 30) * 100);
        let _ = within(patience, "the call", call).await;
        let _ = store.read(&at, Touch::No).now_or_never();
    }
    for round in 0_u32..300 {
        // Each reply belongs to the call that it is an answer to.
        let at = format!("dropped:{round}");
        if let Some(entry) = look(&store, &at).await {
            assert_eq!(entry.value, round.to_be_bytes().to_vec(), "{at}");
        }
        win(&store, &format!("after:{round}"), Expect::Absent, put("v")).await;
    }
    let ours = "SELECT count(*), count(*) FILTER (WHERE state LIKE '%transaction%') \
                FROM pg_stat_activity WHERE application_name = 'semel' AND query NOT LIKE 'LISTEN%'";
    let seen = server.sql(ours).await.expect("an answer");
    let (count, open) = seen.split_once('|').expect("two columns");
    assert!(
        count.parse::<u32>().expect("a number") <= 3,
        "no more connections than allowed: {seen}"
    );
    assert_eq!(open, "0", "no transaction may be open");
}

// ===== F-130 =====

/// Under a default that undoes who comes second, calls are sent again, and what is told is right.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stricter_default_isolation_costs_retries_and_no_update() {
    for isolation in ["repeatable read", "serializable"] {
        let server = PostgresServer::builder()
            .setting("default_transaction_isolation", isolation)
            .start()
            .await
            .expect("a server");
        let store = open(&server).await;
        win(&store, "count", Expect::Absent, put(vec![0])).await;
        let tasks = (0..8).map(|_| tokio::spawn(increment(store.clone())));
        let tasks: Vec<_> = tasks.collect();
        for task in tasks {
            task.await.expect("no panic");
        }
        assert_eq!(look(&store, "count").await.expect("it is there").value, vec![40]);
    }
}

/// Five times, tried again whenever it was surely not applied.
async fn increment(store: PostgresStore) {
    for _ in 0..5 {
        loop {
            let seen = look(&store, "count").await.expect("it is there");
            let next = put(vec![seen.value[0] + 1]);
            match store.swap(&key("count"), Expect::Version(seen.version), next).await {
                Ok(Swap::Won(_)) => break,
                Ok(Swap::Lost(_)) => {}
                Err(error) => assert_eq!(error.kind(), StoreErrorKind::NotApplied, "{error}"),
            }
        }
    }
}

// ===== F-128: a clock that went back =====

/// The server's clock is an hour behind what it was when the row was written.
#[tokio::test]
async fn versions_rise_past_those_of_a_clock_that_has_gone_back() {
    let server = server().await;
    let store = open(&server).await;
    let hour: u64 = 3_600_000_000;
    let mut last = win(&store, "a", Expect::Absent, put("v")).await.version;
    for end in ["", "UPDATE semel.semel_entry SET keep_at = 1", "DELETE"] {
        let later = Version::new(last.get() + hour);
        let sql = format!("UPDATE semel.semel_entry SET version = {later} WHERE key = 'a'");
        server.sql(&sql).await.expect("an update");
        match end {
            "DELETE" => drop(win(&store, "a", Expect::Any, Next::Delete).await),
            "" => {}
            sql => drop(server.sql(sql).await.expect("an end")),
        }
        if !end.is_empty() {
            store.sweep(100).await.expect("a sweep");
            let rows = server.sql("SELECT count(*) FROM semel.semel_entry").await;
            assert_eq!(rows.expect("an answer"), "0", "its row must be gone");
        }
        let again = win(&store, "a", Expect::Any, put("v")).await;
        assert!(again.version > later, "{again:?} must be above {later:?} after {end:?}");
        last = again.version;
    }
}

/// A key whose row was swept, while the clock is behind: all others are above it too, and rise.
#[tokio::test]
async fn the_floor_holds_for_claims_that_race_with_the_sweep() {
    let server = server().await;
    let store = open(&server).await;
    let future = 9_000_000_000_000_000_u64;
    for round in 0..20_u64 {
        let floor = Version::new(future + round * 1_000);
        let insert = format!(
            "INSERT INTO semel.semel_entry SELECT 'r:' || n, {floor}, 1, 1, 'x' \
             FROM generate_series(1, 20) AS n ON CONFLICT (key) DO UPDATE \
             SET version = {floor}, keep_at = 1, lease_at = 1"
        );
        server.sql(&insert).await.expect("rows");
        let sweeping = tokio::spawn({
            let store = store.clone();
            async move { store.sweep(100).await }
        });
        for number in 1..=20 {
            let claimed = win(&store, &format!("r:{number}"), Expect::Absent, put("v")).await;
            assert!(claimed.version > floor, "{claimed:?} must be above {floor:?}");
        }
        sweeping.await.expect("no panic").expect("a sweep");
    }
}

// ===== damage =====

#[tokio::test]
async fn a_row_that_can_not_be_right_is_damaged_and_never_absent() {
    let server = server().await;
    let store = open(&server).await;
    win(&store, "a", Expect::Absent, put("v")).await;
    server.sql("UPDATE semel.semel_entry SET version = -5").await.expect("an update");
    assert_eq!(kind(store.read(&key("a"), Touch::No).await), StoreErrorKind::Damaged);
    assert_eq!(kind(claim(&store, "a").await), StoreErrorKind::Damaged);
    server.sql("UPDATE semel.semel_entry SET version = 5, value = NULL").await.expect("an update");
    assert_eq!(kind(store.read(&key("a"), Touch::No).await), StoreErrorKind::Damaged);
}
