//! Calls that nobody waits for any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use semel::core::Fault;
use semel::{Code, Drained, InFlight, MemoryStore, Once};
use semel_http::OnDisconnect;
use serde_json::json;
use tokio::sync::Notify;

use crate::support::{Shop, Wire, call, once, policy, text, tools, until};

/// Works until it is let go, and counts how often it got there. It may look whether it was
/// cancelled, and stop half way.
fn slow(looks: bool) -> (Shop, Arc<Notify>, Arc<AtomicUsize>) {
    let (go, done) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let (gate, ended) = (Arc::clone(&go), Arc::clone(&done));
    let shop = Shop::new(move |asked| {
        let (gate, ended) = (Arc::clone(&gate), Arc::clone(&ended));
        async move {
            tokio::select! {
                () = gate.notified() => {}
                () = asked.context.ct.cancelled(), if looks => return Ok(text("stopped half way")),
            }
            ended.fetch_add(1, Ordering::SeqCst);
            Ok(text(&format!("order {}", asked.run)))
        }
    });
    (shop, go, done)
}

#[tokio::test]
async fn a_cancelled_call_runs_on_and_is_recorded() {
    let (shop, go, done) = slow(true);
    let runs = shop.runs.clone();
    let wire = Wire::to(tools(&once()).around(shop)).await;
    let (id, _) = wire.send("tools/call", call("k", json!({ "sku": "keyboard" }))).await;
    until(|| runs.count() == 1).await;
    wire.notify("notifications/cancelled", json!({ "requestId": id, "reason": "tired" })).await;
    wire.ask("ping", json!({})).await;
    go.notify_one();
    assert_eq!(wire.order("k").await.text(), "order 1");
    assert_eq!((runs.count(), done.load(Ordering::SeqCst)), (1, 1));
}

#[tokio::test]
async fn a_session_that_ends_takes_no_call_with_it() {
    let (shop, go, done) = slow(true);
    let runs = shop.runs.clone();
    let engine = once();
    let handler = tools(&engine).around(shop);
    let wire = Wire::to(handler.clone()).await;
    wire.send("tools/call", call("k", json!({ "sku": "keyboard" }))).await;
    until(|| runs.count() == 1).await;
    drop(wire);
    // A shutdown waits for it.
    assert_eq!(engine.drain(Duration::from_millis(20)).await, Drained::StillRunning(1));
    go.notify_one();
    assert_eq!(engine.drain(Duration::from_secs(30)).await, Drained::All);
    assert_eq!(done.load(Ordering::SeqCst), 1);
    let again = Wire::to(handler).await;
    assert_eq!(again.order("k").await.text(), "order 1");
    assert_eq!(runs.count(), 1);
}

#[tokio::test]
async fn without_a_key_a_tool_learns_that_it_was_cancelled() {
    let (shop, _, done) = slow(true);
    let runs = shop.runs.clone();
    let engine = once();
    let wire = Wire::to(tools(&engine).around(shop)).await;
    let (id, _) = wire.send("tools/call", json!({ "name": "create_order" })).await;
    until(|| runs.count() == 1).await;
    wire.notify("notifications/cancelled", json!({ "requestId": id })).await;
    wire.ask("ping", json!({})).await;
    assert_eq!((engine.held(), done.load(Ordering::SeqCst)), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn where_cancel_is_chosen_the_work_is_dropped_and_its_key_stays_held_for_a_lease() {
    let (shop, go, done) = slow(false);
    let runs = shop.runs.clone();
    let store = Arc::new(Fault::new(crate::support::memory()));
    let engine = Once::new(Arc::<Fault<MemoryStore>>::clone(&store));
    let lease = Duration::from_secs(2);
    let policy =
        policy(|policy| policy.in_progress_time_to_live(lease).in_flight(InFlight::Reject));
    let handler = tools(&engine).policy(policy).on_cancel(OnDisconnect::Cancel).around(shop);
    let wire = Wire::to(handler).await;
    let (id, _) = wire.send("tools/call", call("k", json!({ "sku": "keyboard" }))).await;
    until(|| runs.count() == 1).await;
    wire.notify("notifications/cancelled", json!({ "requestId": id })).await;
    until(|| engine.held() == 0).await;
    wire.order("k").await.assert_is(Code::InProgress);
    semel::timer::sleep(lease).await;
    go.notify_one();
    assert_eq!(wire.order("k").await.text(), "order 2");
    assert_eq!((runs.count(), done.load(Ordering::SeqCst)), (2, 1));
}
