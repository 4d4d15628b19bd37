//! What the layer of `tower-sessions` expects of every store, seen through cookies.

use axum::Router;
use axum::body::Body;
use axum::routing::get;
use http::header::{COOKIE, SET_COOKIE};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use tower::ServiceExt;
use tower_sessions::cookie::Cookie;
use tower_sessions::cookie::time::Duration;
use tower_sessions::{Expiry, Session, SessionManagerLayer};

use super::support::{Bench, in_seconds};

fn app(expiry: Option<Expiry>) -> Router {
    let mut layer = SessionManagerLayer::new(Bench::new().sessions);
    if let Some(expiry) = expiry {
        layer = layer.with_expiry(expiry);
    }
    Router::new()
        .route("/", get(async || "nothing"))
        .route("/put", get(async |session: Session| session.insert("n", 7).await.unwrap()))
        .route(
            "/get",
            get(async |session: Session| format!("{:?}", session.get::<u8>("n").await.unwrap())),
        )
        .route(
            "/take",
            get(async |session: Session| format!("{:?}", session.remove::<u8>("n").await.unwrap())),
        )
        .route("/cycle", get(async |session: Session| session.cycle_id().await.unwrap()))
        .route("/flush", get(async |session: Session| session.flush().await.unwrap()))
        .route(
            "/day",
            get(async |session: Session| {
                session.set_expiry(Some(Expiry::AtDateTime(in_seconds(86_400))));
            }),
        )
        .layer(layer)
}

/// The body, and the cookie that the browser is told to keep.
async fn got(app: &Router, path: &str, id: Option<&str>) -> (String, Option<Cookie<'static>>) {
    let mut request = Request::get(path);
    if let Some(id) = id {
        request = request.header(COOKIE, format!("id={id}"));
    }
    let response = app.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let cookie = response.headers().get(SET_COOKIE);
    let cookie = cookie.map(|it| Cookie::parse(it.to_str().unwrap().to_owned()).unwrap());
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (String::from_utf8(body.to_vec()).unwrap(), cookie)
}

async fn begun(app: &Router) -> String {
    let (_, cookie) = got(app, "/put", None).await;
    cookie.unwrap().value().to_owned()
}

#[tokio::test]
async fn who_needs_no_session_gets_none() {
    assert_eq!(got(&app(None), "/", None).await, ("nothing".to_owned(), None));
}

#[tokio::test]
async fn an_id_that_nobody_gave_out_is_not_taken_over() {
    let app = app(None);
    for id in ["AAAAAAAAAAAAAAAAAAAAAA", "not-an-id", "", "%00"] {
        let (_, cookie) = got(&app, "/put", Some(id)).await;
        let given = cookie.unwrap().value().to_owned();
        assert_ne!(given, id);
        assert_eq!(got(&app, "/get", Some(&given)).await.0, "Some(7)");
        assert_eq!(got(&app, "/get", Some(id)).await.0, "None", "{id}");
    }
}

#[tokio::test]
async fn a_value_is_there_in_the_next_request_until_it_is_taken() {
    let app = app(None);
    assert_eq!(got(&app, "/get", None).await.0, "None");
    let id = begun(&app).await;
    assert_eq!(got(&app, "/get", Some(&id)).await.0, "Some(7)");
    assert_eq!(got(&app, "/take", Some(&id)).await.0, "Some(7)");
    assert_eq!(got(&app, "/get", Some(&id)).await.0, "None");
}

/// Fixation: an id from before the login is worth nothing after it.
#[tokio::test]
async fn a_session_under_a_new_id_has_its_values_and_the_old_id_has_none() {
    let app = app(None);
    let old = begun(&app).await;
    let (_, cookie) = got(&app, "/cycle", Some(&old)).await;
    let new = cookie.unwrap().value().to_owned();
    assert_ne!(old, new);
    assert_eq!(got(&app, "/get", Some(&new)).await.0, "Some(7)");
    assert_eq!(got(&app, "/get", Some(&old)).await.0, "None");
}

#[tokio::test]
async fn a_session_that_was_flushed_is_gone_and_so_is_its_cookie() {
    let app = app(None);
    let id = begun(&app).await;
    let (_, cookie) = got(&app, "/flush", Some(&id)).await;
    let cookie = cookie.unwrap();
    assert_eq!((cookie.value(), cookie.max_age()), ("", Some(Duration::ZERO)));
    assert_eq!(got(&app, "/get", Some(&id)).await.0, "None");
}

#[tokio::test]
async fn the_cookie_lives_as_long_as_the_session() {
    let hour = app(Some(Expiry::OnInactivity(Duration::hours(1))));
    let about = |cookie: &Cookie<'_>, due: Duration| {
        let age = cookie.max_age().unwrap();
        assert!(age <= due && age > due - Duration::minutes(1), "{age}");
    };
    let cookie = got(&hour, "/put", None).await.1.unwrap();
    about(&cookie, Duration::hours(1));
    let id = cookie.value().to_owned();
    let cookie = got(&hour, "/day", Some(&id)).await.1.unwrap();
    about(&cookie, Duration::days(1));
    assert_eq!(got(&hour, "/get", Some(&id)).await.0, "Some(7)");
    let cookie = got(&app(None), "/put", None).await.1.unwrap();
    assert_eq!(cookie.max_age(), None, "as long as the browser is open");
}
