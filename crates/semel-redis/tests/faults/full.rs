//! The server has no memory left: F-101.

use semel_core::{Expect, Next, Refusal, Store, StoreErrorKind, Touch, Ttl};
use semel_testkit::RedisServer;

use crate::support::{claim, key, kind, lasting, millis, open, patient, ttl, value, won};

/// A server that is full from here on.
async fn fill(server: &RedisServer) {
    server.command(&["CONFIG", "SET", "maxmemory", "1"]).await.expect("a setting");
}

#[tokio::test]
async fn a_full_server_refuses_claims_and_lets_those_under_way_be_recorded() {
    let server = RedisServer::start().await.expect("a server");
    let store = open(patient(&server.url())).await;
    let held = won(claim(&store, &key("held"), "held").await);
    let other = won(claim(&store, &key("other"), "held").await);
    fill(&server).await;
    let full = StoreErrorKind::Refused(Refusal::Full);
    assert_eq!(kind(claim(&store, &key("new"), "v").await), full);
    assert_eq!(value(&store, &key("new")).await, None, "a refused claim leaves nothing");
    assert_eq!(kind(store.swap(&key("new"), Expect::Any, lasting("v")).await), full);

    // Renewed, touched, completed with a large answer, released: all without room.
    let renew = Next::Renew { lease: ttl(millis(60_000)), keep: ttl(millis(60_000)) };
    let renewed = won(store.swap(&key("held"), Expect::Version(held.version), renew).await);
    let touched = store.read(&key("held"), Touch::Lease(Ttl::MAX)).await.expect("a touch");
    let lease_left = touched.entry.expect("it is there").lease_left;
    assert!(lease_left > ttl(millis(50_000)), "the touch must have been applied: {lease_left:?}");
    let answer = lasting(vec![7; 100_000]);
    won(store.swap(&key("held"), Expect::Version(renewed.version), answer).await);
    assert_eq!(value(&store, &key("held")).await.expect("it is there").len(), 100_000);
    won(store.swap(&key("other"), Expect::Version(other.version), Next::Delete).await);
    assert_eq!(value(&store, &key("other")).await, None);
    // A replay costs no memory.
    crate::support::lost(claim(&store, &key("held"), "v").await);
}

#[tokio::test]
async fn a_full_server_can_be_connected_to_and_says_so() {
    let server = RedisServer::start().await.expect("a server");
    let before = open(patient(&server.url())).await;
    won(claim(&before, &key("k"), "first").await);
    fill(&server).await;
    let store = open(patient(&server.url())).await;
    crate::support::lost(claim(&store, &key("k"), "second").await);
    let report = store.preflight().await.expect("a report").to_string();
    assert!(report.contains("warning: memory: maxmemory is reached"), "{report}");
    // With room again, it goes on.
    server.command(&["CONFIG", "SET", "maxmemory", "100mb"]).await.expect("a setting");
    won(claim(&store, &key("new"), "v").await);
}

/// What a server that takes no writes for the time being still does, and what it does not.
async fn assert_reads_only(store: &semel_redis::RedisStore) {
    assert_eq!(kind(claim(store, &key("new"), "v").await), StoreErrorKind::NotApplied);
    let completion = store.swap(&key("done"), Expect::Any, lasting("w")).await;
    assert_eq!(kind(completion), StoreErrorKind::NotApplied);
    // A replay and a read need no write.
    assert_eq!(crate::support::lost(claim(store, &key("done"), "v").await).value, "done");
    assert_eq!(value(store, &key("done")).await.expect("it is there"), "done");
    assert_eq!(value(store, &key("new")).await, None, "a claim that failed leaves nothing");
}

/// `NOREPLICAS`: too few replicas for the server's own setting.
#[tokio::test]
async fn a_server_with_too_few_replicas_replays_and_takes_nothing_new() {
    let server = RedisServer::start().await.expect("a server");
    let store = open(patient(&server.url())).await;
    won(claim(&store, &key("done"), "done").await);
    server.command(&["CONFIG", "SET", "min-replicas-to-write", "1"]).await.expect("a setting");
    assert_reads_only(&store).await;
    server.command(&["CONFIG", "SET", "min-replicas-to-write", "0"]).await.expect("a setting");
    won(claim(&store, &key("new"), "v").await);
}

/// `MISCONF`: snapshots fail, as on a full disk.
#[tokio::test]
async fn a_server_that_cannot_write_its_disk_replays_and_takes_nothing_new() {
    let server =
        RedisServer::builder().set("save", "3600 1000000").start().await.expect("a server");
    let store = open(patient(&server.url())).await;
    won(claim(&store, &key("done"), "done").await);
    // A directory stands where the snapshot should go.
    std::fs::create_dir(server.directory().join("dump.rdb")).expect("a directory");
    server.command(&["BGSAVE"]).await.expect("a snapshot that begins");
    semel_testkit::eventually(crate::support::LIMIT, "a snapshot that fails", || async {
        let status = server.info("persistence", "rdb_last_bgsave_status").await.ok()??;
        (status == "err").then_some(())
    })
    .await
    .expect("it must fail");
    assert_reads_only(&store).await;
}
