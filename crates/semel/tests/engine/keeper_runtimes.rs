//! Renewals where there is more than one runtime, or one that ends.

use std::sync::mpsc;
use std::time::Duration;

use semel::core::{Fault, FaultAction, Gate, StoreOp};
use semel::timer::sleep;
use semel::{GivenUp, Once};
use tokio::runtime::{Builder, Runtime};

use super::support::{Faulty, call, dyn_store, fresh, impatient, policy, secs};

/// A runtime whose time is paused. It only runs while somebody waits for it.
fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

/// A store whose clock stands still, so that every runtime's time may be its own.
fn store() -> (Faulty, Once) {
    let clock = semel::core::ManualClock::at(semel::core::StoreTime::from_micros(1));
    let store = Fault::new(semel::MemoryStore::new(clock));
    let once = Once::new(dyn_store(store.clone()));
    (store, once)
}

#[test]
fn a_claim_is_renewed_by_its_own_runtime_while_another_one_stands_still() {
    let (store, once) = store();
    let (still, moving) = (runtime(), runtime());
    let first = still.block_on(fresh(&once, &call(&impatient(), "first")));
    moving.block_on(async {
        let claim = fresh(&once, &call(&impatient(), "k")).await;
        sleep(secs(205)).await;
        assert!(claim.permit().remaining() > secs(50));
        assert_eq!(store.calls(StoreOp::Swap), 2 + 10);
    });
    // It goes on where it stood.
    still.block_on(sleep(secs(41)));
    assert_eq!(store.calls(StoreOp::Swap), 2 + 10 + 2);
    drop(first);
    assert_eq!(once.held(), 0);
}

/// It used to be that claims of one runtime were renewed by a task of another, and ended with it.
#[test]
fn a_runtime_that_ends_takes_nobody_elses_renewals_along() {
    let (store, once) = store();
    let (ending, staying) = (runtime(), runtime());
    let first = ending.block_on(fresh(&once, &call(&impatient(), "first")));
    let claim = staying.block_on(fresh(&once, &call(&impatient(), "k")));
    drop(first);
    drop(ending);
    staying.block_on(sleep(secs(205)));
    assert_eq!(store.calls(StoreOp::Swap), 2 + 10);
    drop(claim);
    assert_eq!(once.held(), 0);
}

/// A renewal was under way when its runtime ended; the claim lives on, in other hands.
#[test]
fn a_runtime_that_ends_in_a_renewal_leaves_no_task_and_no_lock_behind() {
    let (store, once) = store();
    let ending = runtime();
    let first = ending.block_on(async {
        let claim = fresh(&once, &call(&impatient(), "first")).await;
        store.next(StoreOp::Swap, FaultAction::HoldBefore(Gate::closed()));
        sleep(secs(21)).await;
        claim
    });
    assert_eq!(store.left(StoreOp::Swap), 0, "a renewal is under way");
    drop(ending);
    for _ in 0..3 {
        runtime().block_on(async {
            let claim = fresh(&once, &call(&impatient(), "k")).await;
            sleep(secs(100)).await;
            assert!(claim.permit().remaining() > secs(30));
            assert_eq!(claim.release().await, GivenUp::Settled);
        });
    }
    drop(first);
    assert_eq!(once.held(), 0);
}

/// A task that is polled while its runtime shuts down may still begin a call. The keeper's task is
/// then dropped as soon as it is started, and used to wait for a lock that its starter held.
#[test]
fn a_call_that_begins_while_its_runtime_shuts_down_does_not_hang() {
    let (_, once) = store();
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let (go, wait) = mpsc::channel::<()>();
    let (done, ended) = mpsc::channel();
    let (started, starting) = mpsc::channel();
    let begins = once.clone();
    runtime.spawn(async move {
        started.send(()).unwrap();
        // Blocks its thread on purpose: the poll is to be under way while all else shuts down.
        wait.recv().unwrap();
        let claim = fresh(&begins, &call(&impatient(), "k")).await;
        let repeat = call(&policy(|policy| policy), "k");
        let waiting = futures_util::FutureExt::now_or_never(begins.begin(&repeat)).is_none();
        drop(claim);
        done.send(waiting).unwrap();
    });
    starting.recv().unwrap();
    runtime.shutdown_background();
    // Until the other worker has shut down: tasks that are started are dropped at once.
    let handle = std::thread::spawn(move || {
        #[expect(clippy::disallowed_methods, reason = "nothing tells when a worker has gone")]
        std::thread::sleep(Duration::from_millis(300));
        go.send(()).unwrap();
    });
    let waiting = ended.recv_timeout(Duration::from_secs(20)).expect("it hangs");
    assert!(waiting);
    handle.join().unwrap();
    assert_eq!((once.held(), once.watched()), (0, 0));
}
