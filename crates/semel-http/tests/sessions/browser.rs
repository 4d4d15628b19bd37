//! A browser with cookies, over TCP, and two instances behind one store.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use semel::Store;
use semel::timer::sleep;
use semel_http::CacheSessionStore;
use tower_sessions::cookie::time::Duration;
use tower_sessions::{Expiry, Session, SessionManagerLayer};

use super::support::{Place, browser, served};

async fn count(session: Session) -> String {
    let count = session.get::<u32>("count").await.unwrap().unwrap_or_default() + 1;
    session.insert("count", count).await.unwrap();
    let name = session.get::<String>("name").await.unwrap();
    format!("{} {count}", name.as_deref().unwrap_or("nobody"))
}

async fn login(session: Session, name: String) {
    session.cycle_id().await.unwrap();
    session.insert("name", name).await.unwrap();
}

/// An instance as another process would be one.
async fn instance(store: Arc<dyn Store>, inactivity: Duration) -> String {
    let layer = SessionManagerLayer::new(CacheSessionStore::new(store))
        .with_secure(false)
        .with_expiry(Expiry::OnInactivity(inactivity));
    let app = Router::new()
        .route("/count", get(count))
        .route("/login", post(login))
        .route("/logout", post(async |session: Session| session.flush().await.unwrap()))
        .layer(layer);
    served(app).await
}

async fn text(browser: &reqwest::Client, url: String) -> String {
    browser.get(url).send().await.unwrap().error_for_status().unwrap().text().await.unwrap()
}

async fn posted(browser: &reqwest::Client, url: String, body: &'static str) {
    browser.post(url).body(body).send().await.unwrap().error_for_status().unwrap();
}

async fn one_session_over_two_instances(place: Place) {
    let hour = Duration::hours(1);
    let ours = instance(place.open().await, hour).await;
    let theirs = instance(place.open().await, hour).await;
    let (alice, bob) = (browser(), browser());
    // Cookies don't know ports: to the browser both are one site.
    assert_eq!(text(&alice, format!("{ours}/count")).await, "nobody 1");
    assert_eq!(text(&alice, format!("{theirs}/count")).await, "nobody 2");
    posted(&alice, format!("{theirs}/login"), "alice").await;
    assert_eq!(text(&alice, format!("{ours}/count")).await, "alice 3");
    posted(&bob, format!("{ours}/login"), "bob").await;
    assert_eq!(text(&bob, format!("{theirs}/count")).await, "bob 1");
    assert_eq!(text(&alice, format!("{theirs}/count")).await, "alice 4");
    posted(&alice, format!("{ours}/logout"), "").await;
    assert_eq!(text(&alice, format!("{theirs}/count")).await, "nobody 1");
    assert_eq!(text(&bob, format!("{ours}/count")).await, "bob 2");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_session_over_two_instances_and_one_redis() {
    one_session_over_two_instances(Place::redis().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_session_over_two_instances_and_one_file() {
    one_session_over_two_instances(Place::sqlite()).await;
}

/// By the store: the cookie is sent all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_nobody_used_is_over() {
    let place = Place::redis().await;
    let short = instance(place.open().await, Duration::seconds(1)).await;
    let browser = reqwest::Client::new();
    let response = browser.get(format!("{short}/count")).send().await.unwrap();
    let cookie = response.headers()["set-cookie"].to_str().unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let again = async || {
        let request = browser.get(format!("{short}/count")).header("cookie", &cookie);
        request.send().await.unwrap().text().await.unwrap()
    };
    // Each request makes it live on, so none is made until it must be over; a machine that is slow
    // may need no waiting at all.
    for _ in 0..20 {
        if again().await == "nobody 1" {
            return;
        }
        sleep(std::time::Duration::from_millis(1_100)).await;
    }
    panic!("it is never over");
}
