//! Renewals, as long as the store answers.

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;
use semel::core::{FaultAction, StoreOp};
use semel::timer::sleep;
use semel::{Begun, Claim, GivenUp, LossReason, Once};

use super::support::metrics::Counted;
use super::support::stopwatch::Stopwatch;
use super::support::{
    Faulty, LEASE, bytes, call, faulty, fresh, gate_for, impatient, millis, planned, policy,
    recorded, replayed, secs, trips, until,
};

/// An engine, and the moments of its swaps, in seconds from now.
fn timed() -> (Faulty, Once, Arc<Mutex<Vec<f64>>>) {
    let (started, times) = (Stopwatch::started(), Arc::new(Mutex::new(Vec::new())));
    let noted = Arc::clone(&times);
    let (store, once) = planned(move |call| {
        if call.op == StoreOp::Swap {
            noted.lock().push(started.elapsed().as_secs_f64());
        }
        FaultAction::Pass
    });
    (store, once, times)
}

/// When something happened, in whole milliseconds after it should have.
fn assert_times(times: &Mutex<Vec<f64>>, expected: &[u32]) {
    let times = times.lock();
    assert_eq!(times.len(), expected.len(), "{times:?}");
    for (time, expected) in times.iter().zip(expected) {
        // tokio's timer is one of milliseconds.
        assert!((0.0..0.005).contains(&(time - f64::from(*expected))), "{times:?}");
    }
}

/// F-26: and no renewal comes after the call was recorded.
#[tokio::test(start_paused = true)]
async fn a_lease_is_renewed_at_a_third_of_it_until_its_call_ends() {
    let (_, once, times) = timed();
    let mut claim = fresh(&once, &call(&impatient(), "k")).await;
    sleep(secs(105)).await;
    assert!(claim.permit().remaining() > secs(54));
    recorded(&mut claim, bytes(b"")).await;
    sleep(secs(3_000)).await;
    assert_times(&times, &[0, 20, 40, 60, 80, 100, 105]);
}

#[tokio::test(start_paused = true)]
async fn work_of_many_leases_keeps_its_key() {
    let (_, once) = faulty();
    let call = call(&impatient(), "k");
    let mut claim = fresh(&once, &call).await;
    let permit = claim.permit();
    for _ in 0..59 {
        sleep(LEASE).await;
        assert!(matches!(once.begin(&call).await, Begun::Busy(_)));
        assert!(permit.remaining() >= LEASE * 2 / 3 - millis(10), "{:?}", permit.remaining());
    }
    recorded(&mut claim, bytes(b"slow")).await;
    assert_eq!(replayed(&once, &call).await, b"slow");
}

/// Whatever ends the claim ends its renewals: it never outlives its owner.
#[tokio::test(start_paused = true)]
async fn nothing_is_renewed_once_its_owner_is_gone() {
    type End = fn(Once, Claim) -> futures_util::future::BoxFuture<'static, ()>;
    let ends: [(&str, End); 6] = [
        ("dropped", |_, claim| Box::pin(async { drop(claim) })),
        ("recorded", |_, mut claim| {
            Box::pin(async move { recorded(&mut claim, bytes(b"")).await })
        }),
        ("released", |_, claim| {
            Box::pin(async { assert_eq!(claim.release().await, GivenUp::Settled) })
        }),
        ("in doubt", |_, claim| {
            Box::pin(async {
                assert_eq!(claim.doubt(semel::core::Doubt::CutOff).await, GivenUp::Settled);
            })
        }),
        ("panicked", |_, claim| {
            Box::pin(async {
                let work = tokio::spawn(async move {
                    let _claim = claim;
                    panic!("on purpose");
                });
                assert!(work.await.unwrap_err().is_panic());
            })
        }),
        ("aborted", |_, claim| {
            Box::pin(async {
                let work = tokio::spawn(async move {
                    let _claim = claim;
                    std::future::pending::<()>().await;
                });
                sleep(secs(1)).await;
                work.abort();
                assert!(work.await.unwrap_err().is_cancelled());
            })
        }),
    ];
    for (name, end) in ends {
        let (store, once) = faulty();
        let claim = fresh(&once, &call(&impatient(), "k")).await;
        sleep(secs(50)).await;
        assert_eq!((once.held(), trips(&store).0), (1, 3), "{name}");
        end(once.clone(), claim).await;
        let then = trips(&store);
        assert_eq!(once.held(), 0, "{name}");
        sleep(secs(600)).await;
        assert_eq!(trips(&store), then, "{name}");
    }
}

/// The cap: it stops, and says so.
#[tokio::test(start_paused = true)]
async fn a_call_is_renewed_no_longer_than_the_cap() {
    let (_, once, times) = timed();
    let capped =
        policy(|policy| policy.max_execution(secs(100)).in_flight(semel::InFlight::Reject));
    let call = call(&capped, "k");
    let claim = fresh(&once, &call).await;
    let permit = claim.permit();
    let began = Stopwatch::started();
    assert_eq!(permit.lost().await, LossReason::Expired);
    assert_eq!(began.elapsed().as_secs(), 100);
    assert_times(&times, &[0, 20, 40]);
    sleep(millis(10)).await;
    assert_eq!(once.held(), 0);
    assert!(permit.remaining().is_zero());
    assert_eq!(fresh(&once, &call).await.permit().attempt(), 2);
}

/// A call whose owner comes back late, with nobody in its place, is recorded all the same.
#[tokio::test(start_paused = true)]
async fn a_late_owner_whose_key_nobody_took_is_recorded() {
    let (_, once) = faulty();
    let capped = policy(|policy| policy.max_execution(secs(60)));
    let call = call(&capped, "k");
    let mut claim = fresh(&once, &call).await;
    sleep(secs(3_000)).await;
    recorded(&mut claim, bytes(b"late")).await;
    assert_eq!(replayed(&once, &call).await, b"late");
}

/// Who took over or removed it is noticed at the next renewal.
#[tokio::test(start_paused = true)]
async fn a_claim_that_was_removed_is_lost_at_its_next_renewal() {
    let counted = Counted::captured();
    let (store, once) = faulty();
    let claim = fresh(&once, &call(&impatient(), "k")).await;
    remove(&store, &claim).await;
    let (permit, began) = (claim.permit(), Stopwatch::started());
    assert_eq!(permit.lost().await, LossReason::Taken);
    assert_eq!(began.elapsed().as_secs(), 20);
    assert_eq!(permit.lost().await, LossReason::Taken, "and stays so");
    assert_eq!((once.held(), counted.of("semel_claims_lost_total")), (0, 1));
}

async fn remove(store: &Faulty, claim: &Claim) {
    use semel::core::{Expect, Next, Store, Swap};
    let removed = store.swap(claim.permit().key(), Expect::Any, Next::Delete).await.unwrap();
    assert!(matches!(removed, Swap::Won(_)));
}

/// A claim's place with the keeper may be somebody else's once the claim was lost. It used to be
/// taken from whoever had it then, whose lease ran out unseen.
#[tokio::test(start_paused = true)]
async fn a_lost_claim_that_leaves_does_not_take_anothers_place() {
    let (store, once) = faulty();
    let lost = fresh(&once, &call(&impatient(), "lost")).await;
    remove(&store, &lost).await;
    lost.permit().lost().await;
    let claim = fresh(&once, &call(&impatient(), "k")).await;
    drop(lost);
    assert_eq!(once.held(), 1);
    sleep(secs(600)).await;
    assert!(claim.permit().remaining() > secs(30));
}

/// Ten thousand claims, begun within two seconds, are renewed together.
#[tokio::test(start_paused = true)]
async fn the_renewals_of_many_claims_travel_together() {
    let (store, once, times) = timed();
    let mut claims = Vec::new();
    for n in 0..10_000 {
        claims.push(fresh(&once, &call(&impatient(), &format!("k{n}"))).await);
        if n % 1_000 == 0 {
            sleep(millis(200)).await;
        }
    }
    times.lock().clear();
    sleep(secs(58)).await;
    let moments: BTreeSet<_> = times.lock().iter().map(|time| format!("{time:.1}")).collect();
    assert_eq!(times.lock().len(), 30_000 - 10_000, "each twice in a minute from now");
    assert!(moments.len() <= 2, "{moments:?}");
    drop(claims);
    assert_eq!(once.held(), 0);
    let then = trips(&store);
    sleep(secs(600)).await;
    assert_eq!(trips(&store), then);
}

/// One that is due earlier than all others wakes the keeper earlier.
#[tokio::test(start_paused = true)]
async fn a_short_lease_among_long_ones_is_renewed_in_time() {
    let (_, once, times) = timed();
    let long = fresh(&once, &call(&impatient(), "long")).await;
    sleep(secs(1)).await;
    let short = policy(|policy| policy.in_progress_time_to_live(secs(6)));
    let claim = fresh(&once, &call(&short, "short")).await;
    sleep(secs(5)).await;
    assert_times(&times, &[0, 1, 3, 5]);
    sleep(secs(60)).await;
    assert!(claim.permit().remaining() > secs(3));
    assert!(long.permit().remaining() > secs(30));
}

/// The task ends when there is nothing left to renew, and a claim that begins at that very moment
/// is renewed all the same.
#[tokio::test(start_paused = true)]
async fn a_claim_that_begins_while_the_keeper_goes_to_rest_is_renewed() {
    for after in [19_990, 19_998, 19_999, 20_000, 20_001, 20_002, 20_010] {
        let (_, once) = faulty();
        let mut first = fresh(&once, &call(&impatient(), "first")).await;
        sleep(secs(1)).await;
        recorded(&mut first, bytes(b"")).await;
        sleep(millis(after) - secs(1)).await;
        let claim = fresh(&once, &call(&impatient(), "k")).await;
        sleep(secs(300)).await;
        assert!(claim.permit().remaining() > secs(30), "begun after {after} ms");
    }
}

/// F-26: a renewal that is under way while its call is being recorded changes nothing, and does
/// not say that the claim was lost.
#[tokio::test(start_paused = true)]
async fn a_renewal_that_meets_the_record_is_no_loss() {
    type Hold = fn(semel::core::Gate) -> FaultAction;
    let holds: [(&str, Hold); 2] = [
        ("renewed, and then recorded", |gate| FaultAction::HoldAfter(gate)),
        ("recorded, and then renewed", |gate| FaultAction::HoldBefore(gate)),
    ];
    for (name, hold) in holds {
        for release in [false, true] {
            let counted = Counted::captured();
            let (store, once) = faulty();
            let call = call(&impatient(), "k");
            let mut claim = fresh(&once, &call).await;
            let permit = claim.permit();
            sleep(secs(10)).await;
            store.next(StoreOp::Swap, hold(gate_for(secs(15))));
            until("the renewal is under way", || store.left(StoreOp::Swap) == 0).await;
            if release {
                assert_eq!(claim.release().await, GivenUp::Settled, "{name}");
            } else {
                recorded(&mut claim, bytes(b"once")).await;
            }
            sleep(secs(600)).await;
            assert_eq!(counted.of("semel_claims_lost_total"), 0, "{name}");
            assert!(futures_util::FutureExt::now_or_never(permit.lost()).is_none(), "{name}");
            if release {
                fresh(&once, &call).await.release().await;
            } else {
                assert_eq!(replayed(&once, &call).await, b"once");
            }
        }
    }
}

/// The same while the record itself is on its way.
#[tokio::test(start_paused = true)]
async fn a_renewal_during_a_record_that_takes_long_is_no_loss() {
    let counted = Counted::captured();
    let (store, once) = faulty();
    let call = call(&impatient(), "k");
    let mut claim = fresh(&once, &call).await;
    let permit = claim.permit();
    sleep(secs(18)).await;
    store.next(StoreOp::Swap, FaultAction::HoldAfter(gate_for(secs(4))));
    recorded(&mut claim, bytes(b"once")).await;
    assert!(trips(&store).0 >= 3, "it was renewed meanwhile");
    sleep(secs(600)).await;
    assert_eq!(counted.of("semel_claims_lost_total"), 0);
    assert!(futures_util::FutureExt::now_or_never(permit.lost()).is_none());
    assert_eq!(replayed(&once, &call).await, b"once");
}
