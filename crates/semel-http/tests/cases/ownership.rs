//! Who owns a claim, and keeps it: Truxify, semaprax, hono-idempotency, Veil, jamjet.

use std::sync::Arc;
use std::time::Duration;

use semel::core::{Fault, FaultAction, StoreErrorKind, StoreOp, Touch};
use semel::timer::{SystemClock, sleep};
use semel::{Begun, Finished, GivenUp, InFlight, MemoryStore, Policy, PolicyBuilder};
use semel_http::IdempotencyLayer;

use super::support::{App, alice, bob, bytes, call, fresh, from, once_of, order, over};

/// A lease of a second that nobody renews.
fn unrenewed() -> PolicyBuilder {
    let second = Duration::from_secs(1);
    let policy = Policy::builder().in_progress_time_to_live(second).max_execution(second);
    policy.in_flight(InFlight::Reject)
}

/// The clean-up deleted whatever was under the key, without a look at whose it was.
#[tokio::test(start_paused = true)]
async fn truxify_4623_a_release_without_the_token_that_is_there_frees_nothing() {
    let once = once_of(unrenewed());
    let call = call(&once, "k");
    let late = fresh(&once, &call).await;
    sleep(Duration::from_secs(1)).await;
    let mut next = fresh(&once, &call).await;
    assert_eq!(late.release().await, GivenUp::NotOurs);
    assert!(matches!(once.begin(&call).await, Begun::Busy(_)));
    assert!(matches!(next.record(bytes("next")).await, Finished::Recorded));
}

/// The fence began at 1 again after each release, so that a late owner matched by accident; the
/// test for it passed for another reason.
#[tokio::test(start_paused = true)]
async fn semaprax_192_fences_rise_over_releases_and_a_late_owner_never_matches() {
    let once = once_of(unrenewed());
    let call = call(&once, "k");
    let mut late = fresh(&once, &call).await;
    let mut fence = late.permit().fence();
    sleep(Duration::from_secs(1)).await;
    for _ in 0..5 {
        let next = fresh(&once, &call).await;
        assert!(next.permit().fence() > fence);
        fence = next.permit().fence();
        assert!(matches!(late.record(bytes("late")).await, Finished::Superseded(_)));
        assert_eq!(next.release().await, GivenUp::Settled);
        // On a free key too: what the late owner held is not there any more.
        assert!(matches!(late.record(bytes("late")).await, Finished::Superseded(_)));
    }
    assert_eq!(late.release().await, GivenUp::AlreadyGone);
    fresh(&once, &call).await.release().await;
}

/// The lock was verified by the fingerprint of the request, which is the same for both who race
/// for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hono_91_of_racers_with_equal_requests_one_owns_the_claim() {
    let once = once_of(Policy::builder().in_flight(InFlight::Reject));
    let racers = (0..64).map(|_| {
        let (once, call) = (once.clone(), call(&once, "k"));
        tokio::spawn(async move { once.begin(&call).await })
    });
    let mut claims = Vec::new();
    for racer in racers.collect::<Vec<_>>() {
        if let Begun::Fresh(claim) = racer.await.unwrap() {
            claims.push(claim);
        }
    }
    assert_eq!(claims.len(), 1);
}

/// Errors of the renewal were dropped, and the work went on without knowing that another had begun.
#[tokio::test(start_paused = true)]
async fn veil_591_work_whose_renewals_fail_is_told_before_its_lease_ends() {
    let clock = SystemClock::new();
    let fault = Fault::with_plan(MemoryStore::new(SystemClock::new()), |call| {
        let renews = call.op == StoreOp::Swap && call.nth > 1;
        let down = FaultAction::FailBefore(StoreErrorKind::NotApplied);
        if renews { down } else { FaultAction::Pass }
    });
    let once = over(Arc::new(fault.clone()), Policy::builder());
    let began = semel::core::Clock::now(&clock);
    let claim = fresh(&once, &call(&once, "k")).await;
    let permit = claim.permit();
    permit.lost().await;
    let after = semel::core::Clock::now(&clock).since(began);
    assert!(after <= Duration::from_secs(60) && permit.remaining().is_zero(), "{after:?}");
    assert!(fault.calls(StoreOp::Swap) > 2, "{fault:?}");
}

/// The heartbeat outlived its owner and renewed the claim for ever; and a key of another tenant was
/// read as free.
#[tokio::test(start_paused = true)]
async fn jamjet_125_nothing_is_renewed_for_an_owner_that_is_gone_and_tenants_are_apart() {
    let fault = Fault::new(MemoryStore::new(SystemClock::new()));
    let once = over(Arc::new(fault.clone()), Policy::builder());
    let call = call(&once, "k");
    let claim = fresh(&once, &call).await;
    sleep(Duration::from_secs(300)).await;
    let renewed = fault.calls(StoreOp::Swap);
    assert!(renewed > 5, "{fault:?}");
    drop(claim);
    sleep(Duration::from_secs(300)).await;
    let entry = once.store().read(call.key(), Touch::No).await.unwrap().entry.unwrap();
    assert_eq!((fault.calls(StoreOp::Swap), entry.lease_left.is_zero()), (renewed, true));
    let app = App::creating(&IdempotencyLayer::new(once));
    app.send(from(alice(), order("k"))).await;
    assert_eq!(app.send(from(bob(), order("k"))).await.got(), (201, "order 2"));
    assert!(app.send(from(alice(), order("k"))).await.is_replay());
}
