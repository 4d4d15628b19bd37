//! Owners that come back after their claim was lost.

use semel::core::protocol::Successor;
use semel::core::{Doubt, Expect, Next, Store, Swap};
use semel::timer::sleep;
use semel::{Begun, Claim, Finished, GivenUp, Once};

use super::support::metrics::Counted;
use super::support::{
    Faulty, LEASE, bytes, call, faulty, fresh, impatient, part, policy, recorded, replayed, secs,
    trips,
};

/// An owner whose lease has ended and who does not know it yet, and who took over from it.
async fn taken_over(once: &Once) -> (Claim, Claim) {
    let unrenewed = policy(|policy| policy.max_execution(LEASE).in_flight(semel::InFlight::Reject));
    let late = fresh(once, &call(&unrenewed, "k")).await;
    sleep(LEASE).await;
    let claim = fresh(once, &call(&impatient(), "k")).await;
    assert_eq!((late.permit().attempt(), claim.permit().attempt()), (1, 2));
    assert!(claim.permit().fence() > late.permit().fence());
    (late, claim)
}

fn superseded(finished: Finished) -> Successor {
    match finished {
        Finished::Superseded(successor) => successor,
        other => panic!("not superseded: {other:?}"),
    }
}

/// A3-Z1, F-24: the late owner's answer neither replaces the one that is there nor is given out.
#[tokio::test(start_paused = true)]
async fn z1_a_late_owner_that_completes_changes_nothing_and_learns_the_answer() {
    let counted = Counted::captured();
    let (_, once) = faulty();
    let (mut late, mut claim) = taken_over(&once).await;
    recorded(&mut claim, bytes(b"B")).await;
    let successor = superseded(late.record(bytes(b"A")).await);
    assert_eq!(successor, Successor::Done(bytes(b"B")));
    assert_eq!(replayed(&once, &call(&impatient(), "k")).await, b"B");
    assert_eq!(counted.of("semel_late_owners_total"), 1);
}

/// A3-Z2, P1: the late owner's failure frees nothing, and nobody runs a third time.
#[tokio::test(start_paused = true)]
async fn z2_a_late_owner_that_fails_frees_nothing() {
    for in_flight in [false, true] {
        for doubts in [false, true] {
            let counted = Counted::captured();
            let (_, once) = faulty();
            let (late, mut claim) = taken_over(&once).await;
            if !in_flight {
                recorded(&mut claim, bytes(b"B")).await;
            }
            let given_up =
                if doubts { late.doubt(Doubt::Exception).await } else { late.release().await };
            assert_eq!(given_up, GivenUp::NotOurs);
            assert_eq!(counted.of("semel_late_owners_total"), 1);
            if in_flight {
                let begun = once.begin(&call(&impatient(), "k")).await;
                assert!(matches!(begun, Begun::Busy(_)), "{begun:?}");
                recorded(&mut claim, bytes(b"B")).await;
            }
            assert_eq!(replayed(&once, &call(&impatient(), "k")).await, b"B");
        }
    }
}

/// D8: who was superseded is told by whom, and that is never recorded as anybody's outcome.
#[tokio::test(start_paused = true)]
async fn d8_a_late_owner_learns_that_another_is_at_work() {
    let (_, once) = faulty();
    let (mut late, mut claim) = taken_over(&once).await;
    let successor = superseded(late.record(bytes(b"A")).await);
    assert!(matches!(successor, Successor::InFlight { .. }), "{successor:?}");
    recorded(&mut claim, bytes(b"B")).await;
    assert_eq!(replayed(&once, &call(&impatient(), "k")).await, b"B");
}

/// A claim may be recorded in part and then whole. In between it may be lost, and the second try
/// must not stand on what the first one met: that used to overwrite whoever had taken over.
#[tokio::test(start_paused = true)]
async fn a_late_owner_that_tries_again_still_changes_nothing() {
    for done in [false, true] {
        let (_, once) = faulty();
        let (mut late, mut claim) = taken_over(&once).await;
        if done {
            recorded(&mut claim, bytes(b"B")).await;
        }
        for outcome in [part(b"A"), bytes(b"A"), part(b"A"), bytes(b"A")] {
            superseded(late.record(outcome).await);
        }
        if !done {
            recorded(&mut claim, bytes(b"B")).await;
        }
        assert_eq!(replayed(&once, &call(&impatient(), "k")).await, b"B");
    }
}

/// The same where its part was recorded, and the whole record then removed and begun anew.
#[tokio::test(start_paused = true)]
async fn what_was_recorded_in_part_and_removed_is_not_completed() {
    let (store, once) = faulty();
    let call = call(&impatient(), "k");
    let mut late = fresh(&once, &call).await;
    recorded(&mut late, part(b"A")).await;
    remove(&store, &late).await;
    let successor = superseded(late.record(bytes(b"A")).await);
    assert_eq!(successor, Successor::Nothing);
    let mut claim = fresh(&once, &call).await;
    superseded(late.record(bytes(b"A")).await);
    recorded(&mut claim, bytes(b"B")).await;
    superseded(late.record(bytes(b"A")).await);
    assert_eq!(replayed(&once, &call).await, b"B");
}

async fn remove(store: &Faulty, claim: &Claim) {
    let removed = store.swap(claim.permit().key(), Expect::Any, Next::Delete).await.unwrap();
    assert!(matches!(removed, Swap::Won(_)));
}

/// The first outcome is final, even against its own owner. What an owner had recorded was taken
/// for its claim, and its next record overwrote it.
#[tokio::test(start_paused = true)]
async fn an_outcome_is_never_replaced() {
    let (store, once) = faulty();
    let call = call(&impatient(), "k");
    let mut claim = fresh(&once, &call).await;
    recorded(&mut claim, part(b"head")).await;
    let before = trips(&store);
    recorded(&mut claim, bytes(b"whole")).await;
    assert_eq!(trips(&store), (before.0 + 1, before.1), "one round trip for what was left");
    recorded(&mut claim, bytes(b"whole")).await;
    recorded(&mut claim, part(b"head")).await;
    assert_eq!(superseded(claim.record(bytes(b"other")).await), Successor::Done(bytes(b"whole")));
    recorded(&mut claim, part(b"another head")).await;
    assert_eq!(superseded(claim.record(bytes(b"other")).await), Successor::Done(bytes(b"whole")));
    assert_eq!(replayed(&once, &call).await, b"whole");
    assert_eq!(claim.release().await, GivenUp::NotOurs);
    assert_eq!(replayed(&once, &call).await, b"whole");
}

/// A late owner of work that runs for many leases after it was lost, with three owners in turn.
#[tokio::test(start_paused = true)]
async fn of_three_owners_in_turn_the_last_one_is_recorded() {
    let (_, once) = faulty();
    let unrenewed = policy(|policy| policy.max_execution(LEASE));
    let mut owners = Vec::new();
    for _ in 0..3 {
        owners.push(fresh(&once, &call(&unrenewed, "k")).await);
        sleep(LEASE).await;
    }
    let mut last = owners.pop().unwrap();
    for late in &mut owners {
        superseded(late.record(bytes(b"late")).await);
    }
    sleep(secs(500)).await;
    recorded(&mut last, bytes(b"last")).await;
    for late in owners {
        assert_eq!(late.release().await, GivenUp::NotOurs);
    }
    assert_eq!(replayed(&once, &call(&impatient(), "k")).await, b"last");
}
