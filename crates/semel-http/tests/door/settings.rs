//! Settings are checked when they are built, and each error names its setting.

use std::time::Duration;

use http::{HeaderName, Method};
use semel::{Code, ErrorStatus, InFlight};
use semel_http::{
    Anonymous, Failures, HttpSettings, HttpSettingsError, IdempotencyLayer, Methods, OnDisconnect,
    Oversized,
};

use crate::support::{Door, once, settings};

fn name(name: &'static str) -> HeaderName {
    HeaderName::from_static(name)
}

#[track_caller]
fn assert_refused(
    change: impl FnOnce(semel_http::HttpSettingsBuilder) -> semel_http::HttpSettingsBuilder,
    names: &str,
) {
    let error = change(HttpSettings::builder()).build().unwrap_err();
    assert!(error.to_string().contains(names), "{error}");
}

#[test]
fn what_can_t_be_meant_is_refused() {
    assert_refused(|http| http.max_request_body(0), "idempotency.max_request_body_bytes = 0");
    assert_refused(|http| http.methods(Methods::Only(Vec::new())), "idempotency.methods = []");
    for never in [
        "set-cookie",
        "date",
        "content-length",
        "connection",
        "keep-alive",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "proxy-authenticate",
        "proxy-authorization",
        "idempotency-error",
        "idempotency-durable",
        "idempotency-unprotected",
    ] {
        assert_refused(|http| http.replayed_headers(vec![name("etag"), name(never)]), never);
        // As a mark it would destroy what it says.
        assert_refused(|http| http.replay_marker(Some(name(never))), never);
    }
    assert_refused(|http| http.replay_marker(Some(name("location"))), "idempotency.replay_marker");
    let error = HttpSettings::builder().max_request_body(0).build().unwrap_err();
    assert_eq!(error, HttpSettingsError::NotPositive { setting: "max_request_body_bytes" });
}

#[test]
fn what_was_built_can_be_changed_and_built_again() {
    let first = settings(|http| http.replay_marker(None).max_request_body(7));
    let second = first.to_builder().max_request_body(8).build().unwrap();
    assert!(second.exposed_headers().iter().all(|name| name != "idempotent-replayed"));
}

#[test]
fn choices_are_read_and_written_as_words() {
    for word in Failures::WORDS {
        assert!(word.parse::<Failures>().is_ok());
    }
    for word in Oversized::WORDS {
        assert_eq!(word.parse::<Oversized>().unwrap().to_string(), *word);
    }
    for word in OnDisconnect::WORDS {
        assert_eq!(word.parse::<OnDisconnect>().unwrap().to_string(), *word);
    }
    for word in Anonymous::WORDS {
        assert_eq!(word.parse::<Anonymous>().unwrap().to_string(), *word);
    }
    let error = "status_only".parse::<Oversized>().unwrap_err().to_string();
    assert!(error.contains("unavailable, status"), "{error}");
    assert!("never".parse::<Failures>().is_err());
    assert!("Finish".parse::<OnDisconnect>().is_err());
    assert!("".parse::<Anonymous>().is_err());
}

/// A wrong set-up is found when the service starts, not at a request.
#[test]
fn a_layer_that_can_t_be_meant_panics_when_it_is_made() {
    let refuses = |make: fn() -> IdempotencyLayer, says: &str| {
        let panic = std::panic::catch_unwind(make).unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.contains("IdempotencyLayer") && text.contains(says), "{text}");
    };
    refuses(|| IdempotencyLayer::new(once()).operation(""), "the operation's name");
    refuses(
        || IdempotencyLayer::new(once()).in_flight(InFlight::Wait(Duration::ZERO)),
        "wait_seconds",
    );
    refuses(
        || IdempotencyLayer::new(once()).time_to_live(Duration::from_secs(59)),
        "time_to_live_seconds",
    );
}

/// A code may be answered with another status; its document says the same.
#[tokio::test]
async fn a_code_may_have_another_status() {
    let gone = ErrorStatus::new(410).unwrap();
    let settings =
        settings(|http| http.max_cached_response(1).status(Code::ResponseUnavailable, gone));
    let door = Door::counting(once(), |layer| layer.settings(settings));
    door.post("k", "{}").await;
    let told = door.post("k", "{}").await;
    told.assert_is_with_status(Code::ResponseUnavailable, 410);
    assert_eq!(told.json()["status"], 410);
}

/// How long an answer is remembered can be set for a route alone.
#[tokio::test(start_paused = true)]
async fn after_its_time_an_answer_is_forgotten() {
    let door = Door::counting(once(), |layer| layer.time_to_live(Duration::from_secs(100)));
    door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
    semel::timer::sleep(Duration::from_secs(99)).await;
    assert!(door.post("k", "{}").await.is_marked());
    semel::timer::sleep(Duration::from_secs(1)).await;
    door.post("k", "{}").await.assert_is_the_handlers(201, "order 2");
}

/// The types can be put wherever a tower service is put: boxed, shared, sent.
#[test]
fn the_types_are_send_and_sync() {
    fn is<T: Send + Sync + 'static>() {}
    type Body = http_body_util::Full<bytes::Bytes>;
    is::<IdempotencyLayer>();
    is::<semel_http::Idempotency<crate::support::Work>>();
    is::<semel_http::ResponseBody<Body>>();
    is::<semel_http::RequestBody<Body>>();
    is::<HttpSettings>();
    let methods = Methods::Only(vec![Method::POST]);
    assert!(methods.contains(&Method::POST) && !methods.contains(&Method::PUT));
}
