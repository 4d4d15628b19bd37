//! Fences rise.

use semel::timer::sleep;

use super::support::{acquired, deleted, faulty, millis, over, polled, secs};

/// 10^5 grants, with releases, ends, drops, removed entries and renewals in between.
#[tokio::test(start_paused = true)]
async fn fences_rise_over_a_hundred_thousand_grants() {
    let (store, ours) = faulty();
    let theirs = over(&store, "theirs");
    let mut last = semel::Fence::new(0);
    for number in 0..100_000_u32 {
        let locks = if number % 2 == 0 { &ours } else { &theirs };
        let guard = acquired(&locks.lock("r").ttl(secs(1))).await;
        assert!(guard.fence() > last, "{number}");
        last = guard.fence();
        match number % 100 {
            0 => {
                drop(guard);
                sleep(millis(1)).await;
            }
            1 => {
                std::mem::forget(guard);
                sleep(secs(2)).await;
            }
            2 => {
                deleted(&store, "r").await;
                drop(guard);
            }
            3 => {
                guard.extend(secs(5)).await.unwrap();
                guard.release().await.unwrap();
            }
            4 => {
                // Somebody enters the queue and gives up.
                polled(1, theirs.lock("r").acquire_within(secs(1))).await;
                guard.release().await.unwrap();
                sleep(secs(4)).await;
            }
            _ => drop(guard.release().await.unwrap()),
        }
    }
}

/// The same through a file, which is opened anew in between.
#[cfg(feature = "sqlite")]
#[tokio::test(flavor = "multi_thread")]
async fn fences_rise_over_restarts_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("locks.db").display());
    let mut last = semel::Fence::new(0);
    for _ in 0..10 {
        let locks = semel::Locks::new(semel::open(&url).await.unwrap());
        for number in 0..20 {
            let guard = acquired(&locks.lock("r").ttl(secs(10))).await;
            assert!(guard.fence() > last);
            last = guard.fence();
            if number % 5 == 0 {
                deleted(&std::sync::Arc::clone(locks.store()), "r").await;
            }
            guard.release().await.unwrap();
        }
        locks.shutdown(secs(5)).await;
    }
}
