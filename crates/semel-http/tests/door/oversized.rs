//! Answers that are too large to be kept: told to the first caller in full, never run again.

use axum::body::Body;
use bytes::Bytes;
use http::Response;
use http_body_util::BodyExt;
use semel::{Code, MemoryLimits, MemoryStore, Once};
use semel_http::Oversized;

use crate::support::bodies::{InHand, Scripted, Step};
use crate::support::{Door, once, order, settings};

const LIMIT: usize = 1_000;

/// Answers with a body of `size` bytes, of which it says how long it is or not.
fn large(size: usize, says: bool, oversized: Oversized) -> Door {
    let settings = settings(|http| http.max_cached_response(LIMIT).oversized(oversized));
    Door::with(
        once(),
        |layer| layer.settings(settings),
        move |_| async move {
            let pieces =
                [size / 2, size - size / 2].map(|size| Step::Data(vec![b'x'; size].into()));
            let body = Scripted::new(pieces);
            let body = if says { body.saying(size as u64) } else { body };
            Ok(Response::builder().status(201).header("etag", "\"1\"").body(body.body()).unwrap())
        },
    )
}

#[tokio::test]
async fn up_to_the_limit_all_of_it_is_replayed() {
    for says in [true, false] {
        for size in [0, 1, 2, LIMIT - 1, LIMIT] {
            let door = large(size, says, Oversized::Unavailable);
            assert_eq!(door.post("k", "{}").await.body.len(), size);
            let again = door.post("k", "{}").await;
            assert_eq!((again.status.as_u16(), again.body.len()), (201, size));
            assert!(again.is_marked());
            assert_eq!(door.runs.count(), 1);
        }
    }
}

/// C2, and fiber's and IdempotentAPI's: too large to be kept was taken for permission to run
/// again. R2: "done, answer not available" is an answer of its own.
#[tokio::test]
async fn c2_r2_beyond_the_limit_a_repeat_is_told_and_the_work_never_runs_again() {
    for says in [true, false] {
        for size in [LIMIT + 1, 3 * LIMIT] {
            let door = large(size, says, Oversized::Unavailable);
            let first = door.post("k", "{}").await;
            assert_eq!((first.status.as_u16(), first.body.len()), (201, size));
            for _ in 0..3 {
                let again = door.post("k", "{}").await;
                again.assert_is(Code::ResponseUnavailable);
                assert!(!again.is_marked());
            }
            assert_eq!(door.runs.count(), 1);
        }
    }
}

#[tokio::test]
async fn beyond_the_limit_a_repeat_may_get_status_and_headers() {
    for says in [true, false] {
        let door = large(LIMIT + 1, says, Oversized::Status);
        door.post("k", "{}").await;
        let again = door.post("k", "{}").await;
        again.assert_is_the_handlers(201, "");
        assert_eq!(again.header("etag"), Some("\"1\""));
        assert!(again.is_marked());
        assert_eq!(door.runs.count(), 1);
    }
}

/// I8: a service for which keeping answers is too much keeps the outcome alone.
#[tokio::test]
async fn i8_nothing_but_the_outcome_may_be_kept() {
    let settings = settings(|http| http.max_cached_response(0).oversized(Oversized::Status));
    let door = Door::counting(once(), |layer| layer.settings(settings));
    door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
    let again = door.post("k", "{}").await;
    again.assert_is_the_handlers(201, "");
    assert_eq!(again.header("location"), Some("/orders/1"));
    assert_eq!(door.runs.count(), 1);
}

/// A body that the handler declared by header alone is known, and so is one too large.
#[tokio::test]
async fn a_length_that_only_the_header_says_counts() {
    for (size, kept) in [(LIMIT, true), (LIMIT + 1, false)] {
        let settings = settings(|http| http.max_cached_response(LIMIT));
        let in_hand = InHand::default();
        let shown = in_hand.clone();
        let door = Door::with(
            once(),
            |layer| layer.settings(settings),
            move |_| {
                let body = in_hand.stream(size, 1);
                async move { Ok(Response::builder().header("content-length", size).body(body).unwrap()) }
            },
        );
        // Nothing of the answer is read yet, and yet the small one is recorded.
        let first = door.call(order("k", "{}")).await.unwrap();
        let again = door.post("k", "{}").await;
        if kept {
            assert_eq!(again.body.len(), size);
        } else {
            again.assert_is(Code::ResponseUnavailable);
            assert_eq!(shown.most(), 0, "a body that passes is not read ahead");
        }
        assert_eq!(first.into_body().collect().await.unwrap().to_bytes().len(), size);
        assert_eq!(door.runs.count(), 1);
    }
}

/// What is passed on is not piled up: of a long stream only what its reader holds is in memory,
/// and what was kept while it could still fit. (Allocations are counted in `tests/memory.rs`.)
#[tokio::test]
async fn a_long_stream_is_not_held_in_memory() {
    let in_hand = InHand::default();
    let shown = in_hand.clone();
    let settings = settings(|http| http.max_cached_response(LIMIT));
    let door = Door::with(
        once(),
        |layer| layer.settings(settings),
        move |_| {
            let body = in_hand.stream(1_000, 100);
            async move { Ok(Response::new(body)) }
        },
    );
    let mut body = door.call(order("k", "{}")).await.unwrap().into_body();
    let mut read = 0;
    while let Some(frame) = body.frame().await {
        read += frame.unwrap().into_data().unwrap().len();
        assert!(shown.now() <= 2 * LIMIT, "{} bytes in hand", shown.now());
    }
    assert_eq!(read, 100_000);
    assert!(shown.most() <= 2 * LIMIT);
    door.post("k", "{}").await.assert_is(Code::ResponseUnavailable);
}

/// A store that takes no value so large is no reason to run again, and its refusal is no reason
/// to lose status and headers.
#[tokio::test]
async fn what_the_store_refuses_is_recorded_without_its_body() {
    for (oversized, replays) in [(Oversized::Unavailable, false), (Oversized::Status, true)] {
        let limits = MemoryLimits { value_bytes: 2_000, ..MemoryLimits::default() };
        let store = MemoryStore::with_limits(semel::timer::SystemClock::new(), limits);
        let once = Once::new(std::sync::Arc::new(store));
        let settings = settings(|http| http.oversized(oversized));
        let door = Door::with(
            once,
            |layer| layer.settings(settings),
            |asked| async move {
                let mut response = crate::support::door::created(asked.run);
                *response.body_mut() = Body::from(Bytes::from(vec![b'x'; 3_000]));
                Ok(response)
            },
        );
        let first = door.post("k", "{}").await;
        assert_eq!((first.status.as_u16(), first.body.len()), (201, 3_000));
        assert_eq!(first.header("idempotency-durable"), None);
        let again = door.post("k", "{}").await;
        if replays {
            again.assert_is_the_handlers(201, "");
            assert_eq!(again.header("location"), Some("/orders/1"));
        } else {
            again.assert_is(Code::ResponseUnavailable);
        }
        assert_eq!(door.runs.count(), 1);
    }
}
