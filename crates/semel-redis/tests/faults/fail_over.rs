//! The primary is lost with what it had not passed on: F-102, F-104.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use semel_core::{Expect, Key, Store, StoreErrorKind};
use semel_redis::{Ack, RedisBuilder, RedisStore};
use semel_testkit::{Direction, RedisSentinel};

use crate::support::{
    LIMIT, claim, key, kind, lasting, lost, millis, open, patient, recovered, value, won,
};

/// Cuts the replica off, so that it gets nothing that is written from here on.
fn cut_off(group: &RedisSentinel) {
    group.links[0].hold(Direction::ToClient);
}

/// Kills the primary as the loss of its host would: nothing that it had sent arrives later.
async fn lose_primary(group: &mut RedisSentinel) -> usize {
    group.links[0].sever(semel_testkit::Cut::Reset);
    group.links[0].refuse(true);
    group.nodes[0].kill();
    group.promoted(0).await.expect("a fail-over")
}

/// All replicas must acknowledge, and may take long on a machine that is slow at times.
fn acked(group: &RedisSentinel) -> RedisBuilder {
    patient(&group.url()).ack(Ack::All).ack_timeout(millis(2_000))
}

/// The control: without acknowledgement by replicas the same call runs twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_ack_a_fail_over_loses_an_acknowledged_claim() {
    let mut group = RedisSentinel::start(1).await.expect("servers");
    let store = open(patient(&group.url())).await;
    won(claim(&store, &key("kept"), "first").await);
    group.in_step(0).await.expect("a replica in step");
    cut_off(&group);
    let first = won(claim(&store, &key("lost"), "first").await);
    lose_primary(&mut group).await;
    recovered(&store).await;
    assert_eq!(lost(claim(&store, &key("kept"), "second").await).value, "first");
    // Twice granted. The version rises all the same: F-104.
    let second = won(claim(&store, &key("lost"), "second").await);
    assert!(second.version > first.version, "{second:?} must be above {first:?}");
}

/// With `ack=all` no claim counts that the replica does not have: nothing is granted twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_ack_all_no_claim_counts_that_a_fail_over_could_lose() {
    let mut group = RedisSentinel::start(1).await.expect("servers");
    let store = open(acked(&group)).await;
    let mut granted = Vec::new();
    for number in 0..50 {
        let key = key(&format!("acked:{number}"));
        won(claim(&store, &key, "first").await);
        granted.push(key);
    }
    cut_off(&group);
    for number in 0..3 {
        let key = key(&format!("short:{number}"));
        assert_eq!(kind(claim(&store, &key, "first").await), StoreErrorKind::Unknown);
        // The claim was taken back: on this primary the key is free again.
        let direct = open(patient(&group.nodes[0].url())).await;
        assert_eq!(value(&direct, &key).await, None, "a claim that does not count must not stay");
    }
    assert_eq!(store.stats().acks_short, 3);
    lose_primary(&mut group).await;
    // The new primary has no replica yet: with `all` nothing counts.
    let refused = semel_testkit::eventually(LIMIT, "a refusal", || async {
        let error = claim(&store, &key("alone"), "v").await.err()?;
        error.to_string().contains("replicas").then_some(error)
    });
    let refused = refused.await.expect("it must be refused");
    assert!(!matches!(refused.kind(), StoreErrorKind::Unknown), "{refused}");
    // What was granted is granted still; what was not is free.
    let store = open(patient(&group.url())).await;
    for key in &granted {
        assert_eq!(lost(claim(&store, key, "second").await).value, "first");
    }
    for number in 0..3 {
        won(claim(&store, &key(&format!("short:{number}")), "second").await);
    }
}

/// A completion that replicas do not acknowledge is unknown, and stays: its owner comes back to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_completion_that_falls_short_is_unknown_and_not_taken_back() {
    let group = RedisSentinel::start(1).await.expect("servers");
    let store = open(acked(&group)).await;
    let held = won(claim(&store, &key("k"), "held").await);
    cut_off(&group);
    let done = store.swap(&key("k"), Expect::Version(held.version), lasting("done")).await;
    assert_eq!(kind(done), StoreErrorKind::Unknown);
    assert_eq!(value(&store, &key("k")).await.expect("it is there"), "done");
    // With the replica back, the same completion is tried again, sees itself, and counts anew.
    group.links[0].release(Direction::ToClient);
    group.in_step(0).await.expect("a replica in step");
    let there = lost(store.swap(&key("k"), Expect::Version(held.version), lasting("done")).await);
    assert_eq!(there.value, "done");
    won(store.swap(&key("k"), Expect::Version(there.version), lasting("done")).await);
}

/// `ack=N` is content with that many: one of two may lag, both may not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ack_of_one_outlasts_one_replica_that_lags_and_not_two() {
    let group = RedisSentinel::start(2).await.expect("servers");
    let builder = patient(&format!("{}?ack=1", group.url())).ack_timeout(millis(2_000));
    let store = open(builder).await;
    group.links[0].hold(Direction::ToClient);
    let held = won(claim(&store, &key("k"), "held").await);
    group.links[1].hold(Direction::ToClient);
    let done = store.swap(&key("k"), Expect::Version(held.version), lasting("done")).await;
    assert_eq!(kind(done), StoreErrorKind::Unknown);
    group.links[0].release(Direction::ToClient);
    group.links[1].release(Direction::ToClient);
    group.in_step(0).await.expect("replicas in step");
    won(claim(&store, &key("other"), "v").await);
}

#[tokio::test]
async fn ack_that_can_never_be_given_is_refused() {
    let alone = semel_testkit::RedisServer::start().await.expect("a server");
    for ack in ["all", "1", "2"] {
        let url = format!("{}?ack={ack}", alone.url());
        let refused = crate::support::hasty(&url).open().await.expect_err("it must be refused");
        assert!(refused.to_string().contains("replicas"), "{refused}");
    }
    let store = open(patient(&format!("{}?ack=none", alone.url()))).await;
    won(claim(&store, &key("k"), "v").await);
}

/// Sentinel moves the primary in an orderly way, while calls go on. The old primary takes writes
/// for a while that are lost: with `ack=all` none of them counts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_ack_all_an_orderly_fail_over_loses_nothing_that_counts() {
    let group = RedisSentinel::start(1).await.expect("servers");
    let builder =
        patient(&group.url()).ack(Ack::All).ack_timeout(millis(500)).patience(millis(500));
    let store = open(builder.clone()).await;
    // The replica may still be busy with its first data.
    semel_testkit::eventually(LIMIT, "an acknowledged claim", || async {
        claim(&store, &key(&format!("first:{}", rand::random::<u64>())), "v").await.ok().map(drop)
    })
    .await
    .expect("it must be acknowledged");
    let over = Arc::new(AtomicBool::new(false));
    let writing = tokio::spawn(write_until(store.clone(), Arc::clone(&over)));
    let promoted = group.fail_over().await.expect("a fail-over");
    let address = group.nodes[promoted].address().to_string();
    semel_testkit::eventually(LIMIT, "a store at the new primary", || async {
        store.preflight().await.ok()?.store().contains(&address).then_some(())
    })
    .await
    .expect("it must follow");
    recovered(&store).await;
    over.store(true, Ordering::Relaxed);
    let granted = writing.await.expect("a task");
    assert!(granted.len() > 20, "the void rule: only {} were granted", granted.len());
    let direct = open(patient(&group.nodes[promoted].url())).await;
    for key in granted {
        assert_eq!(lost(claim(&direct, &key, "second").await).value, "first");
    }
}

/// Claims one key after the other, and gives those that were granted.
async fn write_until(store: RedisStore, over: Arc<AtomicBool>) -> Vec<Key> {
    let mut granted = Vec::new();
    for number in 0.. {
        if over.load(Ordering::Relaxed) {
            break;
        }
        let key = key(&format!("k:{number}"));
        if claim(&store, &key, "first").await.is_ok() {
            granted.push(key);
        }
    }
    granted
}

/// The store hears of the new primary and does not go on with the old one, which still answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_store_leaves_the_old_primary_as_soon_as_sentinel_says_so() {
    let group = RedisSentinel::start(1).await.expect("servers");
    let store = open(patient(&group.url())).await;
    won(claim(&store, &key("k"), "first").await);
    group.in_step(0).await.expect("a replica in step");
    let promoted = group.fail_over().await.expect("a fail-over");
    // Sentinel turns the old primary into a replica only seconds later.
    let followed = semel_testkit::eventually(millis(2_000), "a store that follows", || async {
        let report = store.preflight().await.ok()?;
        report.store().contains(&group.nodes[promoted].address().to_string()).then_some(())
    });
    followed.await.expect("it must follow at once");
    assert_eq!(lost(claim(&store, &key("k"), "second").await).value, "first");
}
