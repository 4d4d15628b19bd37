//! What must not be told: keys of clients, values, tokens.

use std::sync::Arc;

use semel::core::{FaultAction, StoreErrorKind, StoreOp};
use semel::timer::sleep;
use semel::{
    Begun, Call, CallError, InDoubtPolicy, InFlight, KeyStorage, Once, Policy, Scope, Store,
};

use super::support::logs::Logs;
use super::support::metrics::Counted;
use super::support::{bytes, faulty, fresh, millis, operation, policy, secs};

const KEY: &str = "order-5417-of-mallory";
const SUBJECT: &str = "mallory@example.org";
const VALUE: &str = "4111-1111-1111-1111";

/// Everything that may be logged about a call.
async fn every_way(once: &Once, store: &super::support::Faulty, policy: &Arc<Policy>) {
    let scope = Scope::new("acme", SUBJECT).unwrap();
    let call = Call::new(policy, &scope, KEY, operation("charge")).unwrap();
    let answer = || bytes(VALUE.as_bytes());
    // Fresh, in flight, late, replayed, of another operation.
    let mut late = fresh(once, &call).await;
    drop(once.begin(&call).await);
    store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    sleep(secs(21)).await;
    let key = call.key().clone();
    let swap = store.swap(&key, semel::core::Expect::Any, semel::core::Next::Delete);
    assert!(matches!(swap.await.unwrap(), semel::core::Swap::Won(_)));
    let mut claim = fresh(once, &call).await;
    sleep(secs(30)).await;
    drop(late.record(answer()).await);
    assert!(matches!(claim.record(answer()).await, semel::Finished::Recorded));
    drop(once.begin(&call).await);
    drop(once.begin(&Call::new(policy, &scope, KEY, operation("refund")).unwrap()).await);
    // Damaged, down, full.
    for action in [
        FaultAction::Corrupt { at: 30 },
        FaultAction::FailBefore(StoreErrorKind::NotApplied),
        FaultAction::FailBefore(StoreErrorKind::Refused(semel::core::Refusal::Full)),
    ] {
        store.next(StoreOp::Swap, action);
        drop(once.begin(&call).await);
    }
    // A value that is not of the type that was asked for, and a record that has to wait.
    let wrong: Result<u8, CallError<()>> = once
        .call(KEY)
        .scope(scope.clone())
        .operation("charge")
        .policy(Arc::clone(policy))
        .run(async |_| Ok(1))
        .await;
    assert!(wrong.is_err());
    let failing = Call::new(policy, &scope, &format!("{KEY}-2"), operation("charge")).unwrap();
    let mut claim = fresh(once, &failing).await;
    store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    drop(claim.record(answer()).await);
    sleep(secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn neither_log_nor_metric_holds_the_clients_key_its_owner_or_a_value() {
    let (logs, counted) = (Logs::captured(), Counted::captured());
    let (store, once) = faulty();
    every_way(&once, &store, &policy(|policy| policy.in_flight(InFlight::Reject))).await;
    let text = logs.text();
    for told in ["begun", "late owner", "damaged", "could not be recorded", "renewed", "lost"] {
        assert!(text.contains(told), "the test is to meet `{told}`: {text}");
    }
    for secret in [KEY, "mallory", VALUE, "acme"] {
        assert!(!text.contains(secret), "{secret} in {text}");
        assert!(!counted.keys().concat().contains(secret));
    }
    assert!(counted.of("semel_calls_total") > 0);
}

/// P10: what happened to which key can be followed, by a short digest, with outcome and attempt.
#[tokio::test(start_paused = true)]
async fn the_log_tells_key_outcome_and_attempt() {
    let logs = Logs::captured();
    let (_, once) = faulty();
    let call = super::support::call(&policy(|policy| policy), KEY);
    let mut claim = fresh(&once, &call).await;
    super::support::recorded(&mut claim, bytes(b"")).await;
    drop(once.begin(&call).await);
    let (text, digest) = (logs.text(), call.key().digest().to_string());
    assert_eq!(text.matches(&format!("key={digest}")).count(), 2, "{text}");
    for told in ["outcome=\"fresh\" attempt=1", "outcome=\"replay\"", "operation=charge"] {
        assert!(text.contains(told), "{told} in {text}");
    }
}

/// With digests the store does not know the client's key either, nor whose it is.
#[tokio::test(start_paused = true)]
async fn a_store_of_digests_holds_no_key_and_no_name() {
    let logs = Logs::captured();
    let (store, once) = faulty();
    let digests = policy(|policy| {
        policy.key_storage(KeyStorage::digest([9; 32])).in_flight(InFlight::Reject)
    });
    every_way(&once, &store, &digests).await;
    let page = store.scan("", None, 100).await.unwrap();
    assert_eq!(page.entries.len(), 2);
    for (key, entry) in &page.entries {
        let held = format!("{key} {}", String::from_utf8_lossy(&entry.value));
        for secret in [KEY, "mallory", "acme"] {
            assert!(!held.contains(secret), "{secret} in {held}");
        }
    }
    assert!(!logs.text().contains(KEY));
    let secret = [9; 32];
    let debug = format!("{:?}", digests);
    assert!(!debug.contains("9, 9") && !debug.contains(&format!("{secret:?}")), "{debug}");
}

/// S-08: a problem says what differs, never what was sent; nothing shows a token.
#[tokio::test(start_paused = true)]
async fn what_is_printed_of_a_call_shows_no_value_and_no_token() {
    let (_, once) = faulty();
    let reject = policy(|policy| policy.in_doubt(InDoubtPolicy::Reject));
    let call = super::support::call(&reject, KEY);
    let mut claim = fresh(&once, &call).await;
    super::support::recorded(&mut claim, bytes(VALUE.as_bytes())).await;
    let begun = once.begin(&call).await;
    assert!(matches!(&begun, Begun::Replay(replay) if replay.outcome.payload == VALUE));
    for text in [format!("{begun:?}"), format!("{claim:?}"), format!("{call:?}")] {
        assert!(!text.contains(VALUE) && !text.contains(KEY), "{text}");
    }
    sleep(millis(1)).await;
}
