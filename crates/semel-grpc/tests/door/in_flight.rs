//! Calls that wait for the first one.

use std::time::Duration;

use semel::InFlight;
use tonic::Response;

use crate::support::{Running, Shop, layer, until};

#[tokio::test]
async fn a_repeat_waits_for_the_first_call_and_gets_its_reply() {
    let (go, stop) = tokio::sync::watch::channel(false);
    let shop = Shop::with(move |asked| {
        let mut stop = stop.clone();
        async move {
            stop.wait_for(|go| *go).await.unwrap();
            Ok(Response::new(asked.placed()))
        }
    });
    let once = crate::support::once();
    let layer =
        crate::support::over(once.clone()).in_flight(InFlight::Wait(Duration::from_secs(60)));
    let server = Running::serve(layer, shop.clone()).await;
    let client = server.client().await;
    let call = || {
        let client = client.clone();
        tokio::spawn(async move { client.create("k").await.unwrap().into_inner() })
    };
    let first = call();
    until(|| shop.runs() == 1).await;
    let again = call();
    until(|| once.watched() == 1).await;
    go.send(true).unwrap();
    assert_eq!(first.await.unwrap(), again.await.unwrap());
    assert_eq!(shop.runs(), 1);
}

#[tokio::test]
async fn another_message_is_refused_while_the_first_call_still_runs() {
    let (_go, stop) = tokio::sync::watch::channel(false);
    let shop = Shop::with(move |asked| {
        let mut stop = stop.clone();
        async move {
            stop.wait_for(|go| *go).await.ok();
            Ok(Response::new(asked.placed()))
        }
    });
    let server = Running::serve(layer(), shop.clone()).await;
    let client = server.client().await;
    let first = client.clone();
    let first = tokio::spawn(async move { first.create("k").await });
    until(|| shop.runs() == 1).await;
    let refused = client.order("k", "ink").await.unwrap_err();
    crate::refusals::info(&refused, "CACHING_VALIDATION_003");
    first.abort();
}
