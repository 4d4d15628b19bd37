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
