//! A counter that is read, thought about and written, under locks whose holders stand still for
//! longer than their leases: without a fence it loses writes, with one it loses none.

use std::sync::Arc;

use parking_lot::Mutex;
use semel::{AcquiredWithin, Fence, Locks};
use semel_testkit::StorePlace;

use super::{millis, process, secs};

/// A resource far away, which may look at the fence.
#[derive(Debug, Default)]
struct Counter {
    value: u64,
    seen: Option<Fence>,
    accepted: u64,
}

impl Counter {
    /// Reads the counter under a fence: from here on an older one is refused.
    fn read(&mut self, fence: Option<Fence>) -> Option<u64> {
        self.admits(fence).then_some(self.value)
    }

    fn write(&mut self, fence: Option<Fence>, value: u64) {
        if self.admits(fence) {
            self.value = value;
            self.accepted += 1;
        }
    }

    fn admits(&mut self, fence: Option<Fence>) -> bool {
        if fence.is_some() && fence < self.seen {
            return false;
        }
        self.seen = self.seen.max(fence);
        true
    }
}

/// One turn: every third holder stands still in the middle of it.
async fn turn(locks: &Locks, counter: &Mutex<Counter>, guarded: bool, stands: bool) {
    let ttl = millis(120);
    let AcquiredWithin::Acquired(guard) =
        locks.acquire_within("counter", ttl, secs(60)).await.unwrap()
    else {
        panic!("timed out");
    };
    let fence = guarded.then(|| guard.fence());
    let Some(read) = counter.lock().read(fence) else { return };
    if stands {
        // It is past its lease when it wakes, and does not look.
        semel::timer::sleep(millis(300)).await;
    }
    counter.lock().write(fence, read + 1);
    // Whatever became of it.
    let _ = guard.release().await;
}

/// How many accepted writes were lost.
async fn lost(place: &StorePlace, guarded: bool) -> u64 {
    let counter: Arc<Mutex<Counter>> = Arc::default();
    let mut tasks = Vec::new();
    for worker in 0..4_usize {
        let locks = process(place.url(), &format!("worker {worker}")).await;
        let counter = Arc::clone(&counter);
        tasks.push(tokio::spawn(async move {
            for round in 0..9_usize {
                turn(&locks, &counter, guarded, (worker + round).is_multiple_of(3)).await;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let counter = counter.lock();
    assert!(counter.accepted > 0);
    counter.accepted - counter.value
}

/// Rule 4 of the suite: the unguarded one must lose something, or this test shows nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_counter_behind_the_fence_loses_nothing_and_one_without_it_does() {
    let place = StorePlace::redis().await.unwrap();
    assert!(lost(&place, false).await > 0, "nobody stood still at the wrong moment");
    assert_eq!(lost(&place, true).await, 0);
}
