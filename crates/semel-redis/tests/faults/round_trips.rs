//! What calls cost, counted by the server.

use semel_core::{Expect, Next, Store, Touch, Ttl};
use semel_testkit::RedisServer;

use crate::support::{claim, key, lasting, lost, open, patient, won};

/// The server's count of what came from outside scripts.
async fn commands(server: &RedisServer) -> (u64, u64) {
    let calls = async |name| server.calls(name).await.expect("a count");
    (calls("evalsha").await, calls("eval").await)
}

#[tokio::test]
async fn every_call_is_one_command() {
    let server = RedisServer::start().await.expect("a server");
    let store = open(patient(&server.url())).await;
    let before = commands(&server).await;
    let processed = async || {
        let info = server.info("commandstats", "cmdstat_info").await.expect("a count");
        drop(info);
        server.info("stats", "total_reads_processed").await.expect("a count")
    };
    let reads_before: u64 = processed().await.and_then(|it| it.parse().ok()).unwrap_or(0);

    let held = won(claim(&store, &key("k"), "held").await);
    won(store.swap(&key("k"), Expect::Version(held.version), lasting("done")).await);
    lost(claim(&store, &key("k"), "replayed").await);
    store.read(&key("k"), Touch::No).await.expect("a read");
    store.read(&key("k"), Touch::Lease(Ttl::MAX)).await.expect("a touch");
    won(store.swap(&key("k"), Expect::Any, Next::Delete).await);
    store.sweep(100).await.expect("a sweep");

    let after = commands(&server).await;
    assert_eq!(after.0 - before.0, 6, "claim, completion, replay, read, touch, delete");
    assert_eq!(after.1 - before.1, 0, "no script is sent again");
    // Reads of sockets: six of ours, and those of this test's own questions (two commands each
    // time, each on a connection of its own).
    let reads_after: u64 = processed().await.and_then(|it| it.parse().ok()).unwrap_or(0);
    assert!(reads_after - reads_before <= 6 + 16, "{}", reads_after - reads_before);
}

/// With acknowledgement the same round trip carries one command more.
#[tokio::test]
async fn an_acknowledged_write_is_still_one_round_trip() {
    let group = semel_testkit::RedisSentinel::start(1).await.expect("servers");
    let builder =
        patient(&group.url()).ack(semel_redis::Ack::All).ack_timeout(crate::support::LIMIT);
    let store = open(builder).await;
    let primary = &group.nodes[0];
    let waits = async || primary.calls("wait").await.expect("a count");
    let (before, waited) = (commands(primary).await, waits().await);
    let held = won(claim(&store, &key("k"), "held").await);
    won(store.swap(&key("k"), Expect::Version(held.version), lasting("done")).await);
    store.read(&key("k"), Touch::No).await.expect("a read");
    let after = commands(primary).await;
    assert_eq!((after.0 - before.0, after.1 - before.1), (3, 0));
    assert_eq!(waits().await - waited, 2, "one for each write, none for a read");
}
