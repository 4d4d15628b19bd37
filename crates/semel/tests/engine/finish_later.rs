//! C5, F-62: outcomes that the store does not take at once, and shutting down meanwhile.

use std::sync::atomic::Ordering;

use semel::timer::sleep;
use semel::{Begun, Code, Drained, Finished, InDoubtPolicy, Once};

use super::begin::refused;
use super::support::metrics::Counted;
use super::support::stopwatch::Stopwatch;
use super::support::stores::{NoRecords, Wrapped};
use super::support::{
    bytes, call, dyn_store, fresh, impatient, part, policy, replayed, secs, until,
};

fn taking_no_records() -> (Wrapped<NoRecords>, Once) {
    let store = Wrapped::new(NoRecords::default());
    let once = Once::new(dyn_store(store.clone()));
    (store, once)
}

/// The caller has its answer, the keeper renews, and the record is written once the store is back.
#[tokio::test(start_paused = true)]
async fn a_record_is_tried_again_under_its_lease_until_the_store_takes_it() {
    let counted = Counted::captured();
    let (store, once) = taking_no_records();
    let call = call(&impatient(), "k");
    let mut claim = fresh(&once, &call).await;
    assert!(matches!(claim.record(bytes(b"once")).await, Finished::Pending));
    drop(claim);
    for _ in 0..20 {
        sleep(secs(30)).await;
        assert!(matches!(once.begin(&call).await, Begun::Busy(_)), "never free");
    }
    assert_eq!((once.held(), once.tasks().len()), (1, 1));
    let tried = store.around.refused.load(Ordering::SeqCst);
    assert!((120..=260).contains(&tried), "{tried} tries in ten minutes");
    store.around.open.store(true, Ordering::SeqCst);
    until("it is recorded", || once.tasks().is_empty()).await;
    assert_eq!(once.held(), 0);
    assert_eq!(replayed(&once, &call).await, b"once");
    assert_eq!(counted.of("semel_records_failed_total"), 1);
    assert_eq!(counted.of("semel_records_given_up_total"), 0);
}

/// Not for ever: after the cap it is given up, counted, and in doubt. Never free.
#[tokio::test(start_paused = true)]
async fn a_record_that_is_never_taken_leaves_the_call_in_doubt() {
    let counted = Counted::captured();
    let (_, once) = taking_no_records();
    let reject =
        policy(|policy| policy.in_doubt(InDoubtPolicy::Reject).in_flight(semel::InFlight::Reject));
    let call = call(&reject, "k");
    let mut claim = fresh(&once, &call).await;
    sleep(secs(3_000)).await;
    assert!(matches!(claim.record(bytes(b"once")).await, Finished::Pending));
    sleep(secs(500)).await;
    assert_eq!(once.tasks().len(), 1, "the cap is not reached");
    sleep(secs(200)).await;
    assert_eq!((once.held(), once.tasks().len()), (0, 0));
    assert_eq!(counted.of("semel_records_given_up_total"), 1);
    assert_eq!(refused(once.begin(&call).await).code(), Code::InDoubt);
}

/// A call that ended close to its cap, or after it, is tried for a lease at least.
#[tokio::test(start_paused = true)]
async fn a_record_at_the_cap_is_tried_again_too() {
    let (store, once) = taking_no_records();
    let capped = policy(|policy| policy.max_execution(secs(60)).in_doubt(InDoubtPolicy::Reject));
    let call = call(&capped, "k");
    let mut claim = fresh(&once, &call).await;
    sleep(secs(100)).await;
    assert!(matches!(claim.record(bytes(b"once")).await, Finished::Pending));
    sleep(secs(50)).await;
    store.around.open.store(true, Ordering::SeqCst);
    until("it is recorded", || once.tasks().is_empty()).await;
    assert_eq!(replayed(&once, &call).await, b"once");
}

/// The part is still being tried when the whole is recorded; whichever comes last, the whole is
/// what is replayed.
#[tokio::test(start_paused = true)]
async fn a_part_that_comes_late_does_not_replace_the_whole() {
    let (store, once) = taking_no_records();
    let call = call(&impatient(), "k");
    let mut claim = fresh(&once, &call).await;
    assert!(matches!(claim.record(part(b"head")).await, Finished::Pending));
    store.around.open.store(true, Ordering::SeqCst);
    assert!(matches!(claim.record(bytes(b"whole")).await, Finished::Recorded));
    assert_eq!(once.tasks().len(), 1);
    until("the background is done", || once.tasks().is_empty()).await;
    assert_eq!(replayed(&once, &call).await, b"whole");
    sleep(secs(100)).await;
    assert_eq!(once.held(), 0);
}

/// F-27: a graceful shutdown waits for what is still to be recorded, as long as it may.
#[tokio::test(start_paused = true)]
async fn draining_waits_for_records_on_their_way() {
    let (store, once) = taking_no_records();
    let call = call(&impatient(), "k");
    assert_eq!(once.drain(secs(1)).await, Drained::All, "nothing is in flight");
    let mut claim = fresh(&once, &call).await;
    assert!(matches!(claim.record(bytes(b"once")).await, Finished::Pending));
    let began = Stopwatch::started();
    assert_eq!(once.drain(secs(10)).await, Drained::StillRunning(1));
    assert_eq!(began.elapsed().as_secs(), 10);
    // What is begun after draining began is waited for as well.
    let later = once.tasks().spawn(sleep(secs(40)));
    store.around.open.store(true, Ordering::SeqCst);
    let began = Stopwatch::started();
    assert_eq!(once.drain(secs(1_000)).await, Drained::All);
    assert_eq!(began.elapsed().as_secs(), 40);
    assert!(later.is_finished());
    assert_eq!(replayed(&once, &call).await, b"once");
}

/// A drained engine still works: draining closes nothing.
#[tokio::test(start_paused = true)]
async fn a_drained_engine_takes_calls() {
    let (store, once) = taking_no_records();
    store.around.open.store(true, Ordering::SeqCst);
    assert_eq!(once.drain(secs(1)).await, Drained::All);
    let mut claim = fresh(&once, &call(&impatient(), "k")).await;
    sleep(secs(100)).await;
    assert!(claim.permit().remaining() > secs(30));
    assert!(matches!(claim.record(bytes(b"x")).await, Finished::Recorded));
    assert_eq!(once.drain(secs(1)).await, Drained::All);
}
