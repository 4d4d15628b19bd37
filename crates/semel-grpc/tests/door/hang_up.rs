//! Clients that are gone before their reply.

use std::sync::Arc;
use std::time::Duration;

use semel::InFlight;
use semel_http::OnDisconnect;
use tokio::sync::watch;
use tonic::{Code, Response};

use crate::support::{Client, Running, Shop, layer, once, over, until};

/// Executions end when the test says so.
fn held() -> (Shop, watch::Sender<bool>) {
    let (go, stop) = watch::channel(false);
    let shop = Shop::with(move |asked| {
        let mut stop = stop.clone();
        async move {
            stop.wait_for(|go| *go).await.unwrap();
            Ok(Response::new(asked.placed()))
        }
    });
    (shop, go)
}

async fn replays(client: &Client, shop: &Shop) {
    let again = client.create("k").await.unwrap();
    assert_eq!(again.get_ref().number, 1);
    assert_eq!(again.metadata().get("idempotent-replayed").unwrap(), "true");
    assert_eq!(shop.runs(), 1);
}

#[tokio::test]
async fn a_deadline_that_passes_stops_no_execution_and_the_retry_replays_it() {
    let (shop, go) = held();
    let server = Running::serve(layer(), shop.clone()).await;
    let client = server.client().await;
    let late = client.create_within("k", Duration::from_millis(300)).await.unwrap_err();
    assert!(matches!(late.code(), Code::DeadlineExceeded | Code::Cancelled), "{late:?}");
    assert_eq!(shop.runs(), 1);
    go.send(true).unwrap();
    replays(&client, &shop).await;
}

#[tokio::test]
async fn a_stream_that_is_reset_stops_no_execution_and_the_retry_replays_it() {
    let (shop, go) = held();
    let server = Running::serve(layer(), shop.clone()).await;
    let client = server.client().await;
    let call = client.clone();
    let call = tokio::spawn(async move { call.create("k").await });
    until(|| shop.runs() == 1).await;
    // Its future is dropped, and tonic resets the stream.
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    go.send(true).unwrap();
    replays(&client, &shop).await;
}

#[tokio::test]
async fn a_retry_that_comes_at_once_waits_for_the_execution_that_runs_on() {
    let (shop, go) = held();
    let once = once();
    let layer = over(once.clone()).in_flight(InFlight::Wait(Duration::from_secs(60)));
    let server = Running::serve(layer, shop.clone()).await;
    let client = server.client().await;
    client.create_within("k", Duration::from_millis(200)).await.unwrap_err();
    let retry = client.clone();
    let retry = tokio::spawn(async move { retry.create("k").await.unwrap().into_inner() });
    until(|| once.watched() == 1).await;
    go.send(true).unwrap();
    assert_eq!(retry.await.unwrap().number, 1);
    assert_eq!(shop.runs(), 1);
}

/// Where it is to stop, what it did is not known: the key stays held until its lease ends.
#[tokio::test]
async fn an_execution_that_is_to_stop_with_its_client_keeps_its_key() {
    struct Told(Arc<watch::Sender<bool>>);
    impl Drop for Told {
        fn drop(&mut self) {
            self.0.send_replace(true);
        }
    }
    let (dropped, mut was_dropped) = watch::channel(false);
    let dropped = Arc::new(dropped);
    let shop = Shop::with(move |_| {
        let told = Told(Arc::clone(&dropped));
        async move {
            let _told = told;
            std::future::pending().await
        }
    });
    let layer = layer().on_disconnect(OnDisconnect::Cancel).in_flight(InFlight::Reject);
    let server = Running::serve(layer, shop.clone()).await;
    let client = server.client().await;
    client.create_within("k", Duration::from_millis(300)).await.unwrap_err();
    was_dropped.wait_for(|dropped| *dropped).await.unwrap();
    let refused = client.create("k").await.unwrap_err();
    crate::refusals::info(&refused, "CACHING_CONFLICT_002");
    assert_eq!(shop.runs(), 1);
}
