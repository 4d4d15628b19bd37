//! The tracker of AWS Lambda Powertools, and the two timelines that fencing is judged by.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use semel::core::{Expect, Next};
use semel::timer::sleep;
use semel::{
    Begun, CallError, Code, Doubtful, InDoubtPolicy, InFlight, Once, Policy, PolicyBuilder,
    ProblemKind, Reconcile, Reconciled,
};
use semel_http::{Fingerprint, HttpSettings, IdempotencyLayer};

use super::support::{
    App, Latch, Place, bytes, call, fresh, keyed, once, once_of, open, order, over, refused,
    request,
};

/// A policy whose lease nobody renews: an owner that takes longer than a second is late.
fn unrenewed() -> PolicyBuilder {
    let second = Duration::from_secs(1);
    Policy::builder().in_progress_time_to_live(second).max_execution(second)
}

/// Work of so many seconds under key `k`, that ends with this.
async fn work(
    once: &Once,
    runs: &AtomicU32,
    seconds: u64,
    end: Result<&str, &'static str>,
) -> Result<String, CallError<&'static str>> {
    let work = async |_| {
        runs.fetch_add(1, Ordering::SeqCst);
        sleep(Duration::from_secs(seconds)).await;
        end.map(str::to_owned)
    };
    once.call("k").run(work).await
}

/// The first owner stalled, a second one took over and finished; then the first one finished as
/// well, overwrote the record, and later retries were given its answer instead.
#[tokio::test(start_paused = true)]
async fn a3_z1_a_late_owner_does_not_overwrite_its_successors_answer() {
    let (once, runs) = (once_of(unrenewed()), AtomicU32::new(0));
    let (late, next) = tokio::join!(work(&once, &runs, 3, Ok("late")), async {
        sleep(Duration::from_millis(1_500)).await;
        work(&once, &runs, 0, Ok("next")).await
    });
    // The late owner's caller gets the one answer that all callers get.
    assert_eq!((late.unwrap(), next.unwrap()), ("next".to_owned(), "next".to_owned()));
    assert_eq!(work(&once, &runs, 0, Ok("third")).await.unwrap(), "next");
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

/// The first owner stalled and failed late. Its clean-up removed its successor's finished record,
/// and the next retry ran a third time.
#[tokio::test(start_paused = true)]
async fn a3_z2_a_late_owners_failure_does_not_remove_its_successors_record() {
    let (once, runs) = (once_of(unrenewed()), AtomicU32::new(0));
    let (late, next) = tokio::join!(work(&once, &runs, 3, Err("late")), async {
        sleep(Duration::from_millis(1_500)).await;
        work(&once, &runs, 0, Ok("next")).await
    });
    assert!(matches!(late, Err(CallError::Work("late"))), "{late:?}");
    assert_eq!(next.unwrap(), "next");
    assert_eq!(work(&once, &runs, 0, Ok("third")).await.unwrap(), "next");
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

/// A duplicate that was refused, or did not match, cleaned up behind itself and so deleted the
/// record of the call that still ran.
#[tokio::test]
async fn p1_a_refused_duplicate_or_mismatch_leaves_the_owners_record_alone() {
    let latch = Latch::shut();
    let layer = IdempotencyLayer::new(once()).in_flight(InFlight::Reject);
    let app = App::held(&layer, &latch);
    let first = app.start(order("k"));
    latch.reached(1).await;
    for _ in 0..2 {
        assert_eq!(app.send(order("k")).await.status, 409);
        assert_eq!(app.send(keyed("k", request("POST", "/orders", "{}"))).await.status, 422);
    }
    latch.open();
    assert_eq!(first.await.unwrap().got(), (201, "order 1"));
    assert_eq!(app.send(order("k")).await.got(), (201, "order 1"));
    assert_eq!(app.runs(), 1);
}

/// Writing the result down lost the digest of the request, and an honest retry was told that its
/// payload did not match.
#[tokio::test]
async fn p2_the_fingerprint_survives_completion_in_every_store() {
    let places = Place::all().await;
    let mut engines = vec![once()];
    for place in &places {
        engines.push(over(place.open().await, Policy::builder()));
    }
    for engine in engines {
        let app = App::creating(&IdempotencyLayer::new(engine));
        assert_eq!(app.send(order("k")).await.got(), (201, "order 1"));
        let honest = app.send(order("k")).await;
        assert_eq!((honest.got(), honest.is_replay()), ((201, "order 1"), true));
        assert_eq!(app.send(keyed("k", request("POST", "/orders", "{}"))).await.status, 422);
    }
}

#[derive(Debug)]
struct NothingHappened;

impl Reconcile for NothingHappened {
    fn reconcile<'a>(&'a self, _: &'a Doubtful) -> BoxFuture<'a, Reconciled> {
        Box::pin(async { Reconciled::NoEffect })
    }
}

/// A time limit let the same key run again while the first run might still go on, and nobody
/// could choose.
#[tokio::test(start_paused = true)]
async fn p4_the_lease_and_what_follows_it_can_be_chosen() {
    let asked: Arc<dyn Reconcile> = Arc::new(NothingHappened);
    for (in_doubt, runs_again) in [
        (InDoubtPolicy::Rerun, true),
        (InDoubtPolicy::Reject, false),
        (InDoubtPolicy::Reconcile(asked), true),
    ] {
        let lease = Duration::from_secs(90);
        let policy = Policy::builder().in_progress_time_to_live(lease).in_doubt(in_doubt);
        let once = once_of(policy.in_flight(InFlight::Reject));
        let call = call(&once, "k");
        drop(fresh(&once, &call).await);
        sleep(Duration::from_secs(89)).await;
        assert!(matches!(once.begin(&call).await, Begun::Busy(_)));
        sleep(Duration::from_secs(1)).await;
        if runs_again {
            fresh(&once, &call).await.release().await;
        } else {
            assert_eq!(refused(&once, &call).await.code(), Code::InDoubt);
        }
    }
}

/// A process died in the middle, and its key answered "in progress" for the whole retention.
#[tokio::test]
async fn p5_the_key_of_a_process_that_died_is_usable_within_the_lease() {
    for place in Place::all().await {
        dies_with_its_key(&place.url).await;
    }
}

async fn dies_with_its_key(url: &str) {
    let policy = Policy::builder().in_progress_time_to_live(Duration::from_millis(500));
    let latch = Latch::shut();
    let dies = {
        let (url, policy, latch) = (url.to_owned(), policy.clone(), latch.clone());
        async move {
            let layer = IdempotencyLayer::new(over(open(&url).await, policy));
            let app = App::held(&layer, &latch);
            app.send(order("k")).await
        }
    };
    let process = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    process.spawn(dies);
    latch.reached(1).await;
    process.shutdown_background();
    let app = App::creating(&IdempotencyLayer::new(over(open(url).await, policy)));
    assert_eq!(app.send(order("k")).await.got(), (201, "order 1"), "{url}");
}

/// Fields that were selected and missing all hashed to the same, so that unrelated requests
/// shared one record.
#[tokio::test]
async fn p6_a_selection_that_finds_nothing_is_an_error_and_not_equality() {
    let select = Fingerprint::select(["$.order.id"]).unwrap();
    let layer = IdempotencyLayer::new(once()).fingerprint(select);
    let app = App::creating(&layer);
    for body in ["{}", r#"{"order":null}"#, r#"{"order":{"id":null}}"#, "[]", "7", "null", ""] {
        let answer = app.send(keyed("k", request("POST", "/orders", body))).await;
        assert_eq!(answer.told(), (400, "CACHING_VALIDATION_001"), "{body}");
    }
    assert_eq!(app.runs(), 0);
    let with_id = |body| keyed("k", request("POST", "/orders", body));
    assert_eq!(app.send(with_id(r#"{"order":{"id":1},"at":1}"#)).await.status, 201);
    assert!(app.send(with_id(r#"{"at":2,"order":{"id":1}}"#)).await.is_replay());
    assert_eq!(app.send(with_id(r#"{"order":{"id":2}}"#)).await.status, 422);
}

/// A cache in the process was filled before the record was checked, and answered from a call that
/// had not ended.
#[tokio::test]
async fn p8_nothing_in_the_process_answers_for_the_store() {
    let once = once_of(Policy::builder().in_flight(InFlight::Reject));
    let call = call(&once, "k");
    let mut claim = fresh(&once, &call).await;
    assert!(matches!(once.begin(&call).await, Begun::Busy(_)));
    let _ = claim.record(bytes("first")).await;
    let Begun::Replay(replay) = once.begin(&call).await else { panic!() };
    assert_eq!(replay.outcome, bytes("first"));
    // What the store has forgotten, nobody remembers.
    let _ = once.store().swap(call.key(), Expect::Any, Next::Delete).await.unwrap();
    fresh(&once, &call).await.release().await;
}

/// Two operations shared a store, which kept the first one's settings for both.
#[tokio::test]
async fn p9_settings_belong_to_the_operation_and_not_to_the_store() {
    let layer = IdempotencyLayer::new(once());
    let marker = Some(http::HeaderName::from_static("x-again"));
    let settings = HttpSettings::builder().replay_marker(marker).build().unwrap();
    let loose = layer.clone().operation("loose").settings(settings);
    let loose = App::creating(&loose.fingerprint(Fingerprint::Off));
    let strict = App::creating(&layer.operation("strict"));
    let other = |key| keyed(key, request("POST", "/orders", "{}"));
    for (app, key, status, mark) in [(&strict, "s", 422, ""), (&loose, "l", 201, "true")] {
        app.send(order(key)).await;
        let again = app.send(other(key)).await;
        assert_eq!((again.status, again.header("x-again")), (status, mark));
    }
}

/// The decorator's state was shared between threads without a guard.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn p10_a_thousand_parallel_calls_share_one_engine() {
    const fn can_be_shared<T: Send + Sync + 'static>() {}
    const { can_be_shared::<Once>() };
    const { can_be_shared::<IdempotencyLayer>() };
    let (once, runs) = (once(), Arc::new(AtomicU32::new(0)));
    let calls = (0..1_000_usize).map(|n| {
        let (once, runs) = (once.clone(), Arc::clone(&runs));
        tokio::spawn(async move {
            let work = async |_| {
                runs.fetch_add(1, Ordering::SeqCst);
                Ok::<_, ()>(n % 100)
            };
            let value = once.call(&format!("k-{}", n % 100)).run(work).await;
            (n, value.map_err(|error| error.to_string()))
        })
    });
    for call in calls.collect::<Vec<_>>() {
        let (n, value) = call.await.unwrap();
        assert_eq!(value, Ok(n % 100));
    }
    assert_eq!((runs.load(Ordering::SeqCst), once.held(), once.watched()), (100, 0, 0));
}

/// The same for a function: what could not be written as bytes must not equal anything, and
/// "nothing" is an input of its own.
#[tokio::test]
async fn p6_an_input_that_can_not_be_compared_is_an_error() {
    struct Unwritable;
    impl serde::Serialize for Unwritable {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no bytes for it"))
        }
    }
    let once = once();
    let called: Result<u8, CallError<()>> =
        once.call("k").input(&Unwritable).run(async |_| panic!("it must not run")).await;
    assert!(matches!(called, Err(CallError::Codec(_))), "{called:?}");
    let none: Result<u8, CallError<()>> =
        once.call("k").input(&None::<u8>).run(async |_| Ok(1)).await;
    let some: Result<u8, CallError<()>> = once.call("k").input(&Some(1)).run(async |_| Ok(2)).await;
    let Err(CallError::Refused(problem)) = some else { panic!("{some:?}") };
    assert!(matches!(problem.kind(), ProblemKind::PayloadMismatch { .. }));
    assert_eq!(none.unwrap(), 1);
}
