//! The server stops for a while, as a paused machine does, and goes on.

use semel_core::{Expect, Next, Store, StoreErrorKind, Touch, Ttl};
use semel_testkit::{Direction, FaultProxy, RedisServer};

use crate::support::{
    hasty, key, kind, lasting, lost, millis, open, patient, put, recovered, value, won,
};

/// A pause longer than the lease: what was sent meanwhile is unknown, the server judges by its
/// clock when it goes on, and a late owner changes nothing.
#[tokio::test]
async fn a_pause_longer_than_the_lease_ends_it_and_a_late_owner_changes_nothing() {
    let mut server = RedisServer::start().await.expect("a server");
    let store = open(hasty(&server.url())).await;
    let (lease, keep) = (millis(300), millis(60_000));
    let first = won(store.swap(&key("k"), Expect::Absent, put("first", lease, keep)).await);
    server.pause().expect("a pause");
    let renew = Next::Renew { lease: Ttl::MAX, keep: Ttl::MAX };
    let renewal = store.swap(&key("k"), Expect::Version(first.version), renew).await;
    assert_eq!(kind(renewal), StoreErrorKind::Unknown, "it may be applied when the server goes on");
    semel_testkit::pass(lease).await;
    server.resume().expect("an end of the pause");
    recovered(&store).await;
    // The renewal came late. Applied or not, one of the two owns the key now, and never both.
    let seen = store.read(&key("k"), Touch::No).await.expect("a read");
    let there = seen.entry.expect("it is kept");
    let takeover = Expect::Version(there.version);
    let second = won(store.swap(&key("k"), takeover, lasting("second")).await);
    assert!(second.version > first.version);
    let late = store.swap(&key("k"), Expect::Version(first.version), lasting("late")).await;
    assert_eq!(lost(late).value, "second");
}

#[tokio::test]
async fn reads_of_a_paused_server_fail_without_having_changed_anything() {
    let mut server = RedisServer::start().await.expect("a server");
    let store = open(hasty(&server.url())).await;
    server.pause().expect("a pause");
    let read = store.read(&key("k"), Touch::No).await;
    assert_eq!(kind(read), StoreErrorKind::NotApplied);
    let touch = store.read(&key("k"), Touch::Lease(Ttl::MAX)).await;
    let kind = kind(touch);
    // By now the connection is given up, and the touch may not even have been sent.
    assert!(matches!(kind, StoreErrorKind::Unknown | StoreErrorKind::NotApplied), "{kind:?}");
    server.resume().expect("an end of the pause");
    recovered(&store).await;
}

/// F-111: a network that swallows everything. The answer never comes, the connection is replaced,
/// and what was sent is applied once at most.
#[tokio::test]
async fn an_answer_that_never_comes_is_unknown_and_its_connection_is_replaced() {
    let server = RedisServer::start().await.expect("a server");
    let proxy = FaultProxy::start(server.address()).await.expect("a proxy");
    let store = open(hasty(&server.url_at(proxy.address()))).await;
    let direct = open(patient(&server.url())).await;
    for round in 0..5 {
        let key = key(&format!("k:{round}"));
        recovered(&store).await;
        let before = proxy.accepted();
        proxy.hold(Direction::ToClient);
        let claim = store.swap(&key, Expect::Absent, lasting("v")).await;
        assert_eq!(kind(claim), StoreErrorKind::Unknown);
        assert_eq!(value(&direct, &key).await.expect("it was applied"), "v");
        proxy.release(Direction::ToClient);
        recovered(&store).await;
        assert!(proxy.accepted() > before, "a new connection must have been made");
    }
}

/// The same in the other direction: the request never arrives. To the caller it is the same.
#[tokio::test]
async fn a_request_that_never_arrives_is_unknown_too() {
    let server = RedisServer::start().await.expect("a server");
    let proxy = FaultProxy::start(server.address()).await.expect("a proxy");
    let store = open(hasty(&server.url_at(proxy.address()))).await;
    let direct = open(patient(&server.url())).await;
    proxy.drop_bytes(Direction::ToServer, true);
    let claim = store.swap(&key("k"), Expect::Absent, lasting("v")).await;
    assert_eq!(kind(claim), StoreErrorKind::Unknown);
    assert_eq!(value(&direct, &key("k")).await, None);
    proxy.drop_bytes(Direction::ToServer, false);
    recovered(&store).await;
    won(store.swap(&key("k"), Expect::Absent, lasting("v")).await);
}
