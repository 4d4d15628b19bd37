//! Somebody removes data or scripts from under the store, or the server does.

use semel_core::{Expect, Refusal, Store, StoreErrorKind, Touch};
use semel_redis::Check;
use semel_testkit::RedisServer;

use crate::support::{claim, key, kind, lasting, lost, open, patient, value, won};

/// The control: what was flushed is run again. It is noticed with the first claim.
#[tokio::test]
async fn flushall_loses_everything_and_is_noticed_at_the_next_claim() {
    let server = RedisServer::start().await.expect("a server");
    let store = open(patient(&server.url())).await;
    let first = won(claim(&store, &key("k"), "first").await);
    server.command(&["FLUSHALL"]).await.expect("a flush");
    let gone = store.read(&key("k"), Touch::No).await.expect("a read");
    assert_eq!(gone.entry, None);
    let second = won(claim(&store, &key("k"), "second").await);
    assert!(second.version > first.version, "{second:?} must be above {first:?}");
    assert_eq!(store.stats().losses, 1);
}

/// F-107: the server forgets its scripts. They are sent again, and the call does what it does.
#[tokio::test]
async fn script_flush_costs_one_more_trip_and_nothing_else() {
    let server = RedisServer::start().await.expect("a server");
    let store = open(patient(&server.url())).await;
    server.command(&["SCRIPT", "FLUSH"]).await.expect("a flush");
    let first = won(claim(&store, &key("k"), "first").await);
    assert_eq!(store.stats().scripts_sent, 1);
    assert_eq!(lost(claim(&store, &key("k"), "second").await).version, first.version);
    assert_eq!(store.stats().scripts_sent, 1, "the server knows it now");
    server.command(&["SCRIPT", "FLUSH"]).await.expect("a flush");
    assert_eq!(value(&store, &key("k")).await.expect("it is there"), "first");
    assert_eq!(store.stats().scripts_sent, 2);
}

fn evicting() -> semel_testkit::RedisServerBuilder {
    RedisServer::builder().set("maxmemory", "3mb").set("maxmemory-policy", "allkeys-lru")
}

#[tokio::test]
async fn a_server_that_evicts_is_refused_by_name() {
    let server = evicting().start().await.expect("a server");
    let refused = patient(&server.url()).open().await.expect_err("it must be refused");
    assert_eq!(refused.kind(), StoreErrorKind::Refused(Refusal::Unusable));
    assert!(refused.to_string().contains("maxmemory-policy"), "{refused}");
    // What it would be refused for can be looked at all the same.
    let report = patient(&server.url()).examine().await.expect("a report").to_string();
    assert!(report.contains("refused: maxmemory-policy: allkeys-lru"), "{report}");
    let volatile = RedisServer::builder().set("maxmemory", "3mb");
    let volatile =
        volatile.set("maxmemory-policy", "volatile-ttl").start().await.expect("a server");
    let refused = patient(&volatile.url()).open().await.expect_err("it must be refused");
    assert!(refused.to_string().contains("maxmemory-policy"), "{refused}");
}

/// The control: on a server that evicts, a call that was claimed can be claimed again.
#[tokio::test]
async fn on_a_server_that_evicts_a_held_claim_is_lost() {
    let server = evicting().start().await.expect("a server");
    let url = format!("{}?accept=maxmemory-policy", server.url());
    let store = open(patient(&url)).await;
    won(claim(&store, &key("held"), "first").await);
    let names = server.command(&["KEYS", "semel:{*}:held"]).await.expect("a listing");
    let semel_testkit::RedisReply::Many(names) = names else { panic!("{names:?}") };
    let held = names[0].text().expect("a name").to_owned();
    // Which of the entries of one second goes first is chance: the server samples a few.
    let mut fillers = 0..10_000;
    let there = semel_testkit::RedisReply::Number(1);
    while server.command(&["EXISTS", &held]).await.expect("a count") == there {
        for number in fillers.by_ref().take(50) {
            let key = key(&format!("filler:{number}"));
            won(store.swap(&key, Expect::Any, lasting(vec![7; 32_768])).await);
        }
        assert!(!fillers.is_empty(), "the void rule: nothing was evicted");
    }
    won(claim(&store, &key("held"), "second").await);
}

#[tokio::test]
async fn a_server_that_begins_to_evict_is_refused_when_the_connection_is_made_again() {
    let mut server = RedisServer::start().await.expect("a server");
    let store = open(crate::support::hasty(&server.url())).await;
    won(claim(&store, &key("k"), "v").await);
    server.command(&["CONFIG", "SET", "maxmemory", "3mb"]).await.expect("a setting");
    server.command(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]).await.expect("a setting");
    server.command(&["CONFIG", "REWRITE"]).await.expect("a setting");
    server.restart().await.expect("a restart");
    semel_testkit::eventually(crate::support::LIMIT, "a refusal", || async {
        let refused = claim(&store, &key("other"), "v").await.err()?;
        (refused.kind() == StoreErrorKind::Refused(Refusal::Unusable)).then_some(())
    })
    .await
    .expect("it must be refused");
    // Accepted by its name, it is used.
    let accepted = crate::support::hasty(&server.url()).accept(Check::Eviction);
    won(claim(&open(accepted).await, &key("other"), "v").await);
}

#[tokio::test]
async fn what_is_no_entry_is_damaged_and_never_absent() {
    let server = RedisServer::start().await.expect("a server");
    let store = open(patient(&server.url())).await;
    won(claim(&store, &key("k"), "v").await);
    let keys = server.command(&["KEYS", "semel:{*}:k"]).await.expect("a listing");
    let semel_testkit::RedisReply::Many(names) = keys else { panic!("{keys:?}") };
    let name = names[0].text().expect("a name").to_owned();
    for damage in [
        vec!["SET", &name, "something else"],
        vec!["SET", &name, "S1 1 2 3\nshort digits"],
        vec!["SET", &name, "S2 0000000000000001 0000000000000001 0000000000000001\nv"],
        vec!["LPUSH", &name, "a list"],
    ] {
        server.command(&["DEL", &name]).await.expect("a delete");
        server.command(&damage).await.expect("a write");
        let read = store.read(&key("k"), Touch::No).await;
        assert_eq!(kind(read), StoreErrorKind::Damaged, "{damage:?}");
        let swap = claim(&store, &key("k"), "v").await;
        assert_eq!(kind(swap), StoreErrorKind::Damaged, "{damage:?}");
    }
}

/// What is no counter is written over; the versions go on from the clock, and it counts as a loss.
#[tokio::test]
async fn a_counter_that_is_none_is_made_anew() {
    let server = RedisServer::start().await.expect("a server");
    let store = open(patient(&server.url())).await;
    let mut last = won(claim(&store, &key("k"), "v").await);
    let names = server.command(&["KEYS", "semel:{*}"]).await.expect("a listing");
    let semel_testkit::RedisReply::Many(names) = names else { panic!("{names:?}") };
    let names: Vec<&str> = names.iter().filter_map(semel_testkit::RedisReply::text).collect();
    for damage in [&["LPUSH", "a list"][..], &["SET", "text"], &["SET", "9999999999999999"]] {
        for name in &names {
            server.command(&["DEL", name]).await.expect("a delete");
            server.command(&[damage[0], name, damage[1]]).await.expect("a write");
        }
        let stamp = won(store.swap(&key("k"), Expect::Any, lasting("v")).await);
        assert!(stamp.version > last.version, "{stamp:?} must be above {last:?}: {damage:?}");
        last = stamp;
    }
    assert_eq!(store.stats().losses, 1);
}

/// The counter runs ahead of the clock, as after a clock that was set back.
#[tokio::test]
async fn versions_go_on_from_a_counter_that_is_ahead_of_the_clock() {
    let server = RedisServer::start().await.expect("a server");
    let store = open(patient(&server.url())).await;
    let first = won(claim(&store, &key("k"), "v").await);
    let ahead = first.now.as_micros() + 3_600_000_000;
    let names = server.command(&["KEYS", "semel:{*}"]).await.expect("a listing");
    let semel_testkit::RedisReply::Many(names) = names else { panic!("{names:?}") };
    for name in names.iter().filter_map(semel_testkit::RedisReply::text) {
        server.command(&["SET", name, &format!("{ahead:016}")]).await.expect("a write");
    }
    let second = won(store.swap(&key("k"), Expect::Version(first.version), lasting("w")).await);
    assert_eq!(second.version.get(), ahead + 1);
    let there = lost(claim(&store, &key("k"), "x").await);
    assert_eq!(
        (there.version, there.value),
        (second.version, "w".into()),
        "the entry bears it too"
    );
    let gone = won(store.swap(&key("k"), Expect::Any, semel_core::Next::Delete).await);
    assert_eq!(gone.version.get(), ahead + 2);
    assert_eq!(won(claim(&store, &key("k"), "y").await).version.get(), ahead + 3);
}
