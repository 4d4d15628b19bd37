//! Whole calls through a scripted service, in paused time.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use semel::core::Clock;
use semel::timer::{self, SystemClock};
use tower::{ServiceExt, service_fn};
use tower_layer::Layer;

use super::*;
use crate::body::RequestBody;

type Answer = Result<Response<Full<Bytes>>, io::Error>;

/// What the service does with one try.
enum Does {
    Answers(Response<Full<Bytes>>),
    Fails(io::ErrorKind),
    Hangs,
}

/// A service that plays a script, and remembers what it was sent.
#[derive(Clone, Default)]
struct Script {
    left: Arc<Mutex<VecDeque<Does>>>,
    seen: Arc<Mutex<Vec<Request<Bytes>>>>,
}

impl Script {
    fn new(does: impl IntoIterator<Item = Does>) -> Self {
        let left = does.into_iter().collect();
        Self { left: Arc::new(Mutex::new(left)), seen: Arc::default() }
    }

    async fn play(self, request: Request<RequestBody<Full<Bytes>>>) -> Answer {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        self.seen.lock().unwrap().push(Request::from_parts(head, body));
        let does = self.left.lock().unwrap().pop_front().expect("a try that was not expected");
        match does {
            Does::Answers(answer) => Ok(answer),
            Does::Fails(kind) => Err(kind.into()),
            Does::Hangs => std::future::pending().await,
        }
    }

    async fn call(
        &self,
        settings: ClientSettings,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<AnswerBody<Full<Bytes>>>, ClientError> {
        let script = self.clone();
        let inner = service_fn(move |request| script.clone().play(request));
        SafeRetryLayer::new(settings).layer(inner).oneshot(request).await
    }

    fn sent(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

fn settings() -> ClientSettingsBuilder {
    ClientSettings::builder()
}

fn defaults() -> ClientSettings {
    ClientSettings::default()
}

fn post() -> Request<Full<Bytes>> {
    Request::post("http://shop.example/orders").body(Full::from("one keyboard")).unwrap()
}

fn answer(status: u16) -> Does {
    with(status, &[])
}

fn with(status: u16, headers: &[(&str, &str)]) -> Does {
    let mut answer = Response::builder().status(status);
    for (name, value) in headers {
        answer = answer.header(*name, *value);
    }
    Does::Answers(answer.body(Full::from("done")).unwrap())
}

fn in_progress(retry_after: &str) -> Does {
    with(409, &[("idempotency-error", "CACHING_CONFLICT_002"), ("retry-after", retry_after)])
}

fn problem(status: u16, body: &'static str) -> Does {
    let answer =
        Response::builder().status(status).header("content-type", "application/problem+json");
    Does::Answers(answer.body(Full::from(body)).unwrap())
}

fn info<B>(response: &Response<B>) -> &AnswerInfo {
    response.extensions().get().expect("every answer tells about itself")
}

/// How long something takes by the paused clock.
async fn timed<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let clock = SystemClock::new();
    let began = clock.now();
    let output = work.await;
    (output, clock.now().since(began))
}

#[tokio::test(start_paused = true)]
async fn one_intent_has_one_key_and_one_body_over_all_its_tries() {
    let script = Script::new([
        Does::Fails(io::ErrorKind::ConnectionReset),
        answer(503),
        Does::Hangs,
        answer(201),
    ]);
    let response = script.call(defaults(), post()).await.unwrap();
    assert_eq!(response.status(), StatusCode::CREATED);
    assert_eq!((info(&response).tries(), info(&response).gave_up()), (4, None));

    let seen = script.seen.lock().unwrap();
    let key = info(&response).key().unwrap();
    for request in seen.iter() {
        assert_eq!(request.headers()["idempotency-key"], format!("\"{}\"", key.as_str()));
        assert_eq!(request.body(), "one keyboard");
        assert_eq!(request.uri(), "http://shop.example/orders");
    }
}

#[tokio::test(start_paused = true)]
async fn two_intents_have_two_keys() {
    let script = Script::new([answer(201), answer(201)]);
    let one = script.call(defaults(), post()).await.unwrap();
    let two = script.call(defaults(), post()).await.unwrap();
    assert_ne!(info(&one).key(), info(&two).key());
}

#[tokio::test(start_paused = true)]
async fn the_key_of_the_extensions_is_sent() {
    let script = Script::new([answer(201)]);
    let mut request = post();
    request.extensions_mut().insert(RequestKey::new("order-1").unwrap());
    let response = script.call(defaults(), request).await.unwrap();
    assert_eq!(info(&response).key().unwrap().as_str(), "order-1");
    assert_eq!(script.seen.lock().unwrap()[0].headers()["idempotency-key"], "\"order-1\"");
}

#[tokio::test(start_paused = true)]
async fn a_replay_is_told_from_a_first_answer() {
    let replay = with(201, &[("idempotent-replayed", "true")]);
    let script = Script::new([Does::Fails(io::ErrorKind::ConnectionReset), replay, answer(201)]);
    let response = script.call(defaults(), post()).await.unwrap();
    assert_eq!(info(&response).origin(), &Origin::Replayed);
    let response = script.call(defaults(), post()).await.unwrap();
    assert_eq!(info(&response).origin(), &Origin::Answered);
}

/// S2: a broken connection, and then a first call that still runs: neither is a failure.
#[tokio::test(start_paused = true)]
async fn s2_who_is_told_that_the_first_call_still_runs_asks_again_and_gets_its_answer() {
    let replay = with(201, &[("idempotent-replayed", "true")]);
    let cut = Does::Fails(io::ErrorKind::ConnectionReset);
    let script = Script::new([cut, in_progress("1"), in_progress("1"), replay]);
    let response = script.call(defaults(), post()).await.unwrap();
    assert_eq!(response.status(), StatusCode::CREATED);
    assert_eq!(info(&response).origin(), &Origin::Replayed);
}

/// S3: the tries don't burn out while the first call is slow, and nobody comes back too early.
#[tokio::test(start_paused = true)]
async fn s3_who_is_told_when_to_come_back_comes_then_and_does_not_burn_out() {
    let mut does: Vec<_> = (0..9).map(|_| in_progress("10")).collect();
    does.push(with(201, &[("idempotent-replayed", "true")]));
    let script = Script::new(does);
    let few = settings().max_tries(2).retry_budget(RetryBudget::new(0, 0, 0)).build().unwrap();
    let (response, took) = timed(script.call(few, post())).await;
    assert_eq!(response.unwrap().status(), StatusCode::CREATED);
    assert!((90..92).contains(&took.as_secs()), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_the_wait_for_a_first_call_with_what_was_said_last() {
    let does = (0..30).map(|_| in_progress("5"));
    let script = Script::new(does);
    let (response, took) = timed(script.call(defaults(), post())).await;
    let response = response.unwrap();
    assert_eq!(response.status(), StatusCode::CONFLICT);
    assert_eq!(info(&response).gave_up(), Some(&GaveUp::DeadlineOver));
    assert!(took < Duration::from_secs(120), "{took:?}");
    assert!(script.sent() >= 20);
}

#[tokio::test(start_paused = true)]
async fn a_date_is_kept_to_as_seconds_are() {
    let later = with(
        503,
        &[
            ("retry-after", "Mon, 30 Nov 2026 12:00:20 GMT"),
            ("date", "Mon, 30 Nov 2026 12:00:00 GMT"),
        ],
    );
    let script = Script::new([later, answer(200)]);
    let (response, took) = timed(script.call(defaults(), post())).await;
    assert_eq!(response.unwrap().status(), StatusCode::OK);
    assert!((20..21).contains(&took.as_secs()), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn who_is_asked_to_wait_too_long_gives_up_rather_than_come_early() {
    let script = Script::new([with(429, &[("retry-after", "61")])]);
    let response = script.call(defaults(), post()).await.unwrap();
    let asked = GaveUp::AskedToWait(Duration::from_secs(61));
    assert_eq!(info(&response).gave_up(), Some(&asked));
}

#[tokio::test(start_paused = true)]
async fn what_the_service_says_of_the_key_is_kept_to() {
    let script = Script::new([problem(503, r#"{"sameKey":false}"#), answer(200)]);
    let response = script.call(defaults(), post()).await.unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!((info(&response).gave_up(), script.sent()), (None, 1));
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, r#"{"sameKey":false}"#, "the caller still gets it whole");

    let script = Script::new([problem(503, r#"{"sameKey":true}"#), answer(200)]);
    assert_eq!(script.call(defaults(), post()).await.unwrap().status(), StatusCode::OK);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_layer_is_told_from_the_handlers() {
    let refusal = with(422, &[("idempotency-error", "CACHING_VALIDATION_003")]);
    let script = Script::new([refusal, answer(422)]);
    let response = script.call(defaults(), post()).await.unwrap();
    let Origin::Refused(refusal) = info(&response).origin() else { panic!("{response:?}") };
    assert_eq!(refusal.code(), "CACHING_VALIDATION_003");
    assert_eq!(refusal.same_key(), Some(semel::SameKey::No));
    let response = script.call(defaults(), post()).await.unwrap();
    assert_eq!(info(&response).origin(), &Origin::Answered);
}

#[tokio::test(start_paused = true)]
async fn without_a_key_an_unsafe_request_is_sent_once() {
    let none = settings().methods(crate::Methods::Only(vec![Method::PUT])).build().unwrap();
    let script = Script::new([Does::Fails(io::ErrorKind::ConnectionReset)]);
    let error = script.call(none, post()).await.unwrap_err();
    assert_eq!((error.gave_up(), error.key()), (&GaveUp::NotSafe, None));
    assert_eq!(error.conclusion(), Conclusion::Unknown);
}

#[tokio::test(start_paused = true)]
async fn a_safe_request_needs_no_key_to_be_sent_again() {
    let script = Script::new([Does::Fails(io::ErrorKind::ConnectionReset), answer(200)]);
    let get = Request::get("http://shop.example/").body(Full::default()).unwrap();
    let response = script.call(defaults(), get).await.unwrap();
    assert_eq!((info(&response).tries(), info(&response).key()), (2, None));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_too_large_to_keep_is_sent_once_with_a_key() {
    let small = settings().max_request_body(4).build().unwrap();
    let script = Script::new([Does::Fails(io::ErrorKind::ConnectionReset)]);
    let error = script.call(small, post()).await.unwrap_err();
    assert_eq!(error.gave_up(), &GaveUp::BodyIsGone);
    assert!(error.key().is_some());
    assert_eq!(script.seen.lock().unwrap()[0].body(), "one keyboard");
}

#[tokio::test(start_paused = true)]
async fn only_who_never_reached_the_service_may_conclude_that_nothing_happened() {
    let refused = || Does::Fails(io::ErrorKind::ConnectionRefused);
    let direct = || settings().redirects(Redirects::NotFollowed).build().unwrap();
    let script = Script::new((0..5).map(|_| refused()));
    let error = script.call(direct(), post()).await.unwrap_err();
    assert_eq!(error.conclusion(), Conclusion::NeverSent);
    assert_eq!((error.tries(), error.gave_up()), (5, &GaveUp::TriesUsedUp));

    for unknown in [Does::Fails(io::ErrorKind::ConnectionReset), Does::Hangs, answer(502)] {
        let rest = std::iter::once(unknown).chain((0..4).map(|_| refused()));
        let error = Script::new(rest).call(direct(), post()).await.unwrap_err();
        assert_eq!(error.conclusion(), Conclusion::Unknown);
        let said = error.to_string();
        assert!(said.contains("ask again with the same key"), "{said}");
        assert!(!said.contains(error.key().unwrap().as_str()), "{said}");
        assert!(!format!("{error:?}").contains(error.key().unwrap().as_str()));
    }
}

/// The request may have been carried out, and answered with a redirect to where nobody listens.
#[tokio::test(start_paused = true)]
async fn where_redirects_are_followed_a_refused_connection_proves_nothing() {
    let script = Script::new((0..5).map(|_| Does::Fails(io::ErrorKind::ConnectionRefused)));
    let error = script.call(defaults(), post()).await.unwrap_err();
    assert_eq!((error.conclusion(), error.tries()), (Conclusion::Unknown, 5));
}

#[tokio::test(start_paused = true)]
async fn a_try_that_hangs_is_given_up_and_all_of_them_end_at_the_deadline() {
    let short = settings()
        .try_timeout(Duration::from_secs(10))
        .deadline(Duration::from_secs(25))
        .build()
        .unwrap();
    let script = Script::new([Does::Hangs, Does::Hangs, Does::Hangs]);
    let (error, took) = timed(script.call(short, post())).await;
    let error = error.unwrap_err();
    assert!(matches!(error.cause(), Cause::TimedOut), "{error:?}");
    assert_eq!(error.gave_up(), &GaveUp::DeadlineOver);
    assert_eq!((took.as_secs(), script.sent()), (25, 3));
}

#[tokio::test(start_paused = true)]
async fn the_tries_are_counted_and_the_last_answer_is_handed_out() {
    let script = Script::new((0..5).map(|_| answer(503)));
    let response = script.call(defaults(), post()).await.unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(info(&response).gave_up(), Some(&GaveUp::TriesUsedUp));
    assert_eq!((info(&response).tries(), script.sent()), (5, 5));
}

#[tokio::test(start_paused = true)]
async fn a_storm_is_not_multiplied() {
    let budget = RetryBudget::new(10, 20, 0);
    let shared = settings().retry_budget(budget).build().unwrap();
    let mut sent = 0;
    for _ in 0..100 {
        let script = Script::new((0..5).map(|_| answer(503)));
        let response = script.call(shared.clone(), post()).await.unwrap();
        assert!(info(&response).gave_up().is_some());
        sent += script.sent();
    }
    assert!((120..=130).contains(&sent), "100 calls, the burst, and a fifth: {sent}");
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_no_retry_can_help_ends_it() {
    let strict = settings().classify(|_| Failure::Permanent).build().unwrap();
    let script = Script::new([Does::Fails(io::ErrorKind::InvalidInput)]);
    let error = script.call(strict, post()).await.unwrap_err();
    assert_eq!((error.gave_up(), error.tries()), (&GaveUp::NoUse, 1));
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.downcast_ref::<io::Error>().is_some());
}

#[tokio::test(start_paused = true)]
async fn the_wait_is_cut_short_by_whoever_drops_the_call() {
    let script = Script::new([with(503, &[("retry-after", "60")])]);
    let call = script.call(defaults(), post());
    assert!(timer::within(Duration::from_secs(30), call).await.is_none());
    assert_eq!(script.sent(), 1);
}

/// A service that is called without having been polled ready panics.
#[tokio::test(start_paused = true)]
async fn each_try_is_sent_by_a_service_that_was_polled_ready() {
    let script = Script::new([answer(503), answer(503), answer(201)]);
    let playing = script.clone();
    let client = tower::ServiceBuilder::new()
        .layer(SafeRetryLayer::default())
        .concurrency_limit(1)
        .service(service_fn(move |request| playing.clone().play(request)));
    let response = client.oneshot(post()).await.unwrap();
    assert_eq!((response.status(), script.sent()), (StatusCode::CREATED, 3));
}
