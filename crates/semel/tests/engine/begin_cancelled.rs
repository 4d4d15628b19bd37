//! F-31: a beginning that is dropped, at every place where it can be.

use semel::core::{FaultAction, Gate, StoreOp};
use semel::timer::sleep;
use semel::{Begun, InDoubtPolicy, InFlight, Once};

use super::support::stores::{Stepping, Wrapped};
use super::support::{
    LEASE, bytes, call, dyn_store, faulty, fresh, impatient, millis, policy, polled, recorded,
    secs, until,
};

/// Dropped at its first, second, … await: nothing renews, and the key is free soon, whether the
/// claim was made or not. Where a claim without owner is never taken over, too.
#[tokio::test(start_paused = true)]
async fn dropped_at_any_await_it_leaves_nothing_that_is_held() {
    let reject =
        policy(|policy| policy.in_doubt(InDoubtPolicy::Reject).in_flight(InFlight::Reject));
    for policy in [impatient(), reject] {
        let mut cut = 0;
        for polls in 1.. {
            let once = Once::new(dyn_store(Wrapped::new(Stepping)));
            let call = call(&policy, "k");
            let begun = polled(polls, once.begin(&call)).await;
            let ended = begun.is_some();
            drop(begun);
            assert_eq!(once.held(), 0, "after {polls} polls");
            if ended {
                break;
            }
            cut += 1;
            until("nothing goes on", || once.tasks().is_empty()).await;
            assert!(matches!(once.begin(&call).await, Begun::Fresh(_)), "after {polls} polls");
        }
        assert!(cut >= 2, "before the write and behind it");
    }
}

/// The same while another call is in flight, and while one that is done is read.
#[tokio::test(start_paused = true)]
async fn dropped_while_it_waits_it_leaves_the_others_alone() {
    for polls in 1..12 {
        let once = Once::new(dyn_store(Wrapped::new(Stepping)));
        let call = call(&policy(|policy| policy), "k");
        let mut claim = fresh(&once, &call).await;
        assert!(polled(polls, once.begin(&call)).await.is_none(), "{polls}");
        until("nobody waits", || once.watched() == 0).await;
        recorded(&mut claim, bytes(b"first")).await;
        until("nothing goes on", || once.tasks().is_empty()).await;
        assert!(matches!(once.begin(&call).await, Begun::Replay(_)), "after {polls} polls");
    }
}

/// The store carries it out although nobody waits for its reply.
#[tokio::test(start_paused = true)]
async fn dropped_before_its_reply_came_the_claim_is_given_back() {
    let (store, once) = faulty();
    let call = call(&impatient(), "k");
    store.next(StoreOp::Swap, FaultAction::HoldAfter(Gate::closed()));
    assert!(polled(3, once.begin(&call)).await.is_none());
    assert!(matches!(once.begin(&call).await, Begun::Busy(_)), "it was made");
    sleep(secs(1)).await;
    fresh(&once, &call).await.release().await;
}

/// If giving back fails as well, the lease ends it.
#[tokio::test(start_paused = true)]
async fn dropped_while_the_store_goes_away_it_blocks_the_key_for_one_lease() {
    let (store, once) = faulty();
    let call = call(&impatient(), "k");
    store.next(StoreOp::Swap, FaultAction::HoldAfter(Gate::closed()));
    assert!(polled(3, once.begin(&call)).await.is_none());
    let gone = Gate::closed();
    for _ in 0..100 {
        store.next(StoreOp::Read, FaultAction::HoldBefore(gone.clone()));
    }
    sleep(LEASE - millis(10)).await;
    assert!(matches!(once.begin(&call).await, Begun::Busy(_)));
    sleep(millis(10)).await;
    assert_eq!(fresh(&once, &call).await.permit().attempt(), 2);
    // And the attempt to give it back ends as well, and does not touch who took over.
    until("nothing goes on", || once.tasks().is_empty()).await;
}
