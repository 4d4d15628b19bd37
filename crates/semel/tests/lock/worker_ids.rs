//! Worker ids.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use semel::core::{FaultAction, Refusal, StoreErrorKind, StoreOp};
use semel::timer::sleep;
use semel::{LockError, LockLoss, LockSettingError};

use super::support::{deleted, faulty, is_held, millis, over, released, secs, two};

#[tokio::test(start_paused = true)]
async fn a_worker_gets_the_smallest_number_that_is_free() {
    let (_, ours, theirs) = two();
    let zero = ours.worker_id("ids", 4).acquire().await.unwrap();
    let one = theirs.worker_id("ids", 4).acquire().await.unwrap();
    let two = ours.worker_id("ids", 4).acquire().await.unwrap();
    assert_eq!((zero.get(), one.get(), two.get()), (Ok(0), Ok(1), Ok(2)));
    one.release().await.unwrap();
    let again = ours.worker_id("ids", 4).acquire().await.unwrap();
    assert_eq!(again.get(), Ok(1));
    assert!(again.fence() > one.fence());
    let _three = theirs.worker_id("ids", 4).acquire().await.unwrap();
    let error = theirs.worker_id("ids", 4).acquire().await.unwrap_err();
    assert!(matches!(error, LockError::Held(_)), "{error:?}");
    assert!(matches!(
        ours.worker_id("ids", 0).acquire().await.unwrap_err(),
        LockError::Setting(LockSettingError::NoWorkerId)
    ));
}

#[tokio::test(start_paused = true)]
async fn a_number_is_renewed_and_its_loss_ends_it_before_anybody_else_can_get_it() {
    let (store, ours, theirs) = two();
    let worker = ours.worker_id("ids", 1).ttl(secs(10)).acquire().await.unwrap();
    sleep(secs(1_000)).await;
    assert_eq!(worker.get(), Ok(0));
    for _ in 0..1_000 {
        store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    }
    assert_eq!(worker.lost().await, LockLoss::Expired);
    assert_eq!(worker.get(), Err(LockLoss::Expired));
    while store.left(StoreOp::Swap) > 0 {
        let _ = theirs.lock("other").try_acquire().await;
    }
    assert!(is_held(&theirs.lock("ids#00000")).await);
}

#[tokio::test(start_paused = true)]
async fn who_waits_gets_the_number_of_a_worker_that_died() {
    let (_, ours, theirs) = two();
    std::mem::forget(ours.worker_id("ids", 1).acquire().await.unwrap());
    // Its process is gone, and its renewals with it.
    let worker = {
        ours.shutdown(secs(0)).await;
        theirs.worker_id("ids", 1).wait(secs(5)).acquire().await
    };
    let error = worker.unwrap_err();
    assert!(matches!(error, LockError::TimedOut(_)), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn who_may_not_list_can_still_ask() {
    let (store, ours, theirs) = two();
    let _zero = ours.worker_id("ids", 3).acquire().await.unwrap();
    let refused = StoreErrorKind::Refused(Refusal::Credentials);
    store.next(StoreOp::Scan, FaultAction::FailBefore(refused));
    assert_eq!(theirs.worker_id("ids", 3).acquire().await.unwrap().get(), Ok(1));
}

/// 50 workers on 32 numbers, some of which die or lose theirs: never two live holders of one.
#[tokio::test(start_paused = true)]
async fn fifty_workers_on_thirty_two_numbers_never_share_one() {
    let (store, _) = faulty();
    let live: Arc<Mutex<HashMap<u16, usize>>> = Arc::default();
    let mut tasks = Vec::new();
    for worker in 0..50_usize {
        let (store, live) = (store.clone(), Arc::clone(&live));
        tasks.push(tokio::spawn(async move {
            let mut served = 0;
            for round in 0..20_usize {
                let locks = over(&store, &format!("worker {worker}"));
                let builder = locks.worker_id("ids", 32).ttl(secs(5));
                let id = builder.wait(secs(600)).acquire().await.unwrap();
                let Ok(number) = id.get() else { continue };
                let before = live.lock().insert(number, worker);
                assert_eq!(before, None, "{number} is held by two");
                sleep(millis(200 + 37 * ((worker + round) as u64 % 11))).await;
                if (worker + round).is_multiple_of(7) {
                    deleted(&store, &format!("ids#{number:05}")).await;
                    // It goes on until it learns it: so long the number is not safe, and the
                    // entry is somebody else's to remove. It says that it has stopped first.
                    live.lock().remove(&number);
                    id.lost().await;
                } else {
                    live.lock().remove(&number);
                    released(id.guard()).await;
                }
                served += 1;
            }
            served
        }));
    }
    let mut served = 0;
    for task in tasks {
        served += task.await.unwrap();
    }
    assert!(served > 900, "{served}");
}
