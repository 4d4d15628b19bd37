//! The trackers of DBOS, and the rocket-rides example.

use std::sync::Arc;
use std::time::Duration;

use semel::core::protocol::Status;
use semel::core::{Fault, FaultAction, StoreErrorKind, StoreOp};
use semel::timer::{SystemClock, sleep};
use semel::{Finished, MemoryStore, Policy, Store};
use semel_http::IdempotencyLayer;

use super::support::{
    App, Latch, bytes, call, created, fresh, keyed, once, once_of, order, over, reply, request,
    sqlite,
};

/// Sends so many identical requests at once to each of the services, and says how often one of
/// them ran.
async fn rush(apps: &[App], latch: &Latch, each: usize) -> u32 {
    let calls: Vec<_> =
        apps.iter().flat_map(|app| (0..each).map(|_| app.start(order("k")))).collect();
    latch.reached(1).await;
    latch.open();
    for call in calls {
        assert_eq!(call.await.unwrap().got(), (201, "order 1"));
    }
    apps.iter().map(App::runs).sum()
}

/// One after the other, repeats were found; at once, all of them ran.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d1_of_two_hundred_identical_calls_at_once_one_runs() {
    let latch = Latch::shut();
    let app = App::held(&IdempotencyLayer::new(once()), &latch);
    assert_eq!(rush(&[app], &latch, 200).await, 1);
}

/// The same, where the calls came to different processes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d2_of_identical_calls_to_several_stores_on_one_file_one_runs() {
    let (directory, latch) = (tempfile::tempdir().unwrap(), Latch::shut());
    let mut apps = Vec::new();
    for _ in 0..3 {
        let engine = over(sqlite(directory.path()).await, Policy::builder());
        apps.push(App::held(&IdempotencyLayer::new(engine), &latch));
    }
    assert_eq!(rush(&apps, &latch, 30).await, 1);
}

/// Another function that was started under the same id spoiled what the first one needed to be
/// recovered.
#[tokio::test]
async fn d4_another_operation_is_refused_without_touching_the_owners_entry() {
    let engine = once();
    let layer = IdempotencyLayer::new(engine.clone());
    let orders = App::creating(&layer.clone().operation("orders.create"));
    let payments = App::creating(&layer.operation("payments.create"));
    orders.send(order("k")).await;
    let entries = async || engine.store().scan("", None, 10).await.unwrap().entries;
    let (before, versions) = (entries().await, |entries: &[(_, semel::core::Entry)]| {
        entries.iter().map(|(_, entry)| (entry.version, entry.value.clone())).collect::<Vec<_>>()
    });
    assert_eq!(payments.send(order("k")).await.told(), (409, "CACHING_CONFLICT_003"));
    assert_eq!(versions(&entries().await), versions(&before));
    assert_eq!((payments.runs(), orders.send(order("k")).await.is_replay()), (0, true));
}

/// A mended connection switched one of two checks off, and the other one hid that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d5_the_claim_and_the_wake_up_each_hold_without_the_other() {
    // Without a wake-up: every hint is lost.
    let deaf = Fault::with_plan(MemoryStore::new(SystemClock::new()), |call| match call.op {
        StoreOp::Changed => FaultAction::LoseHint,
        _ => FaultAction::Pass,
    });
    let latch = Latch::shut();
    let app = App::held(&IdempotencyLayer::new(over(Arc::new(deaf), Policy::builder())), &latch);
    assert_eq!(rush(&[app], &latch, 20).await, 1);
    // Without anything shared in the process: an engine for each service, one store.
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(SystemClock::new()));
    let latch = Latch::shut();
    let engines = (0..20).map(|_| over(Arc::clone(&store), Policy::builder()));
    let apps: Vec<_> =
        engines.map(|once| App::held(&IdempotencyLayer::new(once), &latch)).collect();
    assert_eq!(rush(&apps, &latch, 1).await, 1);
}

/// Who met a running call under the same id was told so by an exception, and had no way to learn
/// which call that was.
#[tokio::test]
async fn d6_a_collision_says_which_call_is_there() {
    let layer = IdempotencyLayer::new(once());
    let orders = App::creating(&layer.clone().operation("orders.create"));
    let payments = App::creating(&layer.operation("payments.create"));
    orders.send(order("k")).await;
    let told = payments.send(order("k")).await.problem("params");
    assert_eq!(told["operation"], "payments.create");
    assert_eq!(told["recorded"], "orders.create");
}

/// "It ran elsewhere already" was an error like any other, and was then recorded as the result.
#[tokio::test(start_paused = true)]
async fn d8_that_an_owner_was_fenced_out_is_never_recorded() {
    let second = Duration::from_secs(1);
    let policy = Policy::builder().in_progress_time_to_live(second).max_execution(second);
    let once = once_of(policy);
    let call = call(&once, "k");
    let mut late = fresh(&once, &call).await;
    sleep(second).await;
    let mut next = fresh(&once, &call).await;
    assert!(matches!(late.record(bytes("late")).await, Finished::Superseded(_)));
    assert!(matches!(once.peek(call.key()).await.unwrap(), Status::InFlight { .. }));
    assert!(matches!(next.record(bytes("next")).await, Finished::Recorded));
    assert!(matches!(late.record(bytes("late")).await, Finished::Superseded(_)));
    assert_eq!(once.peek(call.key()).await.unwrap(), Status::Done(bytes("next")));
}

/// The commit went through and its acknowledgement was lost; the retry inserted a second time.
#[tokio::test]
async fn d9_a_record_whose_acknowledgement_was_lost_is_found_again() {
    let fault = Fault::new(MemoryStore::new(SystemClock::new()));
    // Both the claim and the record are applied, and both replies are lost.
    for _ in 0..2 {
        fault.next(StoreOp::Swap, FaultAction::FailAfter(StoreErrorKind::Unknown));
    }
    let engine = over(Arc::new(fault.clone()), Policy::builder());
    let app = App::creating(&IdempotencyLayer::new(engine));
    let first = app.send(order("k")).await;
    assert_eq!((first.got(), first.header("idempotency-durable")), ((201, "order 1"), ""));
    assert_eq!(fault.left(StoreOp::Swap), 0);
    let again = app.send(order("k")).await;
    assert_eq!((again.got(), again.is_replay(), app.runs()), ((201, "order 1"), true, 1));
}

/// A transaction was held open over a call to the card network; and the 503 that came of it was
/// kept as the final answer.
#[tokio::test]
async fn d10_no_transaction_of_the_store_is_open_while_the_work_runs() {
    let (directory, latch) = (tempfile::tempdir().unwrap(), Latch::shut());
    let ours = over(sqlite(directory.path()).await, Policy::builder());
    let theirs = over(sqlite(directory.path()).await, Policy::builder());
    let slow = latch.clone();
    let app = App::new(&IdempotencyLayer::new(ours), move |run| {
        let slow = slow.clone();
        async move {
            slow.pass().await;
            if run.number == 1 { reply(503, "the network is down") } else { created(run).await }
        }
    });
    let first = app.start(order("k"));
    latch.reached(1).await;
    let other = App::creating(&IdempotencyLayer::new(theirs));
    assert_eq!(other.send(keyed("k-2", request("POST", "/orders", "{}"))).await.status, 201);
    latch.open();
    assert_eq!(first.await.unwrap().status, 503);
    assert_eq!(app.send(order("k")).await.got(), (201, "order 2"));
}
