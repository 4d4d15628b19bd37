//! Which answers are final, and what becomes of those that are none.

use std::sync::Arc;

use axum::body::Body;
use http::{Response, StatusCode};
use semel::{Code, Guarantee, OnException};
use semel_http::{Failures, Finality};

use crate::support::{BoxError, Door, once, order, policy, settings};

/// Fails with `status` at first and succeeds after that.
fn failing(failures: Option<Failures>, status: u16) -> Door {
    Door::with(
        once(),
        |layer| match failures {
            Some(failures) => layer.failures(failures),
            None => layer,
        },
        move |asked| async move {
            let status = if asked.run == 1 { status } else { 201 };
            let body = Body::from(format!("run {}", asked.run));
            Ok(Response::builder().status(status).body(body).unwrap())
        },
    )
}

/// How often the handler runs for two requests, when the first is answered so.
async fn runs(failures: Option<Failures>, status: u16) -> u32 {
    let door = failing(failures, status);
    door.post("k", "{}").await.assert_is_the_handlers(status, "run 1");
    let again = door.post("k", "{}").await;
    assert_eq!(again.is_marked(), door.runs.count() == 1);
    door.runs.count()
}

/// S6: a recorded failure and one that may be retried can be told apart, and which is which is a
/// policy.
#[tokio::test]
async fn s6_answers_below_500_are_final_but_for_those_that_say_later() {
    for failures in [None, Some(Failures::FinalBelow500)] {
        for status in [200, 201, 204, 301, 400, 401, 403, 404, 409, 410, 422, 424, 426, 499] {
            assert_eq!(runs(failures.clone(), status).await, 1, "{status} is final");
        }
        for status in [408, 425, 429, 500, 501, 502, 503, 504, 599] {
            assert_eq!(runs(failures.clone(), status).await, 2, "{status} is transient");
        }
    }
}

#[tokio::test]
async fn all_answers_may_be_final() {
    for status in [200, 302, 400, 408, 409, 425, 429, 500, 503] {
        assert_eq!(runs(Some(Failures::All), status).await, 1, "{status}");
    }
}

#[tokio::test]
async fn only_success_may_be_final() {
    for (status, expected) in [(200, 1), (204, 1), (304, 1), (400, 2), (404, 2), (409, 2), (500, 2)]
    {
        assert_eq!(runs(Some(Failures::SuccessOnly), status).await, expected, "{status}");
    }
}

#[tokio::test]
async fn a_rule_of_ones_own_sees_the_whole_head() {
    let rule = Failures::Custom(Arc::new(|head| {
        if head.headers.contains_key("x-later") { Finality::Transient } else { Finality::Final }
    }));
    let door = Door::with(
        once(),
        |layer| layer.failures(rule),
        |asked| async move {
            let mut response = Response::builder().status(500);
            if asked.run == 1 {
                response = response.header("x-later", "1");
            }
            Ok(response.body(Body::from(format!("run {}", asked.run))).unwrap())
        },
    );
    door.post("k", "{}").await.assert_is_the_handlers(500, "run 1");
    door.post("k", "{}").await.assert_is_the_handlers(500, "run 2");
    door.post("k", "{}").await.assert_is_the_handlers(500, "run 2");
    assert_eq!(door.runs.count(), 2);
}

/// The work was done: a rule that can't judge its answer must not have it run again.
#[tokio::test]
async fn an_answer_that_the_rule_panics_at_stands() {
    let rule = Failures::Custom(Arc::new(|_| panic!("a rule that panics")));
    let door = Door::counting(once(), |layer| layer.failures(rule));
    door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
    let again = door.post("k", "{}").await;
    again.assert_is_the_handlers(201, "order 1");
    assert!(again.is_marked());
}

/// A failed try may have had the one effect that is allowed, however the guarantee was asked for.
#[tokio::test]
async fn at_most_once_freezes_failures_wherever_it_is_set() {
    let fails = |asked: crate::support::Asked| async move {
        Ok(Response::builder().status(503).body(Body::from(format!("run {}", asked.run))).unwrap())
    };
    let strict = || policy(|policy| policy.guarantee(Guarantee::AtMostOnce));
    let by_layer = Door::with(once(), |layer| layer.guarantee(Guarantee::AtMostOnce), fails);
    let by_policy = Door::with(once(), |layer| layer.policy(strict()), fails);
    let by_engine = {
        let store = Arc::new(crate::support::memory());
        let once = semel::Once::builder(store).policy(strict()).build();
        Door::with(once, |layer| layer, fails)
    };
    for door in [by_layer, by_policy, by_engine] {
        door.post("k", "{}").await.assert_is_the_handlers(503, "run 1");
        door.post("k", "{}").await.assert_is_the_handlers(503, "run 1");
    }
    // A choice of one's own, made after it, wins.
    let own = Door::with(
        once(),
        |layer| layer.guarantee(Guarantee::AtMostOnce).failures(Failures::FinalBelow500),
        fails,
    );
    own.post("k", "{}").await.assert_is_the_handlers(503, "run 1");
    own.post("k", "{}").await.assert_is_the_handlers(503, "run 2");
    // One made before it does not.
    let before = Door::with(
        once(),
        |layer| layer.failures(Failures::SuccessOnly).guarantee(Guarantee::AtMostOnce),
        fails,
    );
    before.post("k", "{}").await.assert_is_the_handlers(503, "run 1");
    before.post("k", "{}").await.assert_is_the_handlers(503, "run 1");
}

// ===== No answer at all =====

#[derive(Clone, Copy, Debug)]
enum Way {
    /// The service's own error.
    Errs,
    PanicsWhileWorking,
    PanicsWhenCalled,
}

/// Fails in this way at first, and answers after that.
fn raising(way: Way, on_exception: OnException) -> Door {
    let policy = policy(|policy| policy.on_exception(on_exception));
    Door::with(
        once(),
        |layer| layer.policy(policy),
        move |asked| {
            let first = asked.run == 1;
            assert!(!(first && matches!(way, Way::PanicsWhenCalled)), "a handler that panics");
            async move {
                assert!(
                    !(first && matches!(way, Way::PanicsWhileWorking)),
                    "a handler that panics"
                );
                if first {
                    return Err(BoxError::from("a service that fails"));
                }
                Ok(crate::support::door::created(asked.run))
            }
        },
    )
}

const WAYS: [Way; 3] = [Way::Errs, Way::PanicsWhileWorking, Way::PanicsWhenCalled];

/// The exception goes on to whoever is further out, as if the layer were not there.
async fn raises(door: &Door, way: Way) {
    let (door, order) = (door.clone(), order("k", "{}"));
    let ended = tokio::spawn(async move { door.try_send(order).await.map_err(|e| e.to_string()) });
    match (way, ended.await) {
        (Way::Errs, Ok(Err(error))) => assert_eq!(error, "a service that fails"),
        (Way::PanicsWhileWorking | Way::PanicsWhenCalled, Err(panic)) => {
            let panic = panic.into_panic();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"a handler that panics"));
        }
        (way, other) => panic!("{way:?} came to {other:?}"),
    }
}

#[tokio::test]
async fn an_exception_frees_the_key_by_default() {
    for way in WAYS {
        let door = raising(way, OnException::Release);
        raises(&door, way).await;
        door.post("k", "{}").await.assert_is_the_handlers(201, "order 2");
    }
}

#[tokio::test]
async fn an_exception_may_be_recorded_as_a_500() {
    for way in WAYS {
        let door = raising(way, OnException::Record);
        let first = door.post("k", "{}").await;
        assert_eq!(first.status, StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(first.header("content-type"), Some("application/problem+json"));
        assert_eq!(first.json()["type"], "about:blank");
        assert_eq!(first.json()["sameKey"], false);
        let again = door.post("k", "{}").await;
        assert_eq!(again.essence(), first.essence());
        assert!(again.is_marked());
        assert_eq!(door.runs.count(), 1);
    }
}

#[tokio::test]
async fn an_exception_may_leave_the_outcome_in_doubt() {
    for way in WAYS {
        let door = raising(way, OnException::Doubt);
        raises(&door, way).await;
        // In doubt is not in flight: policy `rerun` takes over at once.
        door.post("k", "{}").await.assert_is_the_handlers(201, "order 2");
    }
    for way in WAYS {
        let door = raising(way, OnException::Release);
        let strict = policy(|policy| policy.guarantee(Guarantee::AtMostOnce));
        let layer = semel_http::IdempotencyLayer::new(door.once.clone()).policy(strict);
        let service = tower::Layer::layer(&layer, door.service.into_inner());
        let door = Door { service, runs: door.runs, once: door.once };
        raises(&door, way).await;
        for _ in 0..3 {
            door.post("k", "{}").await.assert_is(Code::InDoubt);
        }
        assert_eq!(door.runs.count(), 1);
    }
}

// ===== Those who own nothing free nothing =====

/// P1: a duplicate that was refused and a request that does not match never had the record, and
/// must not delete it.
#[tokio::test]
async fn p1_who_was_refused_leaves_the_record_alone() {
    let door = Door::counting(once(), |layer| layer);
    let first = door.post("k", "{}").await;
    for body in ["[1]", "[2]"] {
        door.post("k", body).await.assert_is(Code::PayloadMismatch);
    }
    let mut elsewhere = order("k", "{}");
    *elsewhere.uri_mut() = "/refunds".parse().unwrap();
    door.send(elsewhere).await.assert_is(Code::KeyReused);
    let again = door.post("k", "{}").await;
    assert_eq!(again.essence(), first.essence());
    assert_eq!(door.runs.count(), 1);
}

/// Requests that are refused before the work begins are not recorded: the key stays free.
#[tokio::test]
async fn refused_requests_leave_the_key_free() {
    let settings = settings(|http| http.max_request_body(8));
    let door = Door::counting(once(), |layer| layer.settings(settings));
    door.post("k", "{\"much\":1}").await.assert_is(Code::BodyTooLarge);
    let mut scopeless = order("k", "{}");
    scopeless.extensions_mut().clear();
    assert_eq!(door.send(scopeless).await.status, StatusCode::INTERNAL_SERVER_ERROR);
    door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
}
