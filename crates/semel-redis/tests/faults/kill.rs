//! The server dies and comes back.

use std::time::Duration;

use semel_core::{Expect, Store, StoreErrorKind};
use semel_testkit::{AppendFsync, RedisServer};

use crate::support::{claim, hasty, key, kind, lasting, lost, millis, open, patient, value, won};

/// F-106: with `appendfsync always` nothing that was acknowledged is lost by `kill -9`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_is_there_after_kill_9() {
    let server = RedisServer::builder().append_only(AppendFsync::Always);
    let mut server = server.start().await.expect("a server");
    let (mut acknowledged, mut unknown) = (0, 0);
    for round in 0..20_u64 {
        let store = open(hasty(&server.url())).await;
        let writer = store.clone();
        let writing = tokio::spawn(async move {
            let mut outcomes = Vec::new();
            for number in 0.. {
                let key = key(&format!("kill:{round}:{number}"));
                let outcome = claim(&writer, &key, "v").await;
                let failed = outcome.is_err();
                outcomes.push((key, outcome));
                if failed {
                    break;
                }
            }
            outcomes
        });
        // Each round at another moment of the writing.
        semel_testkit::pass(millis(25) + Duration::from_micros(round * 731)).await;
        server.kill();
        let outcomes = writing.await.expect("a task");
        server.restart().await.expect("a restart");
        let store = open(patient(&server.url())).await;
        for (key, outcome) in outcomes {
            let there = value(&store, &key).await.is_some();
            match outcome.map_err(|error| error.kind()) {
                Ok(_) => {
                    assert!(there, "an acknowledged claim was lost");
                    acknowledged += 1;
                }
                Err(StoreErrorKind::Unknown) => unknown += 1,
                Err(StoreErrorKind::NotApplied) => assert!(!there, "it was said to be not applied"),
                Err(other) => panic!("a dead server is no {other:?}"),
            }
        }
    }
    assert!(acknowledged > 100, "the void rule: only {acknowledged} were acknowledged");
    assert!(unknown > 0, "the void rule: no kill hit a call");
}

/// F-106: a server that keeps nothing forgets; the store notices, and versions rise all the same.
#[tokio::test]
async fn a_restart_without_data_is_noticed_and_versions_rise() {
    let mut server = RedisServer::start().await.expect("a server");
    let store = open(patient(&server.url())).await;
    let first = won(claim(&store, &key("k"), "first").await);
    assert_eq!(store.stats().losses, 0);
    server.restart().await.expect("a restart");
    // The control: what the server forgot is run again.
    let second = won(claim(&store, &key("k"), "second").await);
    assert!(second.version > first.version, "{second:?} must be above {first:?}");
    assert!(store.stats().losses > 0, "the loss must be noticed");
    let report = store.preflight().await.expect("a report").to_string();
    assert!(report.contains("warning: data: the server lost what it had"), "{report}");
    // An owner from before can do nothing to what came after.
    let late = Expect::Version(first.version);
    assert_eq!(lost(store.swap(&key("k"), late, lasting("late")).await).value, "second");
}

#[tokio::test]
async fn a_restart_with_data_is_no_loss() {
    let server = RedisServer::builder().append_only(AppendFsync::Always);
    let mut server = server.start().await.expect("a server");
    let store = open(patient(&server.url())).await;
    let first = won(claim(&store, &key("k"), "first").await);
    server.restart().await.expect("a restart");
    let there = lost(claim(&store, &key("k"), "second").await);
    assert_eq!((there.version, there.value), (first.version, "first".into()));
    won(claim(&store, &key("other"), "v").await);
    assert_eq!(store.stats().losses, 0);
}

/// F-106, Redlock's "delayed restart": what may still run is not granted again.
#[tokio::test]
async fn after_a_loss_claims_can_be_made_to_wait() {
    let mut server = RedisServer::start().await.expect("a server");
    let store = open(patient(&server.url()).pause_after_loss(millis(400))).await;
    let held = won(claim(&store, &key("k"), "first").await);
    server.restart().await.expect("a restart");
    // The loss shows when the connection comes back, before anything is granted on it.
    crate::support::recovered(&store).await;
    assert_eq!(kind(claim(&store, &key("k"), "second").await), StoreErrorKind::NotApplied);
    // All but claims goes on.
    let renewal = store.swap(&key("k"), Expect::Version(held.version), lasting("x")).await;
    assert!(renewal.is_ok(), "{renewal:?}");
    semel_testkit::pass(millis(400)).await;
    won(claim(&store, &key("k"), "second").await);
}

/// A call that waits for the server to come back is applied once it is there.
#[tokio::test]
async fn a_patient_call_outlasts_a_restart() {
    let server = RedisServer::builder().append_only(AppendFsync::Always);
    let mut server = server.start().await.expect("a server");
    let store = open(patient(&server.url())).await;
    won(claim(&store, &key("before"), "v").await);
    server.kill();
    let waiting = store.clone();
    let waiting = tokio::spawn(async move { claim(&waiting, &key("during"), "v").await });
    semel_testkit::pass(millis(100)).await;
    server.restart().await.expect("a restart");
    match waiting.await.expect("a task") {
        // It was on the wire when the server died, or had not been sent yet.
        Err(error) => assert_eq!(error.kind(), StoreErrorKind::Unknown),
        swap => {
            won(swap);
        }
    }
    won(claim(&store, &key("after"), "v").await);
}

#[tokio::test]
async fn a_server_that_stays_away_fails_calls_within_their_patience_and_then_at_once() {
    let mut server = RedisServer::start().await.expect("a server");
    let store = open(hasty(&server.url())).await;
    server.kill();
    for _ in 0..3 {
        let k = key("k");
        let call = claim(&store, &k, "v");
        let failed = semel_testkit::within(millis(2_000), "a failure", call).await;
        let kind = kind(failed.expect("in time"));
        let fits = matches!(kind, StoreErrorKind::NotApplied | StoreErrorKind::Unknown);
        assert!(fits, "a dead server is no {kind:?}");
    }
    semel_testkit::pass(millis(150)).await;
    // Down for longer than the patience: no call waits any more.
    for _ in 0..100 {
        let k = key("k");
        let call = claim(&store, &k, "v");
        let failed = semel_testkit::within(millis(50), "a failure at once", call).await;
        assert_eq!(kind(failed.expect("at once")), StoreErrorKind::NotApplied);
    }
}
