//! Against the reference store, whose swaps commit at once.

use std::time::Duration;

use bytes::Bytes;

use super::{Began, Call, Claimed, Fate, Step};
use crate::key::Key;
use crate::memory::{ManualClock, MemoryStore};
use crate::protocol::{Begin, InDoubt, Seen};
use crate::record::{Claim, Extent, Form, Operation, Outcome, Token};
use crate::store::{Store, Swap, Touch, Version};
use crate::time::{StoreTime, Ttl};

fn call(operation: &str) -> Call {
    let minute = Ttl::new(Duration::from_secs(60)).expect("a time to live");
    let claim = Claim {
        operation: Operation::new(operation.to_owned()).expect("a name"),
        fingerprint: None,
        token: Token::fresh(),
        attempt: 1,
        owner: None,
    };
    let begin = Begin { claim, in_doubt: InDoubt::Rerun, lease: minute, keep: minute };
    Call::new(Key::new("k").expect("a key"), begin, minute)
}

fn outcome() -> Outcome {
    Outcome { form: Form::Bytes, extent: Extent::Whole, payload: Bytes::from_static(b"done") }
}

fn store() -> MemoryStore {
    MemoryStore::new(ManualClock::at(StoreTime::from_micros(1_000_000)))
}

async fn begin(store: &MemoryStore, call: &Call) -> Began<Claimed> {
    let mut seen = Seen::presumed_free();
    loop {
        let (expect, next, attempt) = match call.step(&seen) {
            Step::Swap { expect, next, attempt } => (expect, next, attempt),
            Step::Settled(began) => return began.without_work(),
        };
        match store.swap(call.key(), expect, next).await.expect("a swap") {
            Swap::Won(stamp) => return Began::Fresh(call.claimed(attempt, stamp.version)),
            Swap::Lost(there) => seen = call.seen(&there).expect("a record"),
        }
    }
}

async fn fate(store: &MemoryStore, claimed: &Claimed) -> Fate {
    let there = store.read(claimed.key(), Touch::No).await.expect("a read");
    claimed.fate(&there).expect("a record")
}

#[tokio::test]
async fn a_call_is_claimed_recorded_and_replayed() {
    let (store, first) = (store(), call("a"));
    let Began::Fresh(claimed) = begin(&store, &first).await else { panic!("it is free") };
    assert_eq!(fate(&store, &claimed).await, Fate::RolledBack, "a claim alone is no commit");
    let (expect, next) = claimed.outcome(outcome());
    let swap = store.swap(claimed.key(), expect, next).await.expect("a swap");
    assert!(matches!(swap, Swap::Won(_)), "nobody else had changed it: {swap:?}");
    assert_eq!(fate(&store, &claimed).await, Fate::Committed);
    match begin(&store, &call("a")).await {
        Began::Replay(replayed) => assert_eq!(replayed, outcome()),
        began => panic!("it ran: {began:?}"),
    }
    assert!(matches!(begin(&store, &call("b")).await, Began::KeyReused { .. }));
}

#[tokio::test]
async fn another_ones_record_is_not_taken_for_ours() {
    let (store, ours, theirs) = (store(), call("a"), call("a"));
    let Began::Fresh(claimed) = begin(&store, &theirs).await else { panic!("it is free") };
    let (expect, next) = claimed.outcome(outcome());
    let swap = store.swap(claimed.key(), expect, next).await.expect("a swap");
    assert!(matches!(swap, Swap::Won(_)));
    let lost = ours.claimed(1, Version::new(1));
    assert_eq!(fate(&store, &lost).await, Fate::RolledBack);
}

#[tokio::test]
async fn a_call_in_flight_outside_a_transaction_is_not_run_beside_it() {
    let store = store();
    let Began::Fresh(_held) = begin(&store, &call("a")).await else { panic!("it is free") };
    assert!(matches!(begin(&store, &call("a")).await, Began::InFlight { .. }));
}
