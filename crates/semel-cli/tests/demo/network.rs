//! The client's side against the service, over a network that is being cut.

use std::collections::BTreeSet;
use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, RequestBuilder};
use semel_http::client::{
    AnswerInfo, ClientError, ClientSettings, ClientSettingsBuilder, Conclusion, GaveUp, Origin,
    Redirects, RequestKey, RetryBudget, SafeRetryLayer,
};
use semel_testkit::{Cut, Direction, FaultProxy};
use serde_json::json;

use crate::support::{Files, Server, pause, within};

#[expect(dead_code, reason = "its main function is for people")]
#[path = "../../examples/client.rs"]
mod example;

const TRY: Duration = Duration::from_secs(2);

/// Settings of somebody who never gives up, and is quick about it.
fn stubborn() -> ClientSettingsBuilder {
    ClientSettings::builder()
        .max_tries(1_000)
        .try_timeout(TRY)
        .deadline(Duration::from_secs(50))
        .first_backoff(Duration::from_millis(5))
        .longest_backoff(Duration::from_millis(200))
        .retry_budget(RetryBudget::new(100_000, 0, 0))
}

fn client(settings: ClientSettingsBuilder) -> ClientWithMiddleware {
    let settings = settings.redirects(Redirects::NotFollowed).build().unwrap();
    let retries = SafeRetryLayer::new(settings);
    let no_redirects = reqwest::redirect::Policy::none();
    let plain = reqwest::Client::builder().no_proxy().redirect(no_redirects).build().unwrap();
    ClientBuilder::new(plain).with(retries).build()
}

fn order(client: &ClientWithMiddleware, at: SocketAddr, name: &str) -> RequestBuilder {
    client
        .post(format!("http://{at}/orders"))
        .header("authorization", "ApiKey dev-alice-key")
        .json(&json!({ "name": name, "amount": 1 }))
}

/// Sends an order until its answer is there, whole.
async fn make(client: &ClientWithMiddleware, at: SocketAddr, name: &str) -> AnswerInfo {
    let answer = within("an order", order(client, at, name).send()).await.unwrap();
    assert_eq!(answer.status(), 201);
    let info = answer.extensions().get::<AnswerInfo>().unwrap().clone();
    let made: serde_json::Value = answer.json().await.unwrap();
    assert_eq!(made["name"], name);
    info
}

#[track_caller]
fn assert_each_once(mut there: Vec<String>, sent: &BTreeSet<String>) {
    there.sort();
    assert_eq!(there, sent.iter().cloned().collect::<Vec<_>>());
}

async fn begin(flags: &[&str]) -> (Files, Server, FaultProxy) {
    let (files, server) = Files::new_server(flags).await;
    let proxy = FaultProxy::start(server.at).await.unwrap();
    (files, server, proxy)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wherever_the_connection_is_cut_each_order_is_made_once() {
    let (_files, server, proxy) = begin(&[]).await;
    let client = client(stubborn());
    let mut sent = BTreeSet::new();
    let mut replays = 0;
    for (direction, after, cut) in cuts() {
        let name = format!("{direction:?} {after} {cut:?}");
        proxy.cut_after(direction, after, cut);
        let info = make(&client, proxy.address(), &name).await;
        if !proxy.uncut(direction) {
            assert!(info.tries() > 1, "{name}: {info:?}");
        }
        replays += usize::from(info.origin() == &Origin::Replayed);
        assert!(sent.insert(name));
    }
    assert!(replays >= 10, "answers that were cut are replayed: {replays}");
    assert_eq!(server.executions("POST /orders").await, sent.len() as u64);
    assert_each_once(server.orders().await, &sent);
}

/// Into the head and the body of the request, and of the answer.
fn cuts() -> Vec<(Direction, u64, Cut)> {
    let mut cuts = Vec::new();
    for cut in [Cut::Reset, Cut::Close] {
        cuts.extend([0, 1, 60, 200, 250].map(|after| (Direction::ToServer, after, cut)));
        cuts.extend([0, 1, 60, 150, 250, 300].map(|after| (Direction::ToClient, after, cut)));
    }
    cuts.push((Direction::ToServer, 40, Cut::Silence));
    cuts.push((Direction::ToClient, 0, Cut::Silence));
    cuts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_orders_at_once_over_a_network_in_pieces_are_each_made_once() {
    let (_files, server, proxy) = begin(&[]).await;
    let (client, at) = (client(stubborn()), proxy.address());
    let cutting = tokio::spawn(async move {
        for round in 0_u64.. {
            pause(Duration::from_millis(15)).await;
            match round % 5 {
                0 => proxy.sever(Cut::Reset),
                1 => proxy.cut_after(Direction::ToClient, 100, Cut::Close),
                2 => proxy.refuse(true),
                3 => proxy.refuse(false),
                _ => proxy.delay(Direction::ToServer, Duration::from_millis(round % 3)),
            }
        }
    });
    let names: BTreeSet<String> = (0..60).map(|n| format!("order {n}")).collect();
    let calls: Vec<_> = names
        .iter()
        .map(|name| {
            let (client, name) = (client.clone(), name.clone());
            tokio::spawn(async move { make(&client, at, &name).await })
        })
        .collect();
    let mut tries = 0;
    for call in calls {
        tries += call.await.unwrap().tries();
    }
    cutting.abort();
    assert!(tries > 60, "nothing was cut");
    assert_eq!(server.executions("POST /orders").await, 60);
    assert_each_once(server.orders().await, &names);
}

/// S3: the first call outlives the try that began it, and the service says "not yet".
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_a_first_call_that_is_slower_than_every_try_is_waited_for() {
    let flags = ["--in-flight", "reject", "--retry-after", "1s"];
    let (_files, server, proxy) = begin(&flags).await;
    let client = client(stubborn().max_tries(2));
    let slow = order(&client, proxy.address(), "slow").header("x-demo", "slow=5s");
    let answer = within("a slow order", slow.send()).await.unwrap();
    assert_eq!(answer.status(), 201);
    let info = answer.extensions().get::<AnswerInfo>().unwrap();
    assert_eq!(info.origin(), &Origin::Replayed);
    assert!(info.tries() >= 3, "one that timed out, some that were told to wait: {info:?}");
    assert_eq!(server.executions("POST /orders").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_gives_up_knows_what_may_have_happened_and_asks_again_with_the_same_key() {
    let (_files, server, proxy) = begin(&[]).await;
    let two_tries = || stubborn().max_tries(2);
    // Every answer is swallowed: the order is made, and nobody knows.
    proxy.drop_bytes(Direction::ToClient, true);
    let lost = order(&client(two_tries()), proxy.address(), "lost").send();
    let lost = within("giving up", lost).await.unwrap_err();
    let error = ClientError::of(&lost).unwrap();
    assert_eq!(error.conclusion(), Conclusion::Unknown);
    assert_eq!(error.gave_up(), &GaveUp::TriesUsedUp);
    let key: RequestKey = error.key().unwrap().clone();
    assert!(!format!("{lost} {lost:?}").contains(key.as_str()));

    proxy.drop_bytes(Direction::ToClient, false);
    let again = order(&client(two_tries()), proxy.address(), "lost").with_extension(key);
    let answer = within("the answer", again.send()).await.unwrap();
    assert_eq!(answer.status(), 201);
    assert_eq!(answer.url().path(), "/orders");
    assert_eq!(answer.extensions().get::<AnswerInfo>().unwrap().origin(), &Origin::Replayed);
    assert_eq!(server.executions("POST /orders").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_nobody_listens_it_is_known_that_nothing_was_sent() {
    let (_files, server, proxy) = begin(&[]).await;
    let at = server.at;
    server.kill().await;
    drop(proxy);
    let refused = order(&client(stubborn().max_tries(3)), at, "never").send();
    let refused = within("giving up", refused).await.unwrap_err();
    let error = ClientError::of(&refused).unwrap();
    assert_eq!((error.conclusion(), error.tries()), (Conclusion::NeverSent, 3));
    assert!(error.source().is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_example_makes_each_order_once() {
    let (_files, server) = Files::new_server(&[]).await;
    let made = within("the example", example::make_orders(server.at, 12)).await.unwrap();
    let ids: BTreeSet<u64> = made.iter().map(|made| made.id).collect();
    assert_eq!(ids.len(), 12);
    assert!(made.iter().any(|made| made.origin == Origin::Replayed), "{made:?}");
    assert_eq!(server.executions("POST /orders").await, 12);
}
