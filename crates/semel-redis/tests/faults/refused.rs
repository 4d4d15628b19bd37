//! Servers that do not let the store in, or not do what it must, and servers that are no primary.

use std::error::Error;

use semel_core::{Expect, Next, Refusal, Store, StoreError, StoreErrorKind, Touch, Ttl};
use semel_testkit::RedisServer;

use crate::support::{LIMIT, claim, hasty, key, kind, millis, open, patient, recovered, won};

const CREDENTIALS: StoreErrorKind = StoreErrorKind::Refused(Refusal::Credentials);

/// All that an error may show, its causes included.
fn shown(error: &StoreError) -> String {
    let mut shown = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(error) = source {
        shown.push_str(&format!(" {error} {error:?}"));
        source = error.source();
    }
    shown
}

#[tokio::test]
async fn a_wrong_password_is_refused_and_never_shown() {
    let server = RedisServer::builder().password("right").start().await.expect("a server");
    for url in [
        format!("redis://:wr0ng-one@{}", server.address()),
        format!("redis://nobody:wr0ng-one@{}", server.address()),
        format!("redis://{}", server.address()),
    ] {
        let refused = patient(&url).open().await.expect_err("it must be refused");
        assert_eq!(refused.kind(), CREDENTIALS, "{refused}");
        assert!(!shown(&refused).contains("wr0ng-one"), "{}", shown(&refused));
    }
    let store = open(patient(&server.url())).await;
    won(claim(&store, &key("k"), "v").await);
    let builder = patient(&server.url());
    assert!(!format!("{builder:?} {store:?}").contains("right"), "no password may be shown");
}

#[tokio::test]
async fn a_password_that_is_changed_refuses_when_the_connection_is_made_again() {
    let mut server = RedisServer::builder().password("right").start().await.expect("a server");
    let store = open(hasty(&server.url())).await;
    won(claim(&store, &key("k"), "v").await);
    server.command(&["CONFIG", "SET", "requirepass", "other"]).await.expect("a setting");
    server.restart_with_password("other").await.expect("a restart");
    semel_testkit::eventually(LIMIT, "a refusal", || async {
        let refused = claim(&store, &key("other"), "v").await.err()?;
        (refused.kind() == CREDENTIALS).then_some(())
    })
    .await
    .expect("it must be refused");
}

/// A user that may not do all that the scripts do is refused before anything is half done.
#[tokio::test]
async fn a_user_who_may_not_do_everything_is_refused_at_the_start() {
    let server = RedisServer::start().await.expect("a server");
    let allowed = "+@connection +info +time +eval +evalsha +publish +persist +get +set +getrange \
                   +setrange +pexpireat";
    let acl = format!("ACL SETUSER app on >pw resetchannels ~semel:* &semel:* {allowed}");
    let acl: Vec<&str> = acl.split_whitespace().collect();
    server.command(&acl).await.expect("a user");
    let url = format!("redis://app:pw@{}", server.address());
    // It lacks DEL only.
    let refused = patient(&url).open().await.expect_err("it must be refused");
    assert_eq!(refused.kind(), StoreErrorKind::Refused(Refusal::Unusable));
    assert!(refused.to_string().contains("scripts"), "{refused}");
    server.command(&["ACL", "SETUSER", "app", "+del"]).await.expect("a user");
    let store = open(patient(&url)).await;
    won(claim(&store, &key("k"), "v").await);
    store.read(&key("k"), Touch::No).await.expect("a read");
    let report = store.preflight().await.expect("a report").to_string();
    assert!(report.contains("fine: scripts: they run"), "{report}");
    // Another namespace is not this user's.
    let refused = patient(&format!("{url}?namespace=other")).open().await;
    assert_eq!(kind(refused), StoreErrorKind::Refused(Refusal::Unusable));
    // Taken away while the store is open: refused, and not half done.
    server.command(&["ACL", "SETUSER", "app", "-eval", "-evalsha"]).await.expect("a user");
    assert_eq!(kind(claim(&store, &key("l"), "v").await), CREDENTIALS);
}

/// The rights that the page about the store lists, one word each.
fn documented_rights() -> Vec<&'static str> {
    let page = include_str!("../../../../docs/stores/redis.md");
    let (_, list) = page.split_once("ACL SETUSER semel on >PASSWORD").expect("a list of rights");
    let (list, _) = list.split_once("```").expect("its end");
    let lines = list.lines().map(|line| line.split_once('#').map_or(line, |(words, _)| words));
    lines.flat_map(str::split_whitespace).collect()
}

async fn grant(server: &RedisServer, rights: &[&str]) {
    server.command(&["ACL", "SETUSER", "semel", "on", ">pw"]).await.expect("a user");
    for right in rights {
        let granted = server.command(&["ACL", "SETUSER", "semel", right]).await;
        // Before 7.0 there are no channels in shards.
        let unknown_before_7 = ["+spublish", "+ssubscribe", "+sunsubscribe"].contains(right);
        assert!(granted.is_ok() || unknown_before_7, "{right}: {granted:?}");
    }
}

/// Claims, reads, listings, and a wake-up by another store.
async fn assert_works(url: &str) {
    let (store, other) = (open(patient(url)).await, open(patient(url)).await);
    let report = store.preflight().await.expect("a report");
    for check in ["scripts", "hints"] {
        let found = report.findings().iter().find(|finding| finding.subject == check);
        let level = found.map(|finding| finding.level);
        assert_eq!(level, Some(semel_core::FindingLevel::Fine), "{report}");
    }
    for number in 0..20 {
        won(claim(&store, &key(&format!("k:{number}")), "v").await);
    }
    store.read(&key("k:1"), Touch::Lease(Ttl::MAX)).await.expect("a touch");
    assert_eq!(store.scan("", None, 100).await.expect("a listing").entries.len(), 20);
    let hint = store.changed(&key("k:1"));
    semel_testkit::pass(millis(100)).await;
    won(other.swap(&key("k:1"), Expect::Any, Next::Delete).await);
    semel_testkit::within(LIMIT, "a hint", hint).await.expect("in time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rights_that_the_page_lists_are_enough() {
    let server = RedisServer::start().await.expect("a server");
    grant(&server, &documented_rights()).await;
    assert_works(&format!("redis://semel:pw@{}", server.address())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rights_that_the_page_lists_are_enough_in_a_cluster() {
    let cluster = semel_testkit::RedisCluster::start().await.expect("servers");
    for node in &cluster.nodes {
        grant(node, &documented_rights()).await;
    }
    let url = format!("redis-cluster://semel:pw@{}", cluster.nodes[0].address());
    let report = patient(&url).examine().await.expect("a report").to_string();
    if report.contains("before 7.0") {
        return assert_works_before_7(&url).await;
    }
    assert_works(&url).await;
}

async fn assert_works_before_7(url: &str) {
    let store = open(patient(url)).await;
    won(claim(&store, &key("k"), "v").await);
    assert_eq!(store.scan("", None, 100).await.expect("a listing").entries.len(), 1);
}

#[tokio::test]
async fn a_replica_is_refused() {
    let primary = RedisServer::start().await.expect("a server");
    let of = format!("127.0.0.1 {}", primary.address().port());
    let replica = RedisServer::builder().set("replicaof", of).start().await.expect("a server");
    let refused = hasty(&replica.url()).open().await.expect_err("it must be refused");
    assert_eq!(refused.kind(), StoreErrorKind::Refused(Refusal::Unusable));
    assert!(refused.to_string().contains("a replica"), "{refused}");
}

/// F-108, F-114: a primary is demoted under an open store. It answers nothing any more, not even
/// reads of what it still has, and works again when it is a primary again.
#[tokio::test]
async fn a_demoted_primary_is_not_even_read_from() {
    let other = RedisServer::start().await.expect("a server");
    let server = RedisServer::builder().set("replica-serve-stale-data", "yes");
    let server = server.start().await.expect("a server");
    let store = open(hasty(&server.url())).await;
    won(claim(&store, &key("k"), "v").await);
    let port = other.address().port().to_string();
    server.command(&["REPLICAOF", "127.0.0.1", &port]).await.expect("a demotion");
    let kind_of_read = kind(store.read(&key("k"), Touch::No).await);
    let kind_of_swap = kind(claim(&store, &key("k"), "w").await);
    for kind in [kind_of_read, kind_of_swap] {
        let unusable = StoreErrorKind::Refused(Refusal::Unusable);
        assert!(kind == StoreErrorKind::NotApplied || kind == unusable, "{kind:?}");
    }
    semel_testkit::pass(millis(100)).await;
    server.command(&["REPLICAOF", "NO", "ONE"]).await.expect("a promotion");
    recovered(&store).await;
    won(claim(&store, &key("new"), "v").await);
}

#[tokio::test]
async fn a_host_that_is_not_there_is_not_applied() {
    let port = semel_testkit::Port::free().expect("a port");
    for url in [
        format!("redis://{}", port.address()),
        format!("redis-cluster://{}", port.address()),
        format!("redis-sentinel://{}/service", port.address()),
    ] {
        assert_eq!(kind(hasty(&url).open().await), StoreErrorKind::NotApplied, "{url}");
    }
    for url in ["redis://h?ack=some", "redis://h?nonsense=1", "http://h", "redis://h?patience=1h"] {
        let refused = kind(hasty(url).open().await);
        assert_eq!(refused, StoreErrorKind::Refused(Refusal::Unusable), "{url}");
    }
}
