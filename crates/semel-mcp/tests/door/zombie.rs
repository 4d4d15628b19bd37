//! Owners that come late: their lease is over, and another took their place.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use semel::timer::sleep;
use semel::{Guarantee, InFlight, Once, PolicyBuilder, Store};
use semel_testkit::{
    End, LateDoor, Stage, StorePlace, Told, late_owners, late_owners_at_most_once,
};
use serde_json::json;
use tokio::sync::Notify;
use tokio::sync::oneshot::error::TryRecvError;

use crate::support::shop::Asked;
use crate::support::{Reply, Shop, Wire, call, memory, once, policy, text, tools, until};

/// How a tool says that it failed.
#[derive(Debug, Clone, Copy)]
enum Failing {
    WithAnError,
    WithAResult,
    ByAPanic,
}

impl Failing {
    fn fail(self) -> Result<CallToolResponse, ErrorData> {
        match self {
            Self::WithAnError => Err(ErrorData::internal_error("failed late", None)),
            Self::WithAResult => {
                Ok(CallToolResult::error(vec![ContentBlock::text("failed late")]).into())
            }
            Self::ByAPanic => panic!("late"),
        }
    }
}

/// The stages of the calls, by their key, which each call has in its arguments.
type Stages = Arc<Mutex<HashMap<String, Arc<Stage>>>>;

/// A server in three processes, each with a session of its own.
#[derive(Clone)]
struct Servers {
    sessions: [Wire; 3],
    stages: Stages,
}

impl Servers {
    async fn over(stores: &[Arc<dyn Store>; 3], guarantee: Guarantee, failing: Failing) -> Self {
        let stages = Stages::default();
        let shop = Shop::new({
            let stages = Arc::clone(&stages);
            move |asked| {
                let stage = stage_of(&asked, &stages);
                async move {
                    match stage.work().await {
                        End::Success(number) => Ok(text(&number.to_string())),
                        End::Failure => failing.fail(),
                    }
                }
            }
        });
        let session = async |process: usize| {
            let rules = |policy: PolicyBuilder| {
                let policy = policy.guarantee(guarantee);
                if process == 0 {
                    unrenewed(policy, Self::LEASE).in_flight(InFlight::Reject)
                } else {
                    policy.in_flight(InFlight::Wait(Duration::from_secs(60)))
                }
            };
            let once = Once::new(Arc::clone(&stores[process]));
            Wire::to(tools(&once).policy(policy(rules)).around(shop.clone())).await
        };
        Self { sessions: [session(0).await, session(1).await, session(2).await], stages }
    }
}

/// Claims last for one lease.
fn unrenewed(policy: PolicyBuilder, lease: Duration) -> PolicyBuilder {
    policy.in_progress_time_to_live(lease).max_execution(lease)
}

fn stage_of(asked: &Asked, stages: &Stages) -> Arc<Stage> {
    let key = &asked.request.arguments.as_ref().unwrap()["stage"];
    Arc::clone(&stages.lock().unwrap()[key.as_str().unwrap()])
}

impl LateDoor for Servers {
    const LEASE: Duration = Duration::from_secs(1);

    /// What the tool answered stands, whatever it is.
    fn after_failure() -> Told {
        Told::Failed
    }

    async fn call(&self, process: usize, key: &str, stage: Arc<Stage>) -> Told {
        self.stages.lock().unwrap().insert(key.to_owned(), stage);
        let reply = self.sessions[process].tool(call(key, json!({ "stage": key }))).await;
        let json = reply.json();
        if let Some(code) = json["error"]["data"]["code"].as_str() {
            return Told::Refused(code.to_owned());
        }
        match json["error"].is_object() || json["result"]["isError"] == true {
            true => Told::Failed,
            false => Told::Answer(reply.text().parse().unwrap()),
        }
    }
}

async fn at(url: &str) -> [Arc<dyn Store>; 3] {
    [semel::open(url).await, semel::open(url).await, semel::open(url).await].map(Result::unwrap)
}

fn shared() -> [Arc<dyn Store>; 3] {
    let store: Arc<dyn Store> = Arc::new(memory());
    [0, 1, 2].map(|_| Arc::clone(&store))
}

/// A late owner overwrites nothing and deletes nothing, and its caller is given the one answer.
/// Where nobody takes over, the late answer is the one answer.
async fn both(stores: [Arc<dyn Store>; 3]) {
    let failing = Failing::WithAnError;
    late_owners(Servers::over(&stores, Guarantee::Retryable, failing).await).await;
    late_owners_at_most_once(Servers::over(&stores, Guarantee::AtMostOnce, failing).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a3_z1_a3_z2_a_late_owner_changes_nothing_on_memory() {
    both(shared()).await;
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

/// A3-Z2, for the other ways in which a tool fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a3_z2_a_late_failure_deletes_nothing_however_it_is_told() {
    for failing in [Failing::WithAResult, Failing::ByAPanic] {
        late_owners(Servers::over(&shared(), Guarantee::Retryable, failing).await).await;
    }
}

/// A comes late while B still works: A's caller waits for B like everybody else.
#[tokio::test(start_paused = true)]
async fn a_late_owner_waits_for_whoever_took_over() {
    const LEASE: Duration = Duration::from_millis(200);
    let gates = Arc::new([Notify::new(), Notify::new()]);
    let shop = Shop::new({
        let gates = Arc::clone(&gates);
        move |asked| {
            let gates = Arc::clone(&gates);
            async move {
                gates[asked.run - 1].notified().await;
                Ok(text(&format!("order {}", asked.run)))
            }
        }
    });
    let runs = shop.runs.clone();
    let rules = |policy| unrenewed(policy, LEASE).in_flight(InFlight::Wait(LEASE));
    let wire = Wire::to(tools(&once()).policy(policy(rules)).around(shop)).await;
    let (_, mut a) = wire.send("tools/call", call("k", json!({}))).await;
    until(|| runs.count() == 1).await;
    sleep(LEASE).await;
    let (_, b) = wire.send("tools/call", call("k", json!({}))).await;
    until(|| runs.count() == 2).await;
    gates[0].notify_one();
    sleep(LEASE / 4).await;
    assert_eq!(a.try_recv(), Err(TryRecvError::Empty));
    gates[1].notify_one();
    let (a, b) = (Reply::of(a.await.unwrap()), Reply::of(b.await.unwrap()));
    assert_eq!(a.bytes(), b.bytes());
    assert_eq!(a.text(), "order 2");
}
