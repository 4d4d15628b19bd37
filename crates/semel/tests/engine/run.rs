//! The function form, as long as nothing fails.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use semel::timer::sleep;
use semel::{CallError, Code, Guarantee, InFlight, Once, Problem, ProblemKind, Scope};
use serde::Serialize;
use tokio::sync::Barrier;

use super::support::stopwatch::Stopwatch;
use super::support::{faulty, millis, policy, secs, trips};

pub(crate) fn refused<T: std::fmt::Debug, E: std::fmt::Debug>(
    result: Result<T, CallError<E>>,
) -> Problem {
    match result {
        Err(CallError::Refused(problem)) => problem,
        other => panic!("not refused: {other:?}"),
    }
}

/// R3: one round trip for the claim, one for the record, one for the replay.
#[tokio::test(start_paused = true)]
async fn a_repeat_gets_the_first_value_and_the_work_does_not_run_again() {
    let ((store, once), runs) = (faulty(), AtomicU32::new(0));
    for round in 0..3_u64 {
        let value = once
            .call("order-1")
            .scope(Scope::new("acme", "alice").unwrap())
            .operation("orders.create")
            .input(&("keyboard", 2))
            .run(async |permit| {
                assert_eq!(permit.attempt(), 1);
                Ok::<_, ()>(runs.fetch_add(1, Ordering::SeqCst) + 7)
            })
            .await;
        assert_eq!(value.unwrap(), 7);
        assert_eq!(trips(&store), (2 + round, 0));
    }
    assert_eq!((runs.load(Ordering::SeqCst), once.held()), (1, 0));
}

/// D1, D2, N6, F-08: all at once, and in many threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn d1_of_two_hundred_at_once_exactly_one_runs_and_all_get_its_value() {
    let ((_, once), runs) = (faulty(), Arc::new(AtomicU32::new(0)));
    for round in 0..5 {
        let barrier = Arc::new(Barrier::new(200));
        let calls = (0..200).map(|n| {
            let (once, runs, barrier) = (once.clone(), Arc::clone(&runs), Arc::clone(&barrier));
            tokio::spawn(async move {
                barrier.wait().await;
                let key = format!("k{round}");
                let work = async |_| {
                    runs.fetch_add(1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    Ok::<_, ()>(n)
                };
                once.call(&key).run(work).await.unwrap()
            })
        });
        let mut values = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            values.push(call.await.unwrap());
        }
        assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
        assert_eq!(runs.load(Ordering::SeqCst), round + 1);
    }
    assert_eq!(once.held(), 0);
}

/// P10: a thousand tasks, a thousand keys, three calls for each.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn p10_a_thousand_tasks_side_by_side_run_each_key_once() {
    let ((_, once), runs) = (faulty(), Arc::new(AtomicU32::new(0)));
    let tasks = (0..3_000_u32).map(|n| {
        let (once, runs) = (once.clone(), Arc::clone(&runs));
        tokio::spawn(async move {
            let key = format!("k{}", n % 1_000);
            let work = async |_| {
                runs.fetch_add(1, Ordering::SeqCst);
                Ok::<_, ()>(n % 1_000)
            };
            assert_eq!(once.call(&key).run(work).await.unwrap(), n % 1_000);
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!((runs.load(Ordering::SeqCst), once.held(), once.watched()), (1_000, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn another_operation_and_another_input_are_refused() {
    let (_, once) = faulty();
    let call = async |operation: &str, input: u8| {
        once.call("k").operation(operation).input(&input).run(async |_| Ok::<u8, ()>(1)).await
    };
    call("charge", 1).await.unwrap();
    assert_eq!(refused(call("refund", 1).await).code(), Code::KeyReused);
    let problem = refused(call("charge", 2).await);
    assert_eq!(problem.kind(), &ProblemKind::PayloadMismatch { differs: vec!["input".into()] });
    assert_eq!(call("charge", 1).await.unwrap(), 1);
}

async fn called_with(once: &Once, key: &str, input: &impl Serialize) -> Option<Code> {
    match once.call(key).input(input).run(async |_| Ok::<u8, ()>(1)).await {
        Ok(_) => None,
        refused => Some(self::refused(refused).code()),
    }
}

/// F-12: the order of a map's entries is no part of the request; that of a list's is.
#[tokio::test(start_paused = true)]
async fn maps_are_the_same_input_in_any_order() {
    let (_, once) = faulty();
    let entries = || (0..100_u32).map(|n| (format!("field-{n}"), vec![n, 0]));
    let map: HashMap<_, _> = entries().collect();
    assert_eq!(called_with(&once, "map", &(&map, 7)).await, None);
    for _ in 0..5 {
        // Each has an order of its own.
        let again: HashMap<_, _> = entries().rev().collect();
        assert_ne!(again.keys().collect::<Vec<_>>(), map.keys().collect::<Vec<_>>());
        assert_eq!(called_with(&once, "map", &(&again, 7)).await, None);
    }
    let sorted: BTreeMap<_, _> = entries().collect();
    assert_eq!(called_with(&once, "map", &(sorted, 7)).await, None);
    let mismatch = Some(Code::PayloadMismatch);
    let other: HashMap<_, _> = entries().map(|(name, n)| (name, vec![n[0], 1])).collect();
    assert_eq!(called_with(&once, "map", &(other, 7)).await, mismatch);
    // Keys and values may not change places, and a list's items may not either.
    for (key, (there, back)) in [("pairs", ((1_u8, 2_u8), (2, 1))), ("same", ((1, 1), (1, 2)))] {
        assert_eq!(called_with(&once, key, &HashMap::from([there])).await, None);
        assert_eq!(called_with(&once, key, &HashMap::from([back])).await, mismatch);
    }
    assert_eq!(called_with(&once, "list", &[1_u8, 2]).await, None);
    assert_eq!(called_with(&once, "list", &[2_u8, 1]).await, mismatch);
    // Moving bytes from one to the next makes another input as well.
    assert_eq!(called_with(&once, "texts", &("ab", "c")).await, None);
    assert_eq!(called_with(&once, "texts", &("a", "bc")).await, mismatch);
}

#[tokio::test(start_paused = true)]
async fn a_call_in_flight_is_told_when_to_come_back() {
    let (_, once) = faulty();
    let (first, began) = (once.clone(), Stopwatch::started());
    let first = tokio::spawn(async move {
        let work = async |_| {
            sleep(secs(30)).await;
            Ok::<_, ()>(1)
        };
        first.call("k").run(work).await
    });
    sleep(secs(1)).await;
    let problem = refused(once.call("k").run(async |_| Ok::<u8, ()>(2)).await);
    assert_eq!(problem.kind(), &ProblemKind::InProgress { retry_after: Some(secs(5)) });
    assert_eq!(began.elapsed().as_secs(), 6, "after the wait of the policy");
    let patient = policy(|policy| policy.in_flight(InFlight::Wait(secs(100))));
    assert_eq!(once.call("k").policy(patient).run(async |_| Ok::<u8, ()>(2)).await.unwrap(), 1);
    assert_eq!(first.await.unwrap().unwrap(), 1);
}

#[tokio::test(start_paused = true)]
async fn work_of_ten_leases_is_renewed_and_runs_once() {
    let ((_, once), runs) = (faulty(), Arc::new(AtomicU32::new(0)));
    let patient = policy(|policy| policy.in_flight(InFlight::Wait(secs(3_000))));
    let calls = (0..5).map(|_| {
        let (once, runs, policy) = (once.clone(), Arc::clone(&runs), Arc::clone(&patient));
        tokio::spawn(async move {
            let work = async |permit: semel::Permit| {
                runs.fetch_add(1, Ordering::SeqCst);
                sleep(secs(600)).await;
                assert!(permit.remaining() > secs(30));
                Ok::<_, ()>("done".to_owned())
            };
            once.call("slow").policy(policy).run(work).await.unwrap()
        })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap(), "done");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    super::support::until("all is quiet", || (once.held(), once.watched()) == (0, 0)).await;
}

/// Keys for calls further down: the same on every attempt, others for other purposes and calls.
#[tokio::test(start_paused = true)]
async fn derived_keys_are_the_same_on_every_attempt() {
    let (_, once) = faulty();
    let derive = async |key: &str, operation: &str| {
        let work = async |permit: semel::Permit| {
            Err::<(), _>([permit.derive("psp"), permit.derive("mail")])
        };
        match once.call(key).operation(operation).run(work).await {
            Err(CallError::Work(derived)) => derived,
            other => panic!("{other:?}"),
        }
    };
    let first = derive("k", "charge").await;
    assert_eq!(derive("k", "charge").await, first);
    let mut all = first.to_vec();
    all.extend(derive("k", "refund").await);
    all.extend(derive("k2", "charge").await);
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 6);
    for key in all {
        assert!(key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit()), "{key}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_and_an_operation_that_can_not_be_are_refused_before_the_work() {
    let (store, once) = faulty();
    let problem = refused(once.call("").run(async |_| Ok::<u8, ()>(1)).await);
    assert_eq!(problem.code(), Code::KeyInvalid);
    for operation in ["", &"o".repeat(1_025)] {
        let result = once.call("k").operation(operation).run(async |_| Ok::<u8, ()>(1)).await;
        let Err(CallError::Operation(error)) = result else { panic!("{result:?}") };
        assert!(error.to_string().contains("1 to 1024"), "{error}");
    }
    assert_eq!(trips(&store), (0, 0));
}

/// Each guarantee, and what it makes of an owner that is gone and of work that fails.
#[tokio::test(start_paused = true)]
async fn a_guarantee_holds_what_its_table_says() {
    for (guarantee, takes_over, reruns) in [
        (Guarantee::Retryable, true, true),
        (Guarantee::Cooperative, true, true),
        (Guarantee::AtMostOnce, false, false),
    ] {
        let (_, once) = faulty();
        let bundle = policy(|policy| policy.guarantee(guarantee).in_flight(InFlight::Reject));
        let again = async |key: &str| {
            once.call(key).policy(Arc::clone(&bundle)).run(async |_| Ok::<_, ()>(2)).await
        };
        let call = super::support::call(&bundle, "gone");
        drop(super::support::fresh(&once, &call).await);
        sleep(secs(60)).await;
        let taken = once
            .call("gone")
            .operation("charge")
            .policy(Arc::clone(&bundle))
            .run(async |_| Ok::<_, ()>(2))
            .await;
        assert_eq!(taken.is_ok(), takes_over, "{guarantee}: {taken:?}");
        let failed = once.call("failed").policy(Arc::clone(&bundle));
        drop(failed.run(async |_| Err::<u8, _>("timeout")).await);
        assert_eq!(again("failed").await.is_ok(), reruns, "{guarantee}");
        let panics = once.clone();
        let policy = Arc::clone(&bundle);
        let panicked = tokio::spawn(async move {
            let work = async |_| -> Result<u8, ()> { panic!("on purpose") };
            drop(panics.call("panicked").policy(policy).run(work).await);
        });
        assert!(panicked.await.unwrap_err().is_panic());
        assert_eq!(again("panicked").await.is_ok(), reruns, "{guarantee}");
        sleep(millis(1)).await;
    }
}
