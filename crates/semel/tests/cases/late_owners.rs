//! A3-Z1, A3-Z2: owners that come late, over every store.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use semel::{CallError, Guarantee, InFlight, Once, Permit, Policy};
use semel_testkit::{End, LateDoor, Stage, Told, late_owners, late_owners_at_most_once};

use crate::support::{Place, policy};

/// Functions in three processes.
#[derive(Clone)]
struct Functions {
    processes: [Once; 3],
    policies: [Arc<Policy>; 2],
    /// How many owners were told that their claim was lost, while they were at work.
    lost: Arc<AtomicUsize>,
}

impl Functions {
    async fn over(place: &Place, guarantee: Guarantee) -> Self {
        let processes = [place.engine().await, place.engine().await, place.engine().await];
        let patient = InFlight::Wait(Duration::from_secs(60));
        let unrenewed = policy(|policy| {
            let leased = policy.in_progress_time_to_live(Self::LEASE).max_execution(Self::LEASE);
            leased.guarantee(guarantee).in_flight(InFlight::Reject)
        });
        let renewed = policy(|policy| policy.guarantee(guarantee).in_flight(patient));
        Self { processes, policies: [unrenewed, renewed], lost: Arc::default() }
    }

    /// The work of a call, and whether its owner learns that another may be at it.
    async fn work(&self, stage: &Stage, permit: &Permit) -> Result<usize, &'static str> {
        let mut work = std::pin::pin!(stage.work());
        let end = tokio::select! {
            end = &mut work => end,
            _ = permit.lost() => {
                self.lost.fetch_add(1, Ordering::SeqCst);
                work.await
            }
        };
        match end {
            End::Success(number) => Ok(number),
            End::Failure => Err("a timeout"),
        }
    }
}

impl LateDoor for Functions {
    const LEASE: Duration = Duration::from_secs(1);

    fn after_failure() -> Told {
        Told::Refused("CACHING_CONFLICT_004".to_owned())
    }

    async fn call(&self, process: usize, key: &str, stage: Arc<Stage>) -> Told {
        let policy = Arc::clone(&self.policies[process.min(1)]);
        let call = self.processes[process].call(key).operation("orders.create").policy(policy);
        match call.run(async |permit| self.work(&stage, &permit).await).await {
            Ok(number) => Told::Answer(number),
            Err(CallError::Work(_)) => Told::Failed,
            Err(CallError::Refused(problem)) => Told::Refused(problem.code().code().to_owned()),
            Err(other) => panic!("{other}"),
        }
    }
}

/// Powertools: a late owner that succeeded overwrote its successor's answer, and one that failed
/// deleted it, so that the work ran a third time.
async fn taken_over(place: Place) {
    let functions = Functions::over(&place, Guarantee::Retryable).await;
    late_owners(functions.clone()).await;
    assert_eq!(functions.lost.load(Ordering::SeqCst), 5, "each late owner was told in time");
}

/// The same where nobody takes over: one execution, and the late answer is the one answer.
async fn never_taken_over(place: Place) {
    let functions = Functions::over(&place, Guarantee::AtMostOnce).await;
    late_owners_at_most_once(functions.clone()).await;
    assert_eq!(functions.lost.load(Ordering::SeqCst), 2);
}

macro_rules! over {
    ($store:ident, $place:expr) => {
        mod $store {
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn a3_z1_a3_z2_a_late_owner_changes_nothing_and_is_told() {
                taken_over($place).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn a3_z1_a3_z2_under_at_most_once_a_late_owner_is_the_only_one() {
                never_taken_over($place).await;
            }
        }
    };
}

over!(memory, Place::memory());
over!(sqlite, Place::file());
over!(redis, Place::redis().await);
over!(postgres, Place::postgres().await);
