//! Processes that race and processes that are killed, over servers. (Over a file: `engine/open.rs`.)

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use semel::{CallStatus, Code, InFlight, Permit};
use semel_testkit::StorePlace;

use crate::support::{Child, code, place, policy};

const KEYS: usize = 40;

/// DBOS: identical calls in several processes all ran.
async fn race(test: &str, place: StorePlace) {
    let racers = [0, 1, 2].map(|_| Child::start(test, place.url()));
    let (mut values, mut ran) = (BTreeMap::<_, BTreeSet<_>>::new(), Vec::new());
    for racer in racers {
        for said in racer.says_until_it_ends("call ") {
            let [word, key, value] = said.split(' ').collect::<Vec<_>>()[..] else { panic!() };
            match word {
                "ran" => ran.push(key.to_owned()),
                _ => drop(values.entry(key.to_owned()).or_default().insert(value.to_owned())),
            }
        }
    }
    assert_eq!(values.len(), KEYS);
    assert!(values.values().all(|values| values.len() == 1), "{values:?}");
    let keys: BTreeSet<_> = ran.iter().collect();
    assert_eq!((ran.len(), keys.len()), (KEYS, KEYS), "{ran:?}");
}

async fn racer(url: &str) {
    let once = place::engine(url).await;
    let calls = (0..KEYS).map(|n| {
        let once = once.clone();
        tokio::spawn(async move {
            let key = format!("k{n}");
            let work = async |_| {
                println!("call ran {key} {}", std::process::id());
                Ok::<_, ()>(std::process::id())
            };
            let patient =
                policy(|policy| policy.in_flight(InFlight::Wait(Duration::from_secs(60))));
            let value = once.call(&key).policy(patient).run(work).await.unwrap();
            println!("call got {key} {value}");
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
}

const LEASE: Duration = Duration::from_secs(2);

/// Powertools: a crash left its key in progress for the whole retention. It is blocked for a
/// lease, and then taken over with a higher fence; where nobody takes over, it is in doubt.
async fn killed(test: &str, place: StorePlace) {
    let mut child = Child::start(test, place.url());
    let fence: u64 = child.says("fence ").parse().unwrap();
    let once = place::engine(place.url()).await;
    let leased = |wait| {
        policy(|policy| policy.in_progress_time_to_live(LEASE).in_flight(InFlight::Wait(wait)))
    };
    let call = |wait| once.call("k").operation("charge").input(&7).policy(leased(wait));
    // As long as it lives it keeps its key, for many leases.
    let busy = call(LEASE * 2).run(async |_| Ok::<u64, ()>(0)).await;
    assert_eq!(code(busy), Code::InProgress);
    child.kill();
    let peeked = call(LEASE).peek::<u64>().await.unwrap();
    assert!(matches!(peeked, CallStatus::InFlight { .. }), "not free at once: {peeked:?}");
    let work = async |permit: Permit| Ok::<_, ()>((permit.attempt(), permit.fence().get()));
    let (attempt, next) = call(Duration::from_secs(60)).run(work).await.unwrap();
    assert!(attempt == 2 && next > fence, "{attempt}, {next} after {fence}");
    // The request of the one that was killed is known all the same.
    let other = once.call("k").operation("charge").input(&8).run(async |_| Ok::<u64, ()>(0)).await;
    assert_eq!(code(other), Code::PayloadMismatch);
}

async fn works_until_it_is_killed(url: &str) {
    let once = place::engine(url).await;
    let leased = policy(|policy| policy.in_progress_time_to_live(LEASE));
    let work = async |permit: Permit| {
        println!("fence {}", permit.fence());
        std::future::pending::<Result<u64, ()>>().await
    };
    let call = once.call("k").operation("charge").input(&7).policy(leased);
    drop(call.run(work).await);
}

macro_rules! over {
    ($store:ident, $place:expr) => {
        mod $store {
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn d2_of_several_processes_exactly_one_runs_each_key() {
                match Child::url() {
                    Some(url) => racer(&url).await,
                    None => {
                        race(
                            concat!(
                                module_path!(),
                                "::d2_of_several_processes_exactly_one_runs_each_key"
                            ),
                            $place,
                        )
                        .await
                    }
                }
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn p5_a_killed_process_blocks_its_key_for_one_lease() {
                match Child::url() {
                    Some(url) => works_until_it_is_killed(&url).await,
                    None => {
                        killed(
                            concat!(
                                module_path!(),
                                "::p5_a_killed_process_blocks_its_key_for_one_lease"
                            ),
                            $place,
                        )
                        .await
                    }
                }
            }
        }
    };
}

over!(redis, StorePlace::redis().await.unwrap());
over!(postgres, StorePlace::postgres().await.unwrap());
