use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt;

use super::{Fault, FaultAction, Gate, StoreOp};
use crate::{
    Entry, Expect, Key, ManualClock, MemoryStore, Next, Refusal, Store, StoreErrorKind, StoreTime,
    Swap, Touch, Ttl,
};

fn faulty() -> Fault<MemoryStore> {
    Fault::new(MemoryStore::new(ManualClock::at(StoreTime::from_micros(1_000_000))))
}

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

fn value(text: &str) -> Next {
    let value = Bytes::copy_from_slice(text.as_bytes());
    Next::Put { value, lease: Ttl::MAX, keep: Ttl::MAX }
}

async fn put(store: &Fault<MemoryStore>, text: &str) {
    let swap = store.inner().swap(&key(text), Expect::Any, value(text)).await.unwrap();
    assert!(matches!(swap, Swap::Won(_)));
}

/// What is really there.
async fn beneath(store: &Fault<MemoryStore>, text: &str) -> Option<Entry> {
    store.inner().read(&key(text), Touch::No).await.unwrap().entry
}

#[tokio::test]
async fn a_fault_before_the_call_applies_nothing() {
    let store = faulty();
    store.next(StoreOp::Swap, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    let error = store.swap(&key("k"), Expect::Absent, value("v")).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::NotApplied);
    assert_eq!(beneath(&store, "k").await, None);
}

#[tokio::test]
async fn a_fault_after_the_call_loses_only_the_reply() {
    let store = faulty();
    store.next(StoreOp::Swap, FaultAction::FailAfter(StoreErrorKind::Unknown));
    let error = store.swap(&key("k"), Expect::Absent, value("v")).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unknown);
    assert_eq!(beneath(&store, "k").await.unwrap().value, "v");
}

#[tokio::test]
async fn calls_are_counted_and_actions_taken_in_order() {
    let store = faulty();
    store.next(StoreOp::Read, FaultAction::Pass);
    store.next(StoreOp::Read, FaultAction::FailBefore(StoreErrorKind::NotApplied));
    assert!(store.read(&key("k"), Touch::No).await.is_ok());
    assert_eq!(store.left(StoreOp::Read), 1);
    assert!(store.clone().read(&key("k"), Touch::No).await.is_err(), "a clone shares the plan");
    assert!(store.read(&key("k"), Touch::No).await.is_ok());
    assert_eq!((store.calls(StoreOp::Read), store.calls(StoreOp::Swap)), (3, 0));
    store.sweep(1).await.unwrap();
    store.scan("", None, 1).await.unwrap();
    drop(store.changed(&key("k")));
    let counted = [StoreOp::Sweep, StoreOp::Scan, StoreOp::Changed].map(|op| store.calls(op));
    assert_eq!(counted, [1, 1, 1]);
}

#[tokio::test]
async fn a_plan_sees_method_key_and_number() {
    let inner = faulty().inner().clone();
    let store = Fault::with_plan(inner, |call| {
        let strikes = call.op == StoreOp::Read && call.key == Some(&key("b")) && call.nth == 3;
        if strikes { FaultAction::FailBefore(StoreErrorKind::Damaged) } else { FaultAction::Pass }
    });
    for (text, fine) in [("b", true), ("a", true), ("b", false), ("b", true)] {
        assert_eq!(store.read(&key(text), Touch::No).await.is_ok(), fine, "{text}");
    }
}

#[tokio::test]
async fn a_crossed_reply_shows_the_other_entry_and_applies_the_call() {
    let store = faulty();
    put(&store, "other").await;
    store.next(StoreOp::Read, FaultAction::Crossed(key("other")));
    let read = store.read(&key("k"), Touch::No).await.unwrap();
    assert_eq!(read.entry.unwrap().value, "other");
    store.next(StoreOp::Swap, FaultAction::Crossed(key("other")));
    let swap = store.swap(&key("k"), Expect::Absent, value("mine")).await.unwrap();
    let Swap::Lost(there) = swap else { panic!("{swap:?}") };
    assert_eq!(there.entry.unwrap().value, "other");
    assert_eq!(beneath(&store, "k").await.unwrap().value, "mine");
}

#[tokio::test]
async fn corruption_strikes_the_reply_and_not_the_store() {
    let store = faulty();
    put(&store, "abc").await;
    let corrupt = |at| FaultAction::Corrupt { at };
    store.next(StoreOp::Read, corrupt(4));
    let read = store.read(&key("abc"), Touch::No).await.unwrap();
    assert_eq!(read.entry.unwrap().value, "acc");
    store.next(StoreOp::Swap, corrupt(0));
    let swap = store.swap(&key("abc"), Expect::Absent, value("x")).await.unwrap();
    let Swap::Lost(there) = swap else { panic!("{swap:?}") };
    assert_eq!(there.entry.unwrap().value, "`bc");
    store.next(StoreOp::Scan, corrupt(2));
    let page = store.scan("", None, 10).await.unwrap();
    assert_eq!(page.entries[0].1.value, "abb");
    assert_eq!(beneath(&store, "abc").await.unwrap().value, "abc");
}

#[tokio::test]
async fn a_gate_holds_a_call_before_or_after_it_is_applied() {
    for (action, applied) in [
        (FaultAction::HoldBefore as fn(Gate) -> FaultAction, false),
        (FaultAction::HoldAfter as fn(Gate) -> FaultAction, true),
    ] {
        let (store, gate) = (Arc::new(faulty()), Gate::closed());
        store.next(StoreOp::Swap, action(gate.clone()));
        let held = Arc::clone(&store);
        let call =
            tokio::spawn(
                async move { held.swap(&key("k"), Expect::Absent, value("v")).await.unwrap() },
            );
        gate.reached(1).await;
        assert_eq!(beneath(&store, "k").await.is_some(), applied);
        assert!(!call.is_finished());
        gate.open();
        assert!(matches!(call.await.unwrap(), Swap::Won(_)));
        assert_eq!(gate.arrived(), 1);
    }
}

#[tokio::test]
async fn hints_can_be_lost_false_late_and_crossed() {
    let store = faulty();
    let gate = Gate::closed();
    let actions = [
        FaultAction::LoseHint,
        FaultAction::FalseHint,
        FaultAction::HoldAfter(gate.clone()),
        FaultAction::Crossed(key("other")),
        FaultAction::Pass,
    ];
    let [mut lost, false_one, mut late, mut crossed, passed] = actions.map(|action| {
        store.next(StoreOp::Changed, action);
        store.changed(&key("k"))
    });
    assert_eq!(false_one.now_or_never(), Some(()));
    put(&store, "k").await;
    assert_eq!(passed.now_or_never(), Some(()));
    for hint in [&mut lost, &mut late, &mut crossed] {
        assert_eq!(hint.now_or_never(), None);
    }
    gate.open();
    assert_eq!(late.now_or_never(), Some(()));
    put(&store, "other").await;
    assert_eq!(crossed.now_or_never(), Some(()));
    assert_eq!(lost.now_or_never(), None);
}

#[tokio::test]
async fn a_fault_without_meaning_is_refused_aloud_and_applies_nothing() {
    let store = faulty();
    let due = StoreErrorKind::Refused(Refusal::Unusable);
    store.next(StoreOp::Sweep, FaultAction::Corrupt { at: 0 });
    assert_eq!(store.sweep(1).await.unwrap_err().kind(), due);
    store.next(StoreOp::Scan, FaultAction::Crossed(key("k")));
    assert_eq!(store.scan("", None, 1).await.unwrap_err().kind(), due);
    store.next(StoreOp::Swap, FaultAction::LoseHint);
    let swap = store.swap(&key("k"), Expect::Any, value("v")).await;
    assert_eq!(swap.unwrap_err().kind(), due);
    assert_eq!(beneath(&store, "k").await, None);
}
