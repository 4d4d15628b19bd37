//! Work under a lock.

use semel::core::{FaultAction, StoreErrorKind, StoreOp};
use semel::timer::sleep;
use semel::{LockError, LockLoss, ScopeError};

use super::support::{acquired, deleted, faulty, is_held, secs, two, until};

#[tokio::test(start_paused = true)]
async fn work_runs_under_the_lock_and_the_lock_is_released_after_it() {
    let (_, ours, theirs) = two();
    let result = ours
        .with("r", secs(10), async |guard| {
            assert!(is_held(&theirs.lock("r")).await);
            guard.fence()
        })
        .await
        .unwrap();
    assert!(result.get() > 0);
    assert!(!is_held(&theirs.lock("r")).await);
}

#[tokio::test(start_paused = true)]
async fn work_does_not_run_without_the_lock() {
    let (_, ours, theirs) = two();
    let _guard = acquired(&ours.lock("r")).await;
    let error = theirs.with("r", secs(1), async |_| panic!("it ran")).await;
    assert!(matches!(error, Err(ScopeError::<()>::Lock(LockError::Held(_)))), "{error:?}");
}

/// Rule 8, and what `using` of other systems reports as plain success.
#[tokio::test(start_paused = true)]
async fn work_that_outlives_the_lock_comes_back_as_lost_with_its_result() {
    let (_, ours, theirs) = two();
    let lost = ours
        .with("r", secs(2), async |_| {
            sleep(secs(5)).await;
            7
        })
        .await;
    assert!(
        matches!(lost, Err(ScopeError::Lost { result: 7, loss: LockLoss::Expired })),
        "{lost:?}"
    );
    until("given back", || ours.pending() == 0).await;
    assert!(!is_held(&theirs.lock("r")).await);
}

/// A loss that only the release finds.
#[tokio::test(start_paused = true)]
async fn a_loss_that_nobody_saw_before_the_release_is_one() {
    let (store, ours, theirs) = two();
    let lost = ours
        .with("r", secs(100), async |_| {
            deleted(&store, "r").await;
            std::mem::forget(acquired(&theirs.lock("r")).await);
        })
        .await;
    assert!(matches!(lost, Err(ScopeError::Lost { loss: LockLoss::Taken, .. })), "{lost:?}");
    assert!(is_held(&ours.lock("r")).await);
}

/// DL-7: a release error never hides the work's result.
#[tokio::test(start_paused = true)]
async fn dl7_a_release_that_fails_does_not_hide_what_the_work_came_to() {
    let (store, ours, theirs) = two();
    let result = ours
        .with("r", secs(600), async |_| {
            for _ in 0..3 {
                store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
            }
            7
        })
        .await;
    assert_eq!(result.unwrap(), 7);
    until("given back", || ours.pending() == 0).await;
    assert!(!is_held(&theirs.lock("r")).await);
}

#[tokio::test(start_paused = true)]
async fn work_can_be_raced_against_the_loss() {
    let (_, ours, _) = two();
    let stopped = ours
        .lock("r")
        .ttl(secs(2))
        .with(async |guard| {
            tokio::select! {
                () = sleep(secs(60)) => None,
                loss = guard.lost() => Some(loss),
            }
        })
        .await;
    let Err(ScopeError::Lost { result, loss }) = stopped else { panic!("{stopped:?}") };
    assert_eq!(result, Some(loss));
}

#[tokio::test(start_paused = true)]
async fn work_that_panics_frees_the_lock() {
    let (_, ours, theirs) = two();
    let panics = {
        let ours = ours.clone();
        tokio::spawn(async move {
            ours.with("r", secs(600), async |_| -> () { panic!("on purpose") }).await.unwrap();
        })
    };
    assert!(panics.await.unwrap_err().is_panic());
    until("given back", || ours.pending() == 0).await;
    assert!(!is_held(&theirs.lock("r")).await);
}

/// The front page's example of a scope.
#[tokio::test(start_paused = true)]
async fn a_scope_waits_its_turn_and_is_renewed() {
    let (_, locks) = faulty();
    let lock = locks.lock("orders:42").ttl(secs(3)).renewed().wait(secs(60));
    let work = || {
        lock.with(async |guard| {
            sleep(secs(20)).await;
            guard.fence()
        })
    };
    let (first, second) = tokio::join!(work(), work());
    assert_ne!(first.unwrap(), second.unwrap());
}
