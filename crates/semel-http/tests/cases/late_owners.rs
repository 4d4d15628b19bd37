//! A3-Z1, A3-Z2: owners that come late, over every store.

use std::sync::Arc;
use std::time::Duration;

use semel::timer::SystemClock;
use semel::{Guarantee, InFlight, MemoryStore, Once, Policy, Store};
use semel_http::IdempotencyLayer;
use semel_testkit::{
    End, LateDoor, Stage, StorePlace, Told, late_owners, late_owners_at_most_once,
};

use super::support::{App, order, reply};

/// A service in three processes.
#[derive(Clone)]
struct Service {
    processes: [App; 3],
}

impl Service {
    fn over(stores: [Arc<dyn Store>; 3], guarantee: Guarantee) -> Self {
        let mut number = 0;
        let processes = stores.map(|store| {
            number += 1;
            let policy = Self::policy(number == 1, guarantee);
            let layer = IdempotencyLayer::new(Once::new(store)).operation("orders.create");
            App::new(&layer.policy(Arc::new(policy)), |run| async move {
                let stage = run.request.extensions().get::<Arc<Stage>>().cloned().unwrap();
                match stage.work().await {
                    End::Success(number) => reply(201, number.to_string()),
                    End::Failure => reply(503, "later"),
                }
            })
        });
        Self { processes }
    }

    fn policy(unrenewed: bool, guarantee: Guarantee) -> Policy {
        let policy = Policy::builder().guarantee(guarantee);
        let policy = if unrenewed {
            let leased = policy.in_progress_time_to_live(Self::LEASE).max_execution(Self::LEASE);
            leased.in_flight(InFlight::Reject)
        } else {
            policy.in_flight(InFlight::Wait(Duration::from_secs(60)))
        };
        policy.build().unwrap()
    }
}

impl LateDoor for Service {
    const LEASE: Duration = Duration::from_secs(1);

    /// What the handler answered stands, whatever it is.
    fn after_failure() -> Told {
        Told::Failed
    }

    async fn call(&self, process: usize, key: &str, stage: Arc<Stage>) -> Told {
        let mut request = order(key);
        request.extensions_mut().insert(stage);
        let answer = self.processes[process].send(request).await;
        match answer.code() {
            "" if answer.status == 503 => Told::Failed,
            "" => Told::Answer(answer.got().1.parse().unwrap()),
            code => Told::Refused(code.to_owned()),
        }
    }
}

async fn at(url: &str) -> [Arc<dyn Store>; 3] {
    [semel::open(url).await, semel::open(url).await, semel::open(url).await].map(Result::unwrap)
}

/// Powertools: a late owner that succeeded overwrote its successor's answer, and one that failed
/// deleted it, so that the work ran a third time. Where nobody takes over, the late answer is the
/// one answer.
async fn both(stores: [Arc<dyn Store>; 3]) {
    late_owners(Service::over(stores.clone(), Guarantee::Retryable)).await;
    late_owners_at_most_once(Service::over(stores, Guarantee::AtMostOnce)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a3_z1_a3_z2_a_late_owner_changes_nothing_on_memory() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(SystemClock::new()));
    both([0, 1, 2].map(|_| Arc::clone(&store))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a3_z1_a3_z2_a_late_owner_changes_nothing_on_sqlite() {
    let place = StorePlace::file().unwrap();
    both(at(place.url()).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a3_z1_a3_z2_a_late_owner_changes_nothing_on_redis() {
    let place = StorePlace::redis().await.unwrap();
    both(at(place.url()).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a3_z1_a3_z2_a_late_owner_changes_nothing_on_postgres() {
    let place = StorePlace::postgres().await.unwrap();
    both(at(place.url()).await).await;
}
