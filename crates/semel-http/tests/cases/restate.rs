//! The tracker of Restate.

use std::time::Duration;

use semel::core::protocol::Status;
use semel::timer::sleep;
use semel::{Attached, CallError, Code, InFlight, MissingKey, Outcome, Policy, PolicyError};
use semel_http::{Fingerprint, HttpSettings, IdempotencyLayer};

use super::support::{App, Latch, alice, bytes, call, fresh, once, once_of, order, request, until};

/// "It is done, but its answer was not kept" looked like any other failure, and was tried again.
#[tokio::test]
async fn r2_done_with_an_answer_that_was_not_kept_is_an_answer_of_its_own() {
    let settings = HttpSettings::builder().max_cached_response(3).build().unwrap();
    let app = App::creating(&IdempotencyLayer::new(once()).settings(settings));
    assert_eq!(app.send(order("k")).await.got(), (201, "order 1"));
    for _ in 0..2 {
        let again = app.send(order("k")).await;
        assert_eq!(again.told(), (409, "CACHING_CONFLICT_003"));
        assert_eq!(again.problem("messageKey"), "caching.idempotency.response_unavailable");
        assert_eq!(again.problem("sameKey"), false);
    }
    assert_eq!(app.runs(), 1);
}

/// A key that held for one way into a service was ignored on another.
#[tokio::test]
async fn r3_a_key_that_was_used_through_one_door_holds_at_the_other() {
    let engine = once();
    let layer = IdempotencyLayer::new(engine.clone()).operation("orders.create");
    let app = App::creating(&layer.fingerprint(Fingerprint::Off));
    let by_function = async |key| -> Result<u8, CallError<()>> {
        let call = engine.call(key).scope(alice()).operation("orders.create");
        call.run(async |_| Ok(7)).await
    };
    assert_eq!(by_function("k").await.unwrap(), 7);
    // A function's value is no HTTP answer; but the work is done.
    let refused = app.send(order("k")).await;
    assert_eq!(refused.told(), (409, "CACHING_CONFLICT_003"));
    assert_eq!(refused.problem("messageKey"), "caching.idempotency.key_reused");
    assert_eq!(app.runs(), 0);
    assert_eq!(app.send(order("k-2")).await.status, 201);
    let Err(CallError::Refused(problem)) = by_function("k-2").await else { panic!("it ran") };
    assert_eq!(problem.code(), Code::KeyReused);
}

/// A start that was retried because its reply got lost was refused as a conflict.
#[tokio::test]
async fn r4_a_retried_start_is_attached_to_the_first_by_default() {
    let (engine, latch) = (once(), Latch::shut());
    let app = App::held(&IdempotencyLayer::new(engine.clone()), &latch);
    let starts: Vec<_> = (0..4).map(|_| app.start(order("k"))).collect();
    latch.reached(1).await;
    until(async || engine.watched() == 1).await;
    latch.open();
    for start in starts {
        assert_eq!(start.await.unwrap().got(), (201, "order 1"));
    }
    assert_eq!(app.runs(), 1);
}

/// There was no way to wait for a call by its key, or to look at it, without starting it.
#[tokio::test]
async fn r6_a_call_can_be_attached_to_and_looked_at_by_its_key() {
    let once = once();
    let call = call(&once, "k");
    assert!(matches!(once.attach(&call).await, Attached::Nothing));
    assert_eq!(once.peek(call.key()).await.unwrap(), Status::Absent);
    let mut claim = fresh(&once, &call).await;
    assert!(matches!(once.peek(call.key()).await.unwrap(), Status::InFlight { .. }));
    let attached = tokio::spawn({
        let (once, call) = (once.clone(), call.clone());
        async move { once.attach(&call).await }
    });
    until(async || once.watched() == 1).await;
    let _ = claim.record(bytes("done")).await;
    let Attached::Replay(replay) = attached.await.unwrap() else { panic!() };
    assert_eq!(replay.outcome, bytes("done"));
    assert_eq!(once.peek(call.key()).await.unwrap(), Status::Done(bytes("done")));
}

/// Keys that the server made up for calls without one changed how long things were kept, and how
/// much was stored.
#[tokio::test]
async fn r7_no_key_is_ever_made_up_for_a_call_without_one() {
    let engine = once();
    let layer = IdempotencyLayer::new(engine.clone()).missing_key(MissingKey::Optional);
    let app = App::creating(&layer);
    for number in 1..=3 {
        let answer = app.send(request("POST", "/orders", "{}")).await;
        assert_eq!((answer.text(), answer.is_replay()), (&*format!("order {number}"), false));
    }
    assert!(engine.store().scan("", None, 10).await.unwrap().entries.is_empty());
}

/// How long answers were kept was fixed for all calls, and without a limit where it could be set.
#[tokio::test(start_paused = true)]
async fn r8_retention_is_set_for_each_use_and_bounded_without_a_silent_clamp() {
    let layer = IdempotencyLayer::new(once());
    let hour = Duration::from_secs(3_600);
    let short = App::creating(&layer.clone().operation("short").time_to_live(hour));
    let long = App::creating(&layer.operation("long"));
    long.send(order("l")).await;
    short.send(order("s")).await;
    sleep(hour).await;
    assert!(long.send(order("l")).await.is_replay());
    assert!(!short.send(order("s")).await.is_replay());
    let ages = Policy::builder().time_to_live(Duration::from_secs(20 * 365 * 86_400)).build();
    assert!(matches!(ages, Err(PolicyError::TooLong { .. })), "{ages:?}");
}

/// Callers that had attached kept a call from ending, or took it along when they went.
#[tokio::test(start_paused = true)]
async fn r10_who_attaches_neither_blocks_nor_cancels_the_call() {
    let patient = Policy::builder().in_flight(InFlight::Wait(Duration::from_secs(600)));
    let once = once_of(patient);
    let call = call(&once, "k");
    let mut claim = fresh(&once, &call).await;
    let attach = || {
        let (once, call) = (once.clone(), call.clone());
        tokio::spawn(async move { once.attach(&call).await })
    };
    let attached: Vec<_> = (0..10).map(|_| attach()).collect();
    until(async || once.watched() == 1).await;
    attached.iter().step_by(2).for_each(tokio::task::JoinHandle::abort);
    sleep(Duration::from_secs(300)).await;
    let part = Outcome { extent: semel::Extent::Partial, ..bytes("head") };
    let _ = claim.record(part.clone()).await;
    let _ = claim.record(bytes("whole")).await;
    for attached in attached.into_iter().skip(1).step_by(2) {
        let Attached::Replay(replay) = attached.await.unwrap() else { panic!() };
        assert!([part.clone(), bytes("whole")].contains(&replay.outcome));
    }
    sleep(Duration::from_secs(86_400)).await;
    assert!(matches!(attach().await.unwrap(), Attached::Nothing));
    assert_eq!((once.held(), once.watched()), (0, 0));
}
