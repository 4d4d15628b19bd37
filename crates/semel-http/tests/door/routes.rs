//! Under axum's router: which route it is, and layers of routes.

use axum::Router;
use axum::body::Body;
use axum::routing::post;
use http::Request;
use semel::{Code, Guarantee};
use semel_http::IdempotencyLayer;
use tower::ServiceExt;

use crate::support::{Answer, alice, once};

async fn send(app: &Router, uri: &str, body: &'static str) -> Answer {
    let request = Request::post(uri).header("idempotency-key", "k").extension(alice());
    let response = app.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
    Answer::of(response).await.unwrap()
}

fn order() -> axum::routing::MethodRouter {
    post(|body: String| async move { format!("ordered {body}") })
}

/// N10, P9: what is right for one route is not for all; layers belong to routes, not to stores.
#[tokio::test]
async fn n10_p9_each_route_may_have_a_layer_of_its_own() {
    let once = once();
    let app = Router::new()
        .route(
            "/charge",
            order().layer(
                IdempotencyLayer::new(once.clone())
                    .operation("payments.charge")
                    .guarantee(Guarantee::AtMostOnce),
            ),
        )
        .route(
            "/notes",
            order().layer(
                IdempotencyLayer::new(once.clone()).missing_key(semel::MissingKey::Optional),
            ),
        )
        .route("/open", order());
    send(&app, "/charge", "1").await.assert_is_the_handlers(200, "ordered 1");
    let told = send(&app, "/notes", "1").await;
    told.assert_is(Code::KeyReused);
    assert_eq!(told.json()["params"]["recorded"], "payments.charge");
    for _ in 0..2 {
        let open = send(&app, "/open", "1").await;
        open.assert_is_the_handlers(200, "ordered 1");
        assert!(!open.is_marked());
    }
    let keyless = Request::post("/notes").body(Body::from("2")).unwrap();
    let answer = Answer::of(app.oneshot(keyless).await.unwrap()).await.unwrap();
    answer.assert_is_the_handlers(200, "ordered 2");
}

/// Without the feature the path is the operation, with it the matched route is.
#[tokio::test]
async fn the_operation_is_the_matched_route_or_the_path() {
    let layer = || IdempotencyLayer::new(once());
    let by_layer = Router::new().route("/orders/{id}", order()).layer(layer());
    let by_route_layer = Router::new().route("/orders/{id}", order()).route_layer(layer());
    let by_method = Router::new().route("/orders/{id}", order().layer(layer()));
    let nested =
        Router::new().nest("/shop", Router::new().route("/orders/{id}", order()).layer(layer()));
    for (app, prefix) in [(by_layer, ""), (by_route_layer, ""), (by_method, ""), (nested, "/shop")]
    {
        send(&app, &format!("{prefix}/orders/1"), "x")
            .await
            .assert_is_the_handlers(200, "ordered x");
        assert!(send(&app, &format!("{prefix}/orders/1"), "x").await.is_marked());
        let other = send(&app, &format!("{prefix}/orders/2"), "x").await;
        if cfg!(feature = "axum") {
            // One operation; that the path differs is told as part of the request.
            other.assert_is(Code::PayloadMismatch);
            assert_eq!(other.json()["params"]["differs"], serde_json::json!(["path"]));
        } else {
            other.assert_is(Code::KeyReused);
        }
    }
}

/// What no route matches has no route: the path stands for it.
#[tokio::test]
async fn a_fallback_is_protected_by_its_path() {
    let app = Router::new()
        .fallback(|body: String| async move { body })
        .layer(IdempotencyLayer::new(once()));
    send(&app, "/anything", "x").await.assert_is_the_handlers(200, "x");
    assert!(send(&app, "/anything", "x").await.is_marked());
    let told = send(&app, "/other", "x").await;
    told.assert_is(Code::KeyReused);
    assert_eq!(told.json()["params"]["recorded"], "POST /anything");
}
