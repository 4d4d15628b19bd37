//! How long claims last: actor-ts, benhendayoussef, idempotency4j.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use semel::core::{Key, Touch};
use semel::timer::{SystemClock, sleep};
use semel::{Begun, CallError, Finished, InFlight, MemoryStore, Policy, PolicyError, Scope, Store};

use super::support::{bytes, call, fresh, once, once_of, over, sqlite};

/// A claim was written without a time to live, and blocked its key for ever.
#[tokio::test]
async fn actor_ts_984_a_claim_ends_by_itself() {
    let once = once();
    let call = call(&once, "k");
    let _claim = fresh(&once, &call).await;
    let entry = once.store().read(call.key(), Touch::No).await.unwrap().entry.unwrap();
    let (lease, keep) = (entry.lease_left.as_duration(), entry.keep_left.as_duration());
    assert!(lease > Duration::ZERO && lease <= Duration::from_secs(60), "{lease:?}");
    assert!(keep >= lease && keep <= Duration::from_secs(86_400), "{keep:?}");
    let endless = Policy::builder().in_progress_time_to_live(Duration::MAX).build();
    assert!(matches!(endless, Err(PolicyError::TooLong { .. })), "{endless:?}");
    let none = Policy::builder().in_progress_time_to_live(Duration::ZERO).build();
    assert!(matches!(none, Err(PolicyError::NotPositive { .. })), "{none:?}");
}

/// A crash left a claim behind that nobody ever removed.
#[tokio::test(start_paused = true)]
async fn benhendayoussef_11_a_claim_that_a_crash_left_behind_is_taken_over() {
    let once = once_of(Policy::builder().in_flight(InFlight::Reject));
    let call = call(&once, "k");
    let crashed = fresh(&once, &call).await;
    let fence = crashed.permit().fence();
    drop(crashed);
    sleep(Duration::from_secs(60)).await;
    let next = fresh(&once, &call).await.permit();
    assert!(next.fence() > fence && next.attempt() == 2);
}

const fn word(begun: &Begun) -> &'static str {
    match begun {
        Begun::Fresh(_) => "fresh",
        Begun::Replay(_) => "replay",
        Begun::Busy(_) => "busy",
        Begun::Refused(_) => "refused",
        Begun::Unprotected(_) => "unprotected",
    }
}

/// What one timeline looks like over a store.
async fn timeline(store: Arc<dyn Store>) -> Vec<String> {
    let lease = Duration::from_millis(400);
    let policy = Policy::builder().in_progress_time_to_live(lease).max_execution(lease);
    let hasty = over(Arc::clone(&store), policy.clone().in_flight(InFlight::Reject));
    let patient = over(store, policy);
    let (call, hasty_call) = (call(&patient, "k"), call(&hasty, "k"));
    let mut seen = Vec::new();
    let mut late = fresh(&patient, &call).await;
    seen.push(format!("live: {}", word(&hasty.begin(&hasty_call).await)));
    let mut next = fresh(&patient, &call).await;
    seen.push(format!("next: attempt {}", next.permit().attempt()));
    seen.push(format!("higher: {}", next.permit().fence() > late.permit().fence()));
    seen.push(format!(
        "late: {}",
        matches!(late.record(bytes("late")).await, Finished::Superseded(_))
    ));
    seen.push(format!("late frees: {:?}", late.release().await));
    seen.push(format!("next: {}", matches!(next.record(bytes("next")).await, Finished::Recorded)));
    seen.push(format!("done: {}", word(&patient.begin(&call).await)));
    seen
}

/// One store let a live claim be taken over and another did not let a dead one.
#[tokio::test]
async fn idempotency4j_44_all_stores_agree_on_who_may_take_over() {
    let directory = tempfile::tempdir().unwrap();
    let memory = timeline(Arc::new(MemoryStore::new(SystemClock::new()))).await;
    let sqlite = timeline(sqlite(directory.path()).await).await;
    assert_eq!(memory, sqlite);
    let told = [
        "live: busy",
        "next: attempt 2",
        "higher: true",
        "late: true",
        "late frees: NotOurs",
        "next: true",
        "done: replay",
    ];
    assert_eq!(memory, told);
}

/// A row that had been released was up for purging at once, and the purge took away the claim that
/// had come in its place.
#[tokio::test]
async fn idempotency4j_45_a_sweep_after_a_release_takes_no_later_claim() {
    let once = once();
    let call = call(&once, "k");
    fresh(&once, &call).await.release().await;
    let mut next = fresh(&once, &call).await;
    assert_eq!(once.store().sweep(10).await.unwrap(), 0);
    assert!(matches!(next.record(bytes("kept")).await, Finished::Recorded));
    assert_eq!(once.store().sweep(10).await.unwrap(), 0);
    let Begun::Replay(replay) = once.begin(&call).await else { panic!() };
    assert_eq!(replay.outcome, bytes("kept"));
}

/// One number said how long a duplicate waits and how long a claim lasts, so that who waited long
/// enough stole the claim of work that still ran.
#[tokio::test(start_paused = true)]
async fn idempotency4j_133_waiting_long_takes_nothing_over_and_giving_up_frees_nothing() {
    let long = Policy::builder().in_flight(InFlight::Wait(Duration::from_secs(900)));
    let short = Policy::builder().in_flight(InFlight::Wait(Duration::from_secs(1)));
    let (once, runs) = (once_of(long), AtomicU32::new(0));
    let short = Arc::new(short.build().unwrap());
    let work = async |_| {
        runs.fetch_add(1, Ordering::SeqCst);
        // Ten leases.
        sleep(Duration::from_secs(600)).await;
        Ok::<u8, ()>(7)
    };
    let (first, hasty, patient) = tokio::join!(
        once.call("k").run(work),
        async {
            sleep(Duration::from_secs(1)).await;
            once.call("k").policy(short).run(async |_| Ok::<u8, ()>(8)).await
        },
        async {
            sleep(Duration::from_secs(2)).await;
            once.call("k").run(async |_| Ok::<u8, ()>(9)).await
        },
    );
    assert!(matches!(hasty, Err(CallError::Refused(_))), "{hasty:?}");
    assert_eq!((first.unwrap(), patient.unwrap(), runs.load(Ordering::SeqCst)), (7, 7, 1));
    let key = Key::idempotency(&Scope::anonymous(), "k").unwrap();
    assert!(once.store().read(&key, Touch::No).await.unwrap().entry.is_some());
}
