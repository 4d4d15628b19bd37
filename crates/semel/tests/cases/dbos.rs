//! The trackers of DBOS, and the rocket-rides example, over servers.

use std::sync::atomic::{AtomicU32, Ordering};

use semel::{CallError, Once};
use semel_testkit::{Cut, Direction, StorePlace};

use crate::support::place;

/// An insert whose acknowledgement was lost was made a second time. Here the connection is cut
/// once the store has been sent the record, before a byte of its answer is back.
async fn a_lost_acknowledgement(place: StorePlace) {
    let (proxy, url) = place.through_proxy().await.unwrap().unwrap();
    let (ours, theirs) = (place::engine(&url).await, place::engine(place.url()).await);
    for n in 0..10 {
        let (key, runs) = (format!("k{n}"), AtomicU32::new(0));
        let value = run(&ours, &key, &runs, || {
            proxy.cut_after(Direction::ToClient, 0, Cut::Reset);
        });
        assert_eq!(value.await.unwrap(), n, "its caller gets its value");
        assert!(!proxy.uncut(Direction::ToClient), "the acknowledgement was cut off");
        for once in [&ours, &theirs] {
            assert_eq!(run(once, &key, &runs, || {}).await.unwrap(), n);
        }
        assert_eq!(runs.load(Ordering::SeqCst), 1);
    }
}

async fn run(
    once: &Once,
    key: &str,
    runs: &AtomicU32,
    before_it_ends: impl Fn(),
) -> Result<u32, CallError<()>> {
    let work = async |_| {
        runs.fetch_add(1, Ordering::SeqCst);
        before_it_ends();
        Ok(key[1..].parse().unwrap())
    };
    once.call(key).operation("insert").input(&key).run(work).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d9_a_record_whose_acknowledgement_was_lost_is_found_again_on_redis() {
    a_lost_acknowledgement(StorePlace::redis().await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d9_a_record_whose_acknowledgement_was_lost_is_found_again_on_postgres() {
    a_lost_acknowledgement(StorePlace::postgres().await.unwrap()).await;
}

/// A transaction was held open over a call to the card network; and the error that came of it was
/// kept as the final answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d10_no_transaction_is_open_while_the_work_runs_and_an_outage_is_not_final() {
    let place = StorePlace::postgres().await.unwrap();
    let (once, server) = (place::engine(place.url()).await, place.as_postgres().unwrap());
    let open = "SELECT count(*) FROM pg_stat_activity \
                WHERE application_name = 'semel' AND xact_start IS NOT NULL";
    let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'semel'";
    let charge = async |end: Result<u8, &'static str>| {
        let work = async |_| {
            assert_eq!(server.sql(open).await.unwrap(), "0");
            assert_ne!(server.sql(sessions).await.unwrap(), "0", "it looks for the right ones");
            // Nor is anybody else held up.
            once.call("other").run(async |_| Ok::<u8, ()>(0)).await.unwrap();
            end
        };
        once.call("k").run(work).await
    };
    let failed = charge(Err("the network is down")).await;
    assert!(matches!(failed, Err(CallError::Work(_))), "{failed:?}");
    assert_eq!(charge(Ok(7)).await.unwrap(), 7);
    assert_eq!(charge(Err("it must not run")).await.unwrap(), 7);
}
