//! The tracker of fiber's idempotency middleware.

use std::sync::Arc;
use std::time::Duration;

use semel::timer::{SystemClock, sleep};
use semel::{MemoryStore, Policy};
use semel_http::{HttpSettings, IdempotencyLayer};

use super::support::{App, Latch, once, order, over, reply, until};

/// An answer over the limit was not stored at all, and so the retry ran again.
#[tokio::test]
async fn fiber_4287_a_big_answer_passes_once_and_never_runs_again() {
    let settings = HttpSettings::builder().max_cached_response(1_000).build().unwrap();
    let app = App::new(&IdempotencyLayer::new(once()).settings(settings), async |run| {
        reply(200, "x".repeat(if run.number == 1 { 1_001 } else { 1 }))
    });
    assert_eq!(app.send(order("k")).await.body.len(), 1_001);
    assert_eq!(app.send(order("k")).await.told(), (409, "CACHING_CONFLICT_003"));
    assert_eq!(app.runs(), 1);
}

/// For every key that was ever seen a lock stayed in a map.
#[tokio::test(start_paused = true)]
async fn fiber_3263_nothing_is_left_of_a_key_once_it_is_forgotten() {
    let store = Arc::new(MemoryStore::new(SystemClock::new()));
    let engine = over(store.clone(), Policy::builder());
    let app = App::creating(&IdempotencyLayer::new(engine.clone()));
    for number in 0..500 {
        let key = format!("k-{number}");
        let (one, two) = tokio::join!(app.send(order(&key)), app.send(order(&key)));
        assert_eq!(one.body, two.body);
    }
    assert_eq!((engine.held(), engine.watched(), engine.tasks().len()), (0, 0, 0));
    assert!(store.used_bytes() > 0);
    sleep(Duration::from_secs(86_400)).await;
    while engine.store().sweep(100).await.unwrap() > 0 {}
    assert_eq!((store.used_bytes(), app.runs()), (0, 500));
}

/// An answer without a body was a null pointer.
#[tokio::test]
async fn fiber_2668_an_empty_answer_is_recorded_and_replayed_like_any() {
    for status in [200, 201, 204, 304] {
        let app =
            App::new(&IdempotencyLayer::new(once()), move |_| async move { reply(status, "") });
        for is_replay in [false, true] {
            let answer = app.send(order("k")).await;
            assert_eq!((answer.got(), answer.is_replay()), ((status, ""), is_replay));
        }
    }
}

/// The record was written under the request's own context, and was lost when that was cancelled
/// after the handler had ended.
#[tokio::test]
async fn fiber_4771d437e_the_record_is_written_although_the_request_was_cancelled() {
    let (engine, latch) = (once(), Latch::shut());
    let app = App::held(&IdempotencyLayer::new(engine.clone()), &latch);
    let cancelled = app.start(order("k"));
    latch.reached(1).await;
    cancelled.abort();
    assert!(cancelled.await.unwrap_err().is_cancelled());
    latch.open();
    until(async || engine.held() == 0).await;
    let again = app.send(order("k")).await;
    assert_eq!((again.got(), again.is_replay()), ((201, "order 1"), true));
}
