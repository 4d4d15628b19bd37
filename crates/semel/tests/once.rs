//! The engine over the memory store, with time that the test owns.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use semel::timer::{SystemClock, sleep};
use semel::{CallError, InFlight, MemoryStore, Once, Policy, ProblemKind, Scope};

fn once() -> Once {
    Once::new(Arc::new(MemoryStore::new(SystemClock::new())))
}

fn alice() -> Scope {
    Scope::new("acme", "alice").unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_repeat_gets_the_first_value_and_the_work_does_not_run_again() {
    let (once, runs) = (once(), AtomicU32::new(0));
    for _ in 0..3 {
        let value: Result<u32, CallError<()>> = once
            .call("order-1")
            .scope(alice())
            .operation("orders.create")
            .input(&("keyboard", 2))
            .run(async |_| Ok(runs.fetch_add(1, Ordering::SeqCst) + 7))
            .await;
        assert_eq!(value.unwrap(), 7);
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert_eq!(once.held(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_failure_frees_the_key_and_a_retry_runs() {
    let once = once();
    let failed = once.call("k").run(async |_| Err::<u8, _>("card declined")).await;
    assert!(matches!(failed, Err(CallError::Work("card declined"))));
    let value: Result<u8, CallError<&str>> = once.call("k").run(async |_| Ok(3)).await;
    assert_eq!(value.unwrap(), 3);
}

#[tokio::test(start_paused = true)]
async fn work_of_ten_leases_is_renewed_and_runs_once() {
    let (once, runs) = (once(), Arc::new(AtomicU32::new(0)));
    let patient = Policy::builder().in_flight(InFlight::Wait(Duration::from_secs(3_000)));
    let patient = Arc::new(patient.build().unwrap());
    let calls = (0..5).map(|_| {
        let (once, runs, policy) = (once.clone(), runs.clone(), patient.clone());
        tokio::spawn(async move {
            once.call("slow")
                .policy(policy)
                .run(async |permit| {
                    runs.fetch_add(1, Ordering::SeqCst);
                    sleep(Duration::from_secs(600)).await;
                    assert!(permit.remaining() > Duration::from_secs(30));
                    Ok::<_, ()>("done".to_owned())
                })
                .await
                .unwrap()
        })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap(), "done");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert_eq!((once.held(), once.watched()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_call_in_flight_is_told_when_to_come_back() {
    let once = once();
    let first = tokio::spawn({
        let once = once.clone();
        async move {
            once.call("k")
                .run(async |_| {
                    sleep(Duration::from_secs(30)).await;
                    Ok::<_, ()>(1)
                })
                .await
        }
    });
    sleep(Duration::from_secs(1)).await;
    let second: Result<u8, CallError<()>> = once.call("k").run(async |_| Ok(2)).await;
    let Err(CallError::Refused(problem)) = second else { panic!("{second:?}") };
    let ProblemKind::InProgress { retry_after } = problem.kind() else { panic!("{problem:?}") };
    assert_eq!(*retry_after, Some(Duration::from_secs(5)));
    assert_eq!(first.await.unwrap().unwrap(), 1);
}
