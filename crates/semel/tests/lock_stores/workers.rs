//! Worker ids over a real server, with processes that die.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use semel_testkit::StorePlace;

use super::{millis, process, secs};

/// Fifty on thirty-two numbers, one in five of which dies with its number: never two live holders
/// of one.
#[tokio::test(flavor = "multi_thread")]
async fn fifty_workers_on_thirty_two_numbers_never_share_one() {
    let place = StorePlace::redis().await.unwrap();
    let live: Arc<Mutex<HashMap<u16, usize>>> = Arc::default();
    let mut tasks = Vec::new();
    for worker in 0..50_usize {
        let locks = process(place.url(), &format!("worker {worker}")).await;
        let live = Arc::clone(&live);
        tasks.push(tokio::spawn(async move {
            for round in 0..3_usize {
                let id = locks.worker_id("ids", 32).ttl(secs(2)).wait(secs(60));
                let id = id.acquire().await.unwrap();
                let Ok(number) = id.get() else { continue };
                assert_eq!(live.lock().insert(number, worker), None, "{number} is held by two");
                semel::timer::sleep(millis(50)).await;
                let held = id.get().is_ok();
                live.lock().remove(&number);
                assert!(held, "{number} was lost although nothing went wrong");
                if (worker + round).is_multiple_of(5) {
                    // Dead: nobody renews or releases it.
                    std::mem::forget(id.into_guard().detach());
                } else {
                    id.release().await.unwrap();
                }
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
}
