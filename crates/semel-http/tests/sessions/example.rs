//! The example does what its page says: two instances over one store are one shop.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::StatusCode;

use super::support::{Place, browser, served};

#[path = "../../examples/shop.rs"]
#[expect(dead_code, reason = "the program itself is not run here")]
mod shop;

async fn ordered(browser: &reqwest::Client, at: &str, key: &str) -> (StatusCode, bool, String) {
    let request = browser.post(format!("{at}/orders")).header("idempotency-key", key);
    let response = request.json(&[("item", "tea")].into_iter().collect::<Wish>());
    let response = response.send().await.unwrap();
    let is_replay = response.headers().contains_key("idempotent-replayed");
    (response.status(), is_replay, response.text().await.unwrap())
}

type Wish = std::collections::BTreeMap<&'static str, &'static str>;

async fn login(browser: &reqwest::Client, at: &str, name: &'static str) {
    let body: Wish = [("name", name)].into();
    let response = browser.post(format!("{at}/login")).json(&body).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
}

async fn two_instances_are_one_shop(place: Place) {
    let (ours, theirs) = (place.open().await, place.open().await);
    let shops = [shop::Shop::over(&ours), shop::Shop::over(&theirs)];
    let ours = served(shop::app(Arc::clone(&shops[0]), ours)).await;
    let theirs = served(shop::app(Arc::clone(&shops[1]), theirs)).await;
    let (alice, bob) = (browser(), browser());
    let refused = ordered(&alice, &ours, "order-1").await;
    assert_eq!(refused.0, StatusCode::UNAUTHORIZED);
    login(&alice, &ours, "alice").await;
    login(&bob, &theirs, "bob").await;
    // At once, at both: two orders, and one of the two asked for the price.
    let (first, second) =
        tokio::join!(ordered(&alice, &ours, "order-1"), ordered(&bob, &theirs, "order-1"));
    for (order, buyer) in [(&first, "alice"), (&second, "bob")] {
        assert_eq!((order.0, order.1), (StatusCode::CREATED, false), "{order:?}");
        assert!(order.2.contains(buyer) && order.2.contains("\"cents\":300"), "{order:?}");
    }
    let sum = |of: fn(&shop::Shop) -> usize| shops.iter().map(|shop| of(shop)).sum::<usize>();
    assert_eq!(sum(|shop| shop.asked.load(Ordering::SeqCst)), 1);
    // A retry that reaches the other instance.
    assert_eq!(ordered(&alice, &theirs, "order-1").await, (StatusCode::CREATED, true, first.2));
    assert_eq!(sum(|shop| shop.orders.load(Ordering::SeqCst)), 2);
    let logout = alice.post(format!("{theirs}/logout")).send().await.unwrap();
    assert_eq!(logout.status(), StatusCode::NO_CONTENT);
    assert_eq!(ordered(&alice, &ours, "order-1").await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_instances_over_one_file_are_one_shop() {
    two_instances_are_one_shop(Place::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_instances_over_one_redis_are_one_shop() {
    two_instances_are_one_shop(Place::redis().await).await;
}
