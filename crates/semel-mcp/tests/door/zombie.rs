//! Owners that come late: their lease is over, and another took their place.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use rmcp::ErrorData;
use semel::core::{
    Expect, Hint, Key, Next, Page, Snapshot, Store, StoreError, StoreResult, Swap, Touch,
};
use semel::timer::sleep;
use semel::{Code, InFlight, MemoryStore, Once};
use serde_json::json;
use tokio::sync::oneshot;

use crate::support::{Reply, Runs, Shop, Wire, call, memory, policy, text, tools, until};

const LEASE: Duration = Duration::from_millis(200);

/// Refuses every renewal: claims last for one lease.
#[derive(Debug)]
struct WithoutRenewal(MemoryStore);

#[async_trait]
impl Store for WithoutRenewal {
    async fn swap(&self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap> {
        match next {
            Next::Renew { .. } => Err(StoreError::not_applied("as the test wants it")),
            next => self.0.swap(key, expect, next).await,
        }
    }

    async fn read(&self, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        self.0.read(key, touch).await
    }

    fn changed(&self, key: &Key) -> Hint {
        self.0.changed(key)
    }

    async fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> StoreResult<Page> {
        self.0.scan(prefix, after, limit).await
    }

    async fn sweep(&self, limit: usize) -> StoreResult<usize> {
        self.0.sweep(limit).await
    }
}

/// How a run ends.
enum End {
    Works,
    Fails,
    Panics,
}

type Ends = Arc<Mutex<Vec<Option<oneshot::Sender<End>>>>>;

struct Bench {
    wire: Wire,
    runs: Runs,
    ends: Ends,
}

impl Bench {
    /// Each run waits until the test says how it ends.
    async fn new(in_flight: InFlight) -> Self {
        let ends = Ends::default();
        let told = Arc::clone(&ends);
        let shop = Shop::new(move |asked| {
            let (end, how) = oneshot::channel();
            told.lock().unwrap().push(Some(end));
            async move {
                match how.await.unwrap() {
                    End::Works => Ok(text(&format!("order {}", asked.run))),
                    End::Fails => Err(ErrorData::internal_error("failed late", None)),
                    End::Panics => panic!("late"),
                }
            }
        });
        let runs = shop.runs.clone();
        let once = Once::new(Arc::new(WithoutRenewal(memory())));
        let policy = policy(|policy| policy.in_progress_time_to_live(LEASE).in_flight(in_flight));
        let wire = Wire::to(tools(&once).policy(policy).around(shop)).await;
        Self { wire, runs, ends }
    }

    /// A is at work, its lease ends, B takes over and is at work too.
    async fn a_and_b(&self) -> [oneshot::Receiver<String>; 2] {
        let a = self.sent(1).await;
        sleep(LEASE).await;
        [a, self.sent(2).await]
    }

    async fn sent(&self, run: usize) -> oneshot::Receiver<String> {
        let order = call("k", json!({ "sku": "keyboard" }));
        let (_, reply) = self.wire.send("tools/call", order).await;
        until(|| self.runs.count() == run).await;
        reply
    }

    fn ends(&self, run: usize, how: End) {
        let end = self.ends.lock().unwrap()[run - 1].take().unwrap();
        assert!(end.send(how).is_ok());
    }
}

/// A3-Z1: late A must not overwrite what B recorded, and its own caller must not be given an
/// answer that nobody else will get.
#[tokio::test(start_paused = true)]
async fn a3_z1_a_late_success_changes_nothing_and_all_get_the_one_answer() {
    let bench = Bench::new(InFlight::Reject).await;
    let [a, b] = bench.a_and_b().await;
    bench.ends(2, End::Works);
    let b = Reply::of(b.await.unwrap());
    assert_eq!(b.text(), "order 2");
    bench.ends(1, End::Works);
    assert_eq!(Reply::of(a.await.unwrap()).bytes(), b.bytes());
    for _ in 0..3 {
        assert_eq!(bench.wire.order("k").await.bytes(), b.bytes());
    }
    assert_eq!(bench.runs.count(), 2);
}

/// A3-Z2: late A fails or panics, and must not delete what B recorded.
#[tokio::test(start_paused = true)]
async fn a3_z2_a_late_failure_deletes_nothing() {
    for (how, message) in [(End::Fails, "failed late"), (End::Panics, "The tool failed.")] {
        let bench = Bench::new(InFlight::Reject).await;
        let [a, b] = bench.a_and_b().await;
        bench.ends(2, End::Works);
        let b = Reply::of(b.await.unwrap());
        bench.ends(1, how);
        assert_eq!(Reply::of(a.await.unwrap()).error()["message"], message);
        for _ in 0..3 {
            assert_eq!(bench.wire.order("k").await.bytes(), b.bytes());
        }
        assert_eq!(bench.runs.count(), 2);
    }
}

/// A comes late while B still works: A's caller waits for B like everybody else.
#[tokio::test(start_paused = true)]
async fn a_late_owner_waits_for_whoever_took_over() {
    let bench = Bench::new(InFlight::Wait(Duration::from_millis(150))).await;
    let [a, b] = bench.a_and_b().await;
    bench.ends(1, End::Works);
    sleep(Duration::from_millis(50)).await;
    bench.ends(2, End::Works);
    let (a, b) = (Reply::of(a.await.unwrap()), Reply::of(b.await.unwrap()));
    assert_eq!(a.bytes(), b.bytes());
    assert_eq!(a.text(), "order 2");
}

/// And is told so where that takes too long.
#[tokio::test(start_paused = true)]
async fn a_late_owner_is_told_that_another_is_at_work() {
    let bench = Bench::new(InFlight::Reject).await;
    let [a, b] = bench.a_and_b().await;
    bench.ends(1, End::Works);
    Reply::of(a.await.unwrap()).assert_is(Code::InProgress);
    bench.ends(2, End::Works);
    assert_eq!(Reply::of(b.await.unwrap()).text(), "order 2");
}

/// Nobody took over: late is then only slow.
#[tokio::test(start_paused = true)]
async fn a_late_owner_whose_place_nobody_took_is_recorded() {
    let bench = Bench::new(InFlight::Reject).await;
    let a = bench.sent(1).await;
    sleep(10 * LEASE).await;
    bench.ends(1, End::Works);
    let a = Reply::of(a.await.unwrap());
    assert_eq!(a.text(), "order 1");
    assert_eq!(bench.wire.order("k").await.bytes(), a.bytes());
}
