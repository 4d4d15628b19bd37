//! Wake-ups from other stores, and what happens to them when connections are lost.

use semel_core::{Expect, Store};
use semel_redis::RedisStore;
use semel_testkit::{Cut, FaultProxy, RedisCluster, RedisServer, within};

use crate::support::{LIMIT, key, lasting, millis, open, patient, won};

/// Two stores: one waits, the other writes.
async fn pair(url: &str) -> (RedisStore, RedisStore) {
    (open(patient(url)).await, open(patient(url)).await)
}

/// Waits as an engine does, and counts the looks it takes to see a value.
async fn looks_until(store: RedisStore, text: String, value: &'static str) -> usize {
    let key = key(&text);
    for looks in 1.. {
        let hint = store.changed(&key);
        let seen = store.read(&key, semel_core::Touch::No).await.expect("a read");
        if seen.entry.is_some_and(|entry| entry.value == value) {
            return looks;
        }
        hint.await;
    }
    unreachable!("it looks as often as it must")
}

async fn assert_woken(waiter: &RedisStore, writer: &RedisStore, text: &str) {
    let waiting = tokio::spawn(looks_until(waiter.clone(), text.to_owned(), "done"));
    semel_testkit::pass(millis(50)).await;
    won(writer.swap(&key(text), Expect::Any, lasting("done")).await);
    let looks = within(LIMIT, "a hint", waiting).await.expect("in time").expect("a task");
    // At first, when the server began to tell, and when it told.
    assert!(looks <= 4, "{looks} looks for one change");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_by_another_store_wakes_within_a_moment() {
    let server = RedisServer::start().await.expect("a server");
    let (waiter, writer) = pair(&server.url()).await;
    for round in 0..20 {
        assert_woken(&waiter, &writer, &format!("k:{round}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_cluster_changes_are_heard_from_every_primary() {
    let cluster = RedisCluster::start().await.expect("servers");
    let (waiter, writer) = pair(&cluster.url()).await;
    for round in 0..20 {
        assert_woken(&waiter, &writer, &format!("k:{round}")).await;
    }
}

/// The slot of a key moves to another primary while somebody waits for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_whose_slot_moves_is_heard_from_its_new_home() {
    let cluster = RedisCluster::start().await.expect("servers");
    let (waiter, writer) = pair(&cluster.url()).await;
    let (key, slot) = crate::cluster::key_at(&cluster, 1).await;
    assert_woken(&waiter, &writer, key.as_str()).await;
    let hint = waiter.changed(&key);
    semel_testkit::pass(millis(100)).await;
    cluster.begin_move(slot, 1, 2).await.expect("a move");
    cluster.move_keys(slot, 1, 2).await.expect("a move");
    cluster.end_move(slot, 2).await.expect("a move");
    won(writer.swap(&key, Expect::Any, lasting("moved")).await);
    within(LIMIT, "a hint from the new home", hint).await.expect("in time");
    won(writer.swap(&key, Expect::Any, lasting("again")).await);
    assert_woken(&waiter, &writer, key.as_str()).await;
}

/// F-113: the connection for hints is lost. Waiters look once when it is back, and hear on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_while_nothing_is_heard_shows_when_it_is_heard_again() {
    let server = RedisServer::start().await.expect("a server");
    let proxy = FaultProxy::start(server.address()).await.expect("a proxy");
    let waiter = open(patient(&server.url_at(proxy.address()))).await;
    let writer = open(patient(&server.url())).await;
    let hint = waiter.changed(&key("k"));
    semel_testkit::pass(millis(100)).await;
    proxy.refuse(true);
    proxy.sever(Cut::Reset);
    won(writer.swap(&key("k"), Expect::Any, lasting("done")).await);
    proxy.refuse(false);
    within(LIMIT, "a hint when it is heard again", hint).await.expect("in time");
    assert_woken(&waiter, &writer, "later").await;
}

/// Ten thousand wait for one key: one subscription, and all are woken.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_waiters_share_one_subscription() {
    let server = RedisServer::start().await.expect("a server");
    let (waiter, writer) = pair(&server.url()).await;
    let before = server.calls("subscribe").await.expect("a count");
    let hints: Vec<_> = (0..10_000).map(|_| waiter.changed(&key("k"))).collect();
    semel_testkit::pass(millis(200)).await;
    won(writer.swap(&key("k"), Expect::Any, lasting("done")).await);
    for hint in hints {
        within(LIMIT, "each hint", hint).await.expect("in time");
    }
    let subscribed = server.calls("subscribe").await.expect("a count") - before;
    assert_eq!(subscribed, 1);
    // After a while nobody listens any more.
    semel_testkit::eventually(LIMIT, "an end of listening", || async {
        let channels = server.command(&["PUBSUB", "CHANNELS", "*"]).await.ok()?;
        (channels == semel_testkit::RedisReply::Many(vec![])).then_some(())
    })
    .await
    .expect("it must end");
}

#[tokio::test]
async fn nobody_who_waits_means_no_connection_for_hints() {
    let server = RedisServer::start().await.expect("a server");
    let store = open(patient(&server.url())).await;
    let connected = async || server.info("clients", "connected_clients").await.expect("a count");
    // Ours, and the one that asks.
    assert_eq!(connected().await.as_deref(), Some("2"));
    let hint = store.changed(&key("k"));
    semel_testkit::eventually(LIMIT, "a connection for hints", || async {
        (connected().await.as_deref() == Some("3")).then_some(())
    })
    .await
    .expect("it must be made");
    drop((hint, store));
    semel_testkit::eventually(LIMIT, "an end of all connections", || async {
        (connected().await.as_deref() == Some("1")).then_some(())
    })
    .await
    .expect("a store that is dropped must close them");
}
