//! The function form where work fails, is cut off, or the store does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use semel::core::{FaultAction, Gate, StoreErrorKind, StoreOp};
use semel::timer::sleep;
use semel::{
    CallError, Code, InDoubtPolicy, InFlight, OnException, Once, Permit, Policy, StoreDown,
};
use serde::{Deserialize, Serialize, Serializer};

use super::run::refused;
use super::support::stores::{Stepping, Wrapped};
use super::support::{
    LEASE, dyn_store, faulty, gate_for, impatient, millis, policy, polled, secs, until,
};

/// Runs a function of value 2 and tells what it came to.
async fn again(once: &Once, policy: &Arc<Policy>) -> Result<u8, CallError<&'static str>> {
    once.call("k").policy(Arc::clone(policy)).run(async |_| Ok(2)).await
}

#[tokio::test(start_paused = true)]
async fn a_failure_frees_the_key_and_a_retry_runs() {
    let (_, once) = faulty();
    for round in 1..4 {
        let failed = once.call("k").run(async |permit: Permit| Err::<u8, _>(permit.fence())).await;
        let Err(CallError::Work(_)) = failed else { panic!("{failed:?}") };
        assert_eq!(once.held(), 0, "{round}");
    }
    assert_eq!(again(&once, &impatient()).await.unwrap(), 2);
}

async fn panicking(once: &Once, policy: &Arc<Policy>) {
    let (once, policy) = (once.clone(), Arc::clone(policy));
    let work = tokio::spawn(async move {
        let work = async |_| -> Result<u8, ()> { panic!("on purpose") };
        drop(once.call("k").policy(policy).run(work).await);
    });
    let panic = work.await.unwrap_err().into_panic();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"), "it goes on as it was");
}

/// Released, recorded or in doubt, as the policy for exceptions says; "recorded" used to run again.
#[tokio::test(start_paused = true)]
async fn a_panic_is_treated_as_the_policy_says() {
    for (on_exception, expected) in [
        (OnException::Release, None),
        (OnException::Record, Some(Code::ResponseUnavailable)),
        (OnException::Doubt, Some(Code::InDoubt)),
    ] {
        let (_, once) = faulty();
        let policy = policy(|policy| {
            let doubt = match on_exception {
                OnException::Doubt => InDoubtPolicy::Reject,
                _ => InDoubtPolicy::Rerun,
            };
            policy.on_exception(on_exception).in_doubt(doubt)
        });
        panicking(&once, &policy).await;
        assert_eq!(once.held(), 0);
        for _ in 0..2 {
            let result = again(&once, &policy).await;
            match expected {
                None => assert_eq!(result.unwrap(), 2),
                Some(code) => assert_eq!(refused(result).code(), code, "{on_exception}"),
            }
            sleep(LEASE).await;
        }
    }
}

/// Y1, F-02: work that is cut off is not free. It stays held until its lease ends, and then runs
/// again where the policy says so.
#[tokio::test(start_paused = true)]
async fn y1_work_that_is_cut_off_stays_held_until_its_lease_ends() {
    let reject =
        policy(|policy| policy.in_doubt(InDoubtPolicy::Reject).in_flight(InFlight::Reject));
    for (policy, reruns) in [(impatient(), true), (reject, false)] {
        let ((_, once), runs) = (faulty(), AtomicU32::new(0));
        let cut = once.call("k").policy(Arc::clone(&policy)).run(async |_| {
            runs.fetch_add(1, Ordering::SeqCst);
            std::future::pending::<()>().await;
            Ok::<u8, ()>(1)
        });
        assert!(polled(2, cut).await.is_none());
        assert_eq!((runs.load(Ordering::SeqCst), once.held()), (1, 0));
        assert_eq!(refused(again(&once, &policy).await).code(), Code::InProgress);
        sleep(LEASE).await;
        let result = again(&once, &policy).await;
        if reruns {
            assert_eq!(result.unwrap(), 2);
        } else {
            assert_eq!(refused(result).code(), Code::InDoubt);
        }
    }
}

/// F-03, fiber and others: cut off while its value is being recorded, it is recorded all the same.
#[tokio::test(start_paused = true)]
async fn work_that_ended_is_recorded_even_if_nobody_waits_for_it() {
    let mut cut = 0;
    for polls in 1.. {
        let once = Once::new(dyn_store(Wrapped::new(Stepping)));
        let runs = AtomicU32::new(0);
        let call = once.call("k").run(async |_| {
            runs.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ()>(1)
        });
        let ended = polled(polls, call).await.is_some();
        let ran = runs.load(Ordering::SeqCst) == 1;
        cut += usize::from(ran && !ended);
        until("the background is done", || once.tasks().is_empty()).await;
        assert_eq!(once.held(), 0);
        let expected = if ran { 1 } else { 2 };
        assert_eq!(again(&once, &impatient()).await.unwrap(), expected, "after {polls} polls");
        if ended {
            break;
        }
    }
    assert!(cut >= 2, "before the write and behind it");
}

/// The same for an error and for a panic: their claims are given up.
#[tokio::test(start_paused = true)]
async fn work_that_failed_is_given_up_even_if_nobody_waits_for_it() {
    for panics in [false, true] {
        let (store, once) = faulty();
        let begun = once.clone();
        let call = tokio::spawn(async move {
            let work = async |_| -> Result<u8, &str> {
                sleep(secs(1)).await;
                if panics { panic!("on purpose") } else { Err("failed") }
            };
            begun.call("k").run(work).await
        });
        sleep(millis(500)).await;
        store.next(StoreOp::Swap, FaultAction::HoldBefore(gate_for(secs(3))));
        sleep(secs(1)).await;
        assert_eq!(store.left(StoreOp::Swap), 0, "it is being released");
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        assert_eq!(once.tasks().len(), 1, "where a shutdown waits for it");
        until("the background is done", || once.tasks().is_empty()).await;
        assert_eq!(again(&once, &impatient()).await.unwrap(), 2);
    }
}

/// I10: a store that is down runs nothing, or runs it and says so.
#[tokio::test(start_paused = true)]
async fn a_store_that_is_down_runs_work_only_where_the_policy_says_so() {
    let open = policy(|policy| policy.store_down(StoreDown::Open));
    for (policy, runs_expected) in [(impatient(), 0), (open, 1)] {
        let ((store, once), runs) = (faulty(), AtomicU32::new(0));
        store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
        let result = once
            .call("k")
            .policy(policy)
            .run(async |permit: Permit| {
                runs.fetch_add(1, Ordering::SeqCst);
                // Nothing protects it, and it can tell.
                assert_eq!((permit.fence().get(), permit.attempt()), (0, 1));
                assert!(permit.remaining() > secs(86_400));
                let lost = futures_util::FutureExt::now_or_never(permit.lost());
                assert!(lost.is_none());
                Ok::<u8, &str>(1)
            })
            .await;
        assert_eq!(runs.load(Ordering::SeqCst), runs_expected);
        if runs_expected == 0 {
            assert_eq!(refused(result).code(), Code::StoreUnavailable);
        } else {
            assert_eq!(result.unwrap(), 1);
        }
        assert_eq!(once.held(), 0);
    }
}

/// The caller has its value although the store can't take it; a repeat waits for the record.
#[tokio::test(start_paused = true)]
async fn a_value_that_is_not_recorded_yet_is_given_all_the_same() {
    let (store, once) = faulty();
    let value = once
        .call("k")
        .run(async |_| {
            for _ in 0..5 {
                store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
            }
            Ok::<u8, ()>(1)
        })
        .await;
    assert_eq!(value.unwrap(), 1);
    let patient = policy(|policy| policy.in_flight(InFlight::Wait(secs(100))));
    until("the store is back", || store.left(StoreOp::Swap) == 0).await;
    assert_eq!(again(&once, &patient).await.unwrap(), 1);
}

/// The value of an owner that came too late is that of whoever took over: all get the same.
#[tokio::test(start_paused = true)]
async fn a_late_owner_gets_the_value_that_everybody_gets() {
    let (_, once) = faulty();
    let unrenewed = policy(|policy| policy.max_execution(LEASE));
    let late = {
        let once = once.clone();
        tokio::spawn(async move {
            let work = async |permit: Permit| {
                sleep(secs(100)).await;
                assert_eq!(permit.lost().await, semel::LossReason::Expired);
                Ok::<_, ()>(1)
            };
            once.call("k").policy(unrenewed).run(work).await
        })
    };
    sleep(secs(61)).await;
    // The second one works for longer than the first.
    let second = {
        let once = once.clone();
        tokio::spawn(async move {
            let work = async |_| {
                sleep(secs(42)).await;
                Ok::<_, ()>(2)
            };
            once.call("k").run(work).await
        })
    };
    assert_eq!(late.await.unwrap().unwrap(), 2);
    assert_eq!(second.await.unwrap().unwrap(), 2);
    assert_eq!(once.call("k").run(async |_| Ok::<_, ()>(3)).await.unwrap(), 2);
}

/// Writing a value may fail, or even panic; that the work was done must not be lost by it.
#[derive(Debug, Deserialize)]
struct Unwritable {
    panics: bool,
}

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        assert!(!self.panics, "on purpose");
        Err(serde::ser::Error::custom("no"))
    }
}

#[tokio::test(start_paused = true)]
async fn a_value_that_can_not_be_written_is_recorded_as_done() {
    for panics in [false, true] {
        let ((_, once), runs) = (faulty(), AtomicU32::new(0));
        let call = async || {
            once.call("k")
                .run(async |_| {
                    runs.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, ()>(Unwritable { panics })
                })
                .await
        };
        let Err(CallError::Codec(error)) = call().await else { panic!() };
        assert!(error.to_string().contains("value"), "{error}");
        assert_eq!(refused(call().await).code(), Code::ResponseUnavailable);
        assert_eq!((runs.load(Ordering::SeqCst), once.held()), (1, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn an_input_that_can_not_be_written_runs_nothing() {
    let (store, once) = faulty();
    let result = once
        .call("k")
        .input(&Unwritable { panics: false })
        .run(async |_| -> Result<u8, ()> { panic!("it must not run") })
        .await;
    let Err(CallError::Codec(error)) = result else { panic!("{result:?}") };
    assert!(error.to_string().contains("input"), "{error}");
    assert_eq!(store.calls(StoreOp::Swap), 0);
}

/// A store that hangs while the value is recorded: the caller waits five seconds, no longer.
#[tokio::test(start_paused = true)]
async fn a_record_that_hangs_holds_the_caller_up_for_five_seconds() {
    let (store, once) = faulty();
    let began = super::support::stopwatch::Stopwatch::started();
    let value = once
        .call("k")
        .run(async |_| {
            store.next(StoreOp::Swap, FaultAction::HoldBefore(Gate::closed()));
            Ok::<u8, ()>(1)
        })
        .await;
    assert_eq!((value.unwrap(), began.elapsed().as_secs()), (1, 5));
    until("the background is done", || once.tasks().is_empty()).await;
    assert_eq!(again(&once, &impatient()).await.unwrap(), 1);
}

/// F-02, and the end of a process: a runtime that shuts down while a value is being recorded. The
/// call does not hang, nothing runs on, and the key is not free.
#[test]
fn a_runtime_that_ends_during_a_record_leaves_the_key_held() {
    let clock = semel::core::ManualClock::at(semel::core::StoreTime::from_micros(1));
    let store = semel::core::Fault::new(semel::MemoryStore::new(clock));
    let once = Once::new(dyn_store(store.clone()));
    let runtime =
        || tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let ending = runtime().unwrap();
    ending.block_on(async {
        let called = once.clone();
        let held = store.clone();
        tokio::spawn(async move {
            let work = async |_| {
                held.next(StoreOp::Swap, FaultAction::HoldBefore(Gate::closed()));
                Ok::<u8, ()>(1)
            };
            called.call("k").run(work).await
        });
        sleep(secs(1)).await;
        assert_eq!(store.left(StoreOp::Swap), 0, "it is being recorded");
    });
    drop(ending);
    assert_eq!((once.held(), once.tasks().len()), (0, 0));
    let result = runtime().unwrap().block_on(again(&once, &impatient()));
    assert_eq!(refused(result).code(), Code::InProgress);
}
