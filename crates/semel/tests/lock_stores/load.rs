//! A machine that has no time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use semel::{LockGuard, ReleaseOutcome};
use semel_testkit::StorePlace;

use super::{millis, process, secs};

/// Threads that do nothing but burn, two for each core.
struct Burning(Arc<AtomicBool>);

impl Burning {
    fn begin() -> Self {
        let burning = Arc::new(AtomicBool::new(true));
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        for _ in 0..2 * cores {
            let burning = Arc::clone(&burning);
            std::thread::spawn(move || {
                while burning.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Self(burning)
    }
}

impl Drop for Burning {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// HZ-3: all cores are busy for more than two leases, here and for the servers, and no lock is lost.
#[tokio::test(flavor = "multi_thread")]
async fn hz3_renewals_keep_up_on_a_machine_whose_cores_are_all_busy() {
    let places = [
        StorePlace::file().unwrap(),
        StorePlace::redis().await.unwrap(),
        StorePlace::postgres().await.unwrap(),
    ];
    let mut guards: Vec<LockGuard> = Vec::new();
    for place in &places {
        let locks = process(place.url(), "ours").await;
        let hold = |number: usize| {
            let lock = locks.lock(&format!("lock:{number}")).ttl(secs(5)).renewed();
            async move { lock.acquire().await.unwrap() }
        };
        guards.extend(join_all((0..30).map(hold)).await);
    }
    let burning = Burning::begin();
    let mut least = secs(5);
    for _ in 0..110 {
        semel::timer::sleep(millis(100)).await;
        for guard in &guards {
            assert_eq!(guard.loss(), None, "{}", guard.resource());
            least = least.min(guard.remaining());
        }
    }
    drop(burning);
    println!("the least that was left of a lease of 5 s: {least:?}");
    for released in join_all(guards.iter().map(LockGuard::release)).await {
        assert_eq!(released.unwrap(), ReleaseOutcome::Released);
    }
}
