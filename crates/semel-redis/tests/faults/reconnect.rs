//! How connections are made again: soon, and never in a storm.

use semel_core::{Store, Touch};
use semel_testkit::{Cut, FaultProxy, RedisServer};

use crate::support::{claim, hasty, key, millis, open, recovered, won};

/// F-108: many callers, no server, one attempt after the other, ever further apart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_callers_make_few_attempts() {
    let server = RedisServer::start().await.expect("a server");
    let proxy = FaultProxy::start(server.address()).await.expect("a proxy");
    let store = open(hasty(&server.url_at(proxy.address()))).await;
    won(claim(&store, &key("k"), "v").await);
    proxy.refuse(true);
    proxy.sever(Cut::Close);
    let before = proxy.accepted();
    let callers = (0..64).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut failed = 0;
            for _ in 0..60 {
                failed += usize::from(store.read(&key("k"), Touch::No).await.is_err());
                semel_testkit::pass(millis(25)).await;
            }
            failed
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        assert!(caller.await.expect("a task") > 50, "the void rule: calls went through");
    }
    // 10, 20, 40 … ms: eight in the first two seconds or so, and twice that with every jitter.
    let attempts = proxy.accepted() - before;
    assert!((2..=16).contains(&attempts), "{attempts} attempts");
    proxy.refuse(false);
    recovered(&store).await;
}

/// A server that takes connections and never answers on them is no better than none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_answers_nothing_is_not_stormed() {
    let mut server = RedisServer::start().await.expect("a server");
    let proxy = FaultProxy::start(server.address()).await.expect("a proxy");
    let builder = hasty(&server.url_at(proxy.address()));
    let store = open(builder.connect_timeout(millis(50)).response_timeout(millis(50))).await;
    server.pause().expect("a pause");
    let before = proxy.accepted();
    for _ in 0..200 {
        let _ = store.read(&key("k"), Touch::No).await;
        semel_testkit::pass(millis(5)).await;
    }
    let attempts = proxy.accepted() - before;
    assert!((2..=16).contains(&attempts), "{attempts} attempts");
    server.resume().expect("an end of the pause");
    recovered(&store).await;
}

/// All connections of the store are cut again and again while it is used.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flapping_network_is_lived_with() {
    let server = RedisServer::start().await.expect("a server");
    let proxy = FaultProxy::start(server.address()).await.expect("a proxy");
    let store = open(hasty(&server.url_at(proxy.address()))).await;
    let mut answered = 0;
    for round in 0..50_u32 {
        if store.read(&key("k"), Touch::No).await.is_ok() {
            answered += 1;
        }
        proxy.sever(if round % 2 == 0 { Cut::Close } else { Cut::Reset });
    }
    assert!(answered > 10, "only {answered} of 50 were answered");
    recovered(&store).await;
}
