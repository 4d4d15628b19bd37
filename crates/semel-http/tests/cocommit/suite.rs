//! What holds over every store with transactions.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use http::StatusCode;
use semel::{Begun, Call, InFlight, OnException, Operation, Scope};
use semel_http::Failures;
use semel_testkit::eventually;

use crate::support::{How, Place, Shop, got, order};

const PATIENCE: Duration = Duration::from_secs(30);

macro_rules! suite {
    ($place:ty: $($case:ident),+ $(,)?) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            crate::suite::$case::<$place>().await;
        }
    )+};
}

/// All of them, for a place.
macro_rules! all_cases {
    ($place:ty) => {
        crate::suite::suite! { $place:
            rows_and_record_commit_together_and_repeats_replay,
            an_answer_that_is_no_final_one_takes_its_rows_back,
            an_error_of_the_client_commits_what_the_handler_wrote,
            a_failure_that_is_to_stand_is_recorded_without_its_rows,
            a_panic_takes_everything_back,
            a_panic_that_is_to_stand_is_recorded_without_its_rows,
            a_transaction_that_failed_unnoticed_is_not_answered_as_done,
            of_200_duplicates_at_once_one_books_and_all_have_its_answer,
            duplicates_of_calls_that_fail_take_their_turns,
            who_does_not_wait_is_told_that_the_call_is_in_flight,
            a_client_that_hangs_up_has_its_call_done,
            a_handle_that_is_kept_past_the_answer_commits_nothing,
            a_body_that_still_reads_from_the_transaction_commits_nothing,
            an_answer_of_unknown_length_is_recorded_once_it_has_ended,
            an_answer_too_large_to_keep_is_done_all_the_same,
            an_answer_that_breaks_off_before_its_commit_takes_everything_back,
            another_request_under_the_key_is_refused,
            a_call_outside_of_a_transaction_is_waited_for,
            a_request_without_a_key_has_no_transaction,
        }
    };
}

pub(crate) use {all_cases, suite};

pub(crate) async fn rows_and_record_commit_together_and_repeats_replay<P: Place>() {
    let shop = Shop::<P>::open(&[How::Books]).await;
    let first = shop.send("a").await;
    assert_eq!((first.status, first.is_replay()), (StatusCode::OK, false), "{first:?}");
    assert!(first.body().starts_with("booking "), "{first:?}");
    for _ in 0..3 {
        let again = shop.send("a").await;
        assert_eq!((again.status, again.is_replay()), (StatusCode::OK, true), "{again:?}");
        assert_eq!(again.body, first.body);
    }
    assert_ne!(shop.send("b").await.body, first.body);
    shop.assert_done("a", 1).await;
    shop.assert_done("b", 1).await;
    assert_eq!(shop.runs(), 2);
}

pub(crate) async fn an_answer_that_is_no_final_one_takes_its_rows_back<P: Place>() {
    let hows = [How::Answers(500), How::Answers(503), How::Answers(429), How::Books];
    let shop = Shop::<P>::open(&hows).await;
    for status in [500, 503, 429] {
        let got = shop.send("a").await;
        assert_eq!((got.status.as_u16(), got.code()), (status, None), "the handler's own: {got:?}");
        shop.assert_done("a", 0).await;
    }
    assert_eq!(shop.send("a").await.status, StatusCode::OK, "a retry runs");
    shop.assert_done("a", 1).await;
}

/// Rows and answer are one: a handler that declines a payment may write that it did.
pub(crate) async fn an_error_of_the_client_commits_what_the_handler_wrote<P: Place>() {
    let shop = Shop::<P>::open(&[How::Answers(402)]).await;
    let first = shop.send("a").await;
    let again = shop.send("a").await;
    assert_eq!((first.status.as_u16(), again.status.as_u16()), (402, 402));
    assert!(again.is_replay());
    shop.assert_done("a", 1).await;
}

pub(crate) async fn a_failure_that_is_to_stand_is_recorded_without_its_rows<P: Place>() {
    let all = |layer: semel_http::IdempotencyLayer| layer.failures(Failures::All);
    let shop = Shop::<P>::open_as(&[How::Answers(500), How::Books], all).await;
    let first = shop.send("a").await;
    let again = shop.send("a").await;
    assert_eq!((first.status.as_u16(), again.status.as_u16()), (500, 500));
    assert_eq!((again.is_replay(), &again.body), (true, &first.body));
    assert_eq!((shop.booked("a").await, shop.is_recorded("a").await), (0, true));
}

pub(crate) async fn a_panic_takes_everything_back<P: Place>() {
    let shop = Shop::<P>::open(&[How::Panics, How::Books]).await;
    let panicked = AssertUnwindSafe(shop.send("a")).catch_unwind().await;
    panicked.expect_err("the handler's own panic goes on");
    shop.assert_done("a", 0).await;
    assert_eq!(shop.send("a").await.status, StatusCode::OK, "a retry runs");
    shop.assert_done("a", 1).await;
}

pub(crate) async fn a_panic_that_is_to_stand_is_recorded_without_its_rows<P: Place>() {
    let record = |layer: semel_http::IdempotencyLayer| {
        let policy = semel::Policy::builder().guarantee(semel::Guarantee::Transactional);
        layer.policy(policy.on_exception(OnException::Record).build().unwrap().into())
    };
    let shop = Shop::<P>::open_as(&[How::Panics, How::Books], record).await;
    let first = shop.send("a").await;
    let again = shop.send("a").await;
    assert_eq!((first.status.as_u16(), again.status.as_u16()), (500, 500));
    assert!(again.is_replay());
    assert_eq!((shop.booked("a").await, shop.is_recorded("a").await), (0, true));
}

pub(crate) async fn a_transaction_that_failed_unnoticed_is_not_answered_as_done<P: Place>() {
    let shop = Shop::<P>::open(&[How::Blunders, How::Books]).await;
    let got = shop.send("a").await;
    assert_eq!(got.code(), Some("CACHING_UNAVAILABLE_001"), "{got:?}");
    shop.assert_done("a", 0).await;
    assert_eq!(shop.send("a").await.status, StatusCode::OK, "a retry runs");
    shop.assert_done("a", 1).await;
}

pub(crate) async fn of_200_duplicates_at_once_one_books_and_all_have_its_answer<P: Place>() {
    let shop = Shop::<P>::open(&[How::Waits]).await;
    let calls: Vec<_> = (0..200).map(|_| tokio::spawn(got(shop.app.clone(), order("a")))).collect();
    // All others find the first at work.
    shop.at_work(1).await;
    shop.plan.gate.add_permits(200);
    let mut replays = 0;
    let mut bodies = std::collections::HashSet::new();
    for call in calls {
        let got = call.await.unwrap();
        assert_eq!(got.status, StatusCode::OK, "{got:?}");
        replays += u32::from(got.is_replay());
        bodies.insert(got.body);
    }
    assert_eq!((replays, bodies.len(), shop.runs()), (199, 1, 1));
    shop.assert_done("a", 1).await;
}

pub(crate) async fn duplicates_of_calls_that_fail_take_their_turns<P: Place>() {
    let mut hows = vec![How::Answers(500); 9];
    hows.push(How::Books);
    let shop = Shop::<P>::open(&hows).await;
    let calls = (0..20).map(|_| tokio::spawn(got(shop.app.clone(), order("a"))));
    let calls: Vec<_> = calls.collect();
    let mut failed = 0;
    for call in calls {
        failed += u32::from(call.await.unwrap().status == StatusCode::INTERNAL_SERVER_ERROR);
    }
    assert_eq!((failed, shop.runs()), (9, 10), "who fails is told so; the next takes its turn");
    shop.assert_done("a", 1).await;
}

pub(crate) async fn who_does_not_wait_is_told_that_the_call_is_in_flight<P: Place>() {
    let shop = Shop::<P>::open_as(&[How::Waits], |layer| layer.in_flight(InFlight::Reject)).await;
    let first = tokio::spawn(got(shop.app.clone(), order("a")));
    shop.at_work(1).await;
    let busy = shop.send("a").await;
    assert_eq!((busy.status, busy.code()), (StatusCode::CONFLICT, Some("CACHING_CONFLICT_002")));
    assert!(busy.headers.contains_key("retry-after"));
    shop.plan.gate.add_permits(1);
    assert_eq!(first.await.unwrap().status, StatusCode::OK);
    assert!(shop.send("a").await.is_replay());
    shop.assert_done("a", 1).await;
}

pub(crate) async fn a_client_that_hangs_up_has_its_call_done<P: Place>() {
    let shop = Shop::<P>::open(&[How::Waits]).await;
    let client = tokio::spawn(got(shop.app.clone(), order("a")));
    shop.at_work(1).await;
    client.abort();
    assert!(client.await.unwrap_err().is_cancelled());
    shop.plan.gate.add_permits(1);
    let again = shop.send("a").await;
    assert_eq!((again.status, again.is_replay()), (StatusCode::OK, true), "{again:?}");
    assert_eq!(shop.runs(), 1);
    shop.assert_done("a", 1).await;
}

pub(crate) async fn a_handle_that_is_kept_past_the_answer_commits_nothing<P: Place>() {
    let shop = Shop::<P>::open(&[How::Keeps, How::Books]).await;
    let got = shop.send("a").await;
    assert_eq!(got.status, StatusCode::INTERNAL_SERVER_ERROR, "{got:?}");
    assert!(got.body().contains("kept working after its answer"), "{got:?}");
    // What it still writes goes nowhere.
    shop.plan.gate.add_permits(1);
    shop.assert_done("a", 0).await;
    assert_eq!(shop.send("a").await.status, StatusCode::OK, "a retry runs");
    shop.assert_done("a", 1).await;
}

pub(crate) async fn a_body_that_still_reads_from_the_transaction_commits_nothing<P: Place>() {
    let shop = Shop::<P>::open(&[How::StreamsFromIt, How::Books]).await;
    let got = shop.send("a").await;
    assert_eq!(got.status, StatusCode::INTERNAL_SERVER_ERROR, "{got:?}");
    shop.assert_done("a", 0).await;
    assert_eq!(shop.send("a").await.status, StatusCode::OK, "a retry runs");
    shop.assert_done("a", 1).await;
}

pub(crate) async fn an_answer_of_unknown_length_is_recorded_once_it_has_ended<P: Place>() {
    let shop = Shop::<P>::open(&[How::Streams]).await;
    let first = shop.send("a").await;
    assert!(first.body().ends_with(" in pieces"), "{first:?}");
    let again = shop.send("a").await;
    assert_eq!((again.is_replay(), &again.body), (true, &first.body));
    shop.assert_done("a", 1).await;
}

pub(crate) async fn an_answer_too_large_to_keep_is_done_all_the_same<P: Place>() {
    let shop = Shop::<P>::open(&[How::Large(300 << 10)]).await;
    assert_eq!(shop.send("a").await.body().len(), 300 << 10);
    let again = shop.send("a").await;
    assert_eq!(again.code(), Some("CACHING_CONFLICT_003"), "{again:?}");
    assert_eq!(shop.runs(), 1);
    shop.assert_done("a", 1).await;
}

pub(crate) async fn an_answer_that_breaks_off_before_its_commit_takes_everything_back<P: Place>() {
    let shop = Shop::<P>::open(&[How::BreaksOff, How::Books]).await;
    let got = shop.send("a").await;
    assert_eq!(got.body, None, "it breaks off for the client too");
    shop.assert_done("a", 0).await;
    assert_eq!(shop.send("a").await.status, StatusCode::OK, "a retry runs");
    shop.assert_done("a", 1).await;
}

pub(crate) async fn another_request_under_the_key_is_refused<P: Place>() {
    let shop = Shop::<P>::open(&[How::Books]).await;
    assert_eq!(shop.send("a").await.status, StatusCode::OK);
    let mut other = order("b");
    other.headers_mut().insert("idempotency-key", http::HeaderValue::from_static("a"));
    let refused = got(shop.app.clone(), other).await;
    assert_eq!(refused.code(), Some("CACHING_VALIDATION_003"), "{refused:?}");
    assert_eq!((shop.runs(), shop.booked("b").await), (1, 0));
}

/// The extractor says so; the handler does not run.
pub(crate) async fn a_request_without_a_key_has_no_transaction<P: Place>() {
    let optional =
        |layer: semel_http::IdempotencyLayer| layer.missing_key(semel::MissingKey::Optional);
    let shop = Shop::<P>::open_as(&[How::Books], optional).await;
    let mut keyless = order("a");
    keyless.headers_mut().remove("idempotency-key");
    let got = got(shop.app.clone(), keyless).await;
    assert_eq!(got.status, StatusCode::INTERNAL_SERVER_ERROR, "{got:?}");
    assert_eq!((shop.runs(), shop.booked("a").await), (0, 0));
}

/// The same key under another guarantee: its claim is there for all to see.
pub(crate) async fn a_call_outside_of_a_transaction_is_waited_for<P: Place>() {
    let shop = Shop::<P>::open(&[How::Books]).await;
    let operation = Operation::new("POST /bookings").unwrap();
    let call = Call::new(&Arc::default(), &Scope::anonymous(), "a", operation).unwrap();
    let Begun::Fresh(claim) = shop.once.begin(&call).await else { panic!("it is free") };
    let waits = tokio::spawn(got(shop.app.clone(), order("a")));
    eventually(PATIENCE, "who waits", || async { (shop.once.watched() == 1).then_some(()) })
        .await
        .unwrap();
    assert_eq!((shop.runs(), shop.booked("a").await), (0, 0));
    claim.release().await;
    let done = waits.await.unwrap();
    assert_eq!((done.status, done.is_replay()), (StatusCode::OK, false), "{done:?}");
    shop.assert_done("a", 1).await;
}
