//! A store that fails, at every step of a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use http::Response;
use semel::core::{Fault, FaultAction, Gate, StoreErrorKind, StoreOp};
use semel::timer::sleep;
use semel::{Code, InFlight, Once, Permit, StoreDown};
use semel_http::{Failures, IdempotencyLayer};

use crate::support::clocks::Passed;
use crate::support::door::created;
use crate::support::store::{Comes, Doing, FULL, NOT_APPLIED, Ruled, UNKNOWN};
use crate::support::{Door, memory, once, order, policy, until};

fn fails_to(what: impl Fn(Doing) -> bool + Send + Sync + 'static, comes: Comes) -> Once {
    Once::new(Ruled::new(move |doing| if what(doing) { comes } else { Comes::Through }))
}

fn open() -> Arc<semel::Policy> {
    policy(|policy| policy.store_down(StoreDown::Open))
}

/// Never taken for "no record".
#[tokio::test(start_paused = true)]
async fn a_store_that_can_t_be_reached_is_a_503_and_nothing_runs() {
    let unreachable = [
        StoreErrorKind::NotApplied,
        StoreErrorKind::Unknown,
        StoreErrorKind::Refused(semel::core::Refusal::Credentials),
        StoreErrorKind::Refused(semel::core::Refusal::Unusable),
    ];
    for kind in unreachable {
        let once = fails_to(|_| true, Comes::Before(kind));
        let door = Door::counting(once, |layer| layer);
        door.post("k", "{}").await.assert_is(Code::StoreUnavailable);
        assert_eq!(door.runs.count(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn or_the_work_runs_unprotected_and_the_answer_says_so() {
    let once = fails_to(|_| true, Comes::Before(NOT_APPLIED));
    let door = Door::with(
        once,
        |layer| layer.policy(open()),
        |asked| async move {
            let permit = asked.head.extensions.get::<Permit>().ok_or("no permit")?;
            let mut response = created(asked.run);
            let fence = permit.fence().get();
            response.headers_mut().insert("x-fence", fence.into());
            response.headers_mut().insert("idempotent-replayed", "true".parse()?);
            Ok(response)
        },
    );
    for run in ["order 1", "order 2"] {
        let answer = door.post("k", "{}").await;
        answer.assert_is_the_handlers(201, run);
        assert_eq!(answer.header("idempotency-unprotected"), Some("true"));
        assert_eq!(answer.header("x-fence"), Some("0"), "work without a claim has no fence");
        assert!(!answer.is_marked(), "a mark that the handler forged is taken away");
    }
    // Under a claim there is one.
    let door = Door::with(
        crate::support::once(),
        |layer| layer.policy(open()),
        |asked| async move {
            let permit = asked.head.extensions.get::<Permit>().ok_or("no permit")?;
            assert!(permit.fence().get() > 0);
            Ok(created(asked.run))
        },
    );
    let answer = door.post("k", "{}").await;
    assert_eq!(answer.header("idempotency-unprotected"), None);
}

/// Open is for a store that is down, not for one that is full or holds what can't be read.
#[tokio::test]
async fn a_full_store_refuses_even_where_the_work_may_run_unprotected() {
    let once = fails_to(|doing| doing == Doing::Claim, Comes::Before(FULL));
    let door = Door::counting(once, |layer| layer.policy(open()));
    door.post("k", "{}").await.assert_is(Code::StoreFull);
    assert_eq!(door.runs.count(), 0);
}

/// F-66: there is a record and it can't be read. Whoever runs then runs twice.
#[tokio::test]
async fn a_damaged_record_is_a_503_and_the_work_never_runs() {
    for policy in [policy(|policy| policy), open()] {
        let store = Fault::new(memory());
        let door = Door::counting(Once::new(Arc::new(store.clone())), |layer| layer.policy(policy));
        door.post("k", "{}").await;
        for at in 0..60 {
            store.next(StoreOp::Swap, FaultAction::Corrupt { at });
            door.post("k", "{}").await.assert_is(Code::StoreUnavailable);
        }
        assert_eq!((door.runs.count(), store.left(StoreOp::Swap)), (1, 0));
        // It was damaged on its way; what is stored is whole.
        assert!(door.post("k", "{}").await.is_marked());
    }
}

/// A reply that was meant for another key is never somebody else's answer.
#[tokio::test]
async fn a_reply_of_another_key_is_never_replayed() {
    let store = Fault::new(memory());
    let door = Door::counting(Once::new(Arc::new(store.clone())), |layer| layer);
    door.post("mine", "{}").await.assert_is_the_handlers(201, "order 1");
    door.post("theirs", "{}").await.assert_is_the_handlers(201, "order 2");
    let theirs = semel::Key::idempotency(&crate::support::alice(), "theirs").unwrap();
    store.next(StoreOp::Swap, FaultAction::Crossed(theirs));
    door.post("mine", "{}").await.assert_is(Code::StoreUnavailable);
    assert_eq!(door.runs.count(), 2);
}

// ===== Lost replies =====

/// D9: the claim was made and the reply lost. The token tells: it runs, once.
#[tokio::test]
async fn d9_a_lost_reply_to_the_claim_is_settled_by_its_token() {
    let store = Fault::new(memory());
    let door = Door::counting(Once::new(Arc::new(store.clone())), |layer| layer);
    store.next(StoreOp::Swap, FaultAction::FailAfter(UNKNOWN));
    door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
    assert!(door.post("k", "{}").await.is_marked());
    assert_eq!(door.runs.count(), 1);
    // The claim was not made: it is made again.
    store.next(StoreOp::Swap, FaultAction::FailBefore(UNKNOWN));
    door.post("l", "{}").await.assert_is_the_handlers(201, "order 2");
}

/// D9: the record was written and the reply lost.
#[tokio::test]
async fn d9_a_lost_reply_to_the_record_is_settled_by_its_token() {
    for applied in [true, false] {
        let store = Fault::new(memory());
        let door = Door::counting(Once::new(Arc::new(store.clone())), |layer| layer);
        store.next(StoreOp::Swap, FaultAction::Pass);
        let lost = if applied {
            FaultAction::FailAfter(UNKNOWN)
        } else {
            FaultAction::FailBefore(UNKNOWN)
        };
        store.next(StoreOp::Swap, lost);
        let first = door.post("k", "{}").await;
        first.assert_is_the_handlers(201, "order 1");
        assert_eq!(first.header("idempotency-durable"), None);
        assert!(door.post("k", "{}").await.is_marked());
        assert_eq!((door.runs.count(), store.left(StoreOp::Swap)), (1, 0));
    }
}

/// A claim of which nobody knows whether it was made is given back: it does not block its key
/// for a lease.
#[tokio::test(start_paused = true)]
async fn a_claim_that_nobody_knows_of_is_given_back() {
    let down = Arc::new(AtomicBool::new(true));
    let is_down = Arc::clone(&down);
    let store = Ruled::new(move |doing| match doing {
        Doing::Claim if is_down.load(Ordering::SeqCst) => Comes::After(UNKNOWN),
        Doing::Read if is_down.load(Ordering::SeqCst) => Comes::Before(NOT_APPLIED),
        _ => Comes::Through,
    });
    let door = Door::counting(Once::new(store), |layer| layer);
    door.post("k", "{}").await.assert_is(Code::StoreUnavailable);
    down.store(false, Ordering::SeqCst);
    sleep(Duration::from_secs(10)).await;
    door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
}

// ===== Completion =====

/// C5: the answer is given, says that it is not durable yet, and is recorded in the background,
/// under the lease. Never "free".
#[tokio::test(start_paused = true)]
async fn c5_a_record_that_can_t_be_written_is_written_later() {
    let down = Arc::new(AtomicBool::new(true));
    let is_down = Arc::clone(&down);
    let store = Ruled::new(move |doing| match doing {
        Doing::Finish(_) if is_down.load(Ordering::SeqCst) => Comes::Before(NOT_APPLIED),
        _ => Comes::Through,
    });
    let reject = policy(|policy| policy.in_flight(InFlight::Reject));
    let door = Door::counting(Once::new(store), |layer| layer.policy(reject));
    let first = door.post("k", "{}").await;
    first.assert_is_the_handlers(201, "order 1");
    assert_eq!(first.header("idempotency-durable"), Some("false"));
    // Longer than a lease, and the key is still held.
    for _ in 0..4 {
        sleep(Duration::from_secs(30)).await;
        door.post("k", "{}").await.assert_is(Code::InProgress);
    }
    down.store(false, Ordering::SeqCst);
    sleep(Duration::from_secs(10)).await;
    let again = door.post("k", "{}").await;
    assert!(again.is_marked());
    assert_eq!(again.essence(), first.essence());
    assert_eq!(again.header("idempotency-durable"), None);
    assert_eq!(door.runs.count(), 1);
}

/// Those that wait for the call get the recorded answer once it is.
#[tokio::test(start_paused = true)]
async fn c5_who_waits_meanwhile_gets_the_answer_too() {
    let fails = AtomicUsize::new(3);
    let store = Ruled::new(move |doing| match doing {
        Doing::Finish(_) if fails.load(Ordering::SeqCst) > 0 => {
            fails.fetch_sub(1, Ordering::SeqCst);
            Comes::Before(NOT_APPLIED)
        }
        _ => Comes::Through,
    });
    let door = Door::counting(Once::new(store), |layer| layer);
    let first = door.post("k", "{}").await;
    assert_eq!(first.header("idempotency-durable"), Some("false"));
    let second = door.post("k", "{}").await;
    assert_eq!(second.essence(), first.essence());
    assert!(second.is_marked());
}

/// A store that is full when the work has ended: what must not be lost is that it was done.
#[tokio::test]
async fn a_store_that_is_full_at_the_end_records_that_the_work_was_done() {
    let whole_is_too_much = |doing| matches!(doing, Doing::Finish(bytes) if bytes > 250);
    let once = fails_to(whole_is_too_much, Comes::Before(FULL));
    let door = Door::with(
        once,
        |layer| layer,
        |asked| async move {
            let mut response = created(asked.run);
            *response.body_mut() = axum::body::Body::from("x".repeat(300));
            Ok(response)
        },
    );
    let first = door.post("k", "{}").await;
    assert_eq!((first.status.as_u16(), first.body.len()), (201, 300));
    assert_eq!(first.header("idempotency-durable"), None);
    for _ in 0..2 {
        door.post("k", "{}").await.assert_is(Code::ResponseUnavailable);
    }
    assert_eq!(door.runs.count(), 1);
}

/// A release whose reply is lost, or that can't be made, frees the key a little later.
#[tokio::test(start_paused = true)]
async fn a_release_that_fails_is_made_later() {
    for comes in [Comes::Before(NOT_APPLIED), Comes::After(UNKNOWN), Comes::Before(UNKNOWN)] {
        let fails = AtomicUsize::new(2);
        let store = Ruled::new(move |doing| match doing {
            Doing::Release if fails.load(Ordering::SeqCst) > 0 => {
                fails.fetch_sub(1, Ordering::SeqCst);
                comes
            }
            _ => Comes::Through,
        });
        let door = Door::with(
            Once::new(store),
            |layer| layer.failures(Failures::FinalBelow500),
            |asked| async move {
                if asked.run == 1 {
                    return Ok(Response::builder().status(503).body("busy".into()).unwrap());
                }
                Ok(created(asked.run))
            },
        );
        door.post("k", "{}").await.assert_is_the_handlers(503, "busy");
        door.post("k", "{}").await.assert_is_the_handlers(201, "order 2");
    }
}

/// What is streamed is told not to be durable like all else, and then not kept.
#[tokio::test(start_paused = true)]
async fn a_stream_whose_head_can_t_be_recorded_still_passes() {
    let fails = AtomicUsize::new(1);
    let store = Ruled::new(move |doing| match doing {
        Doing::Finish(_) if fails.load(Ordering::SeqCst) > 0 => {
            fails.fetch_sub(1, Ordering::SeqCst);
            Comes::Before(NOT_APPLIED)
        }
        _ => Comes::Through,
    });
    let door = Door::with(
        Once::new(store),
        |layer| layer,
        |_| async { Ok(Response::new(crate::support::bodies::Scripted::of(&["a", "b"]).body())) },
    );
    let first = door.post("k", "{}").await;
    first.assert_is_the_handlers(200, "ab");
    assert_eq!(first.header("idempotency-durable"), Some("false"));
    door.post("k", "{}").await.assert_is(Code::ResponseUnavailable);
    assert_eq!(door.runs.count(), 1);
}

/// A store that answers nothing does not hold its callers for ever.
#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_is_told_as_unavailable() {
    let store = Fault::new(memory());
    let gate = Gate::closed();
    let door = Door::counting(Once::new(Arc::new(store.clone())), |layer| layer);
    store.next(StoreOp::Swap, FaultAction::HoldBefore(gate.clone()));
    let began = Passed::since_now();
    door.post("k", "{}").await.assert_is(Code::StoreUnavailable);
    assert!(began.time() < Duration::from_secs(30));
    gate.open();
    // It hangs when the answer is to be recorded: the answer is given all the same.
    let gate = Gate::closed();
    store.next(StoreOp::Swap, FaultAction::Pass);
    store.next(StoreOp::Swap, FaultAction::HoldBefore(gate.clone()));
    let first = door.post("l", "{}").await;
    first.assert_is_the_handlers(201, "order 1");
    assert_eq!(first.header("idempotency-durable"), Some("false"));
    gate.open();
    until(|| door.once.held() == 0).await;
    assert!(door.post("l", "{}").await.is_marked());
}

/// Somebody removed the record while the work ran: its answer is given, and says that it is not
/// kept.
#[tokio::test]
async fn an_answer_whose_record_was_removed_meanwhile_is_not_durable() {
    let store = memory();
    let shared = store.clone();
    let door = Door::with(
        Once::new(Arc::new(store)),
        |layer| layer,
        move |asked| {
            let store = shared.clone();
            async move {
                use semel::core::{Expect, Next, Store};
                let key = semel::Key::idempotency(&crate::support::alice(), "k")?;
                let _ = store.swap(&key, Expect::Any, Next::Delete).await?;
                Ok(created(asked.run))
            }
        },
    );
    let answer = door.post("k", "{}").await;
    answer.assert_is_the_handlers(201, "order 1");
    assert_eq!(answer.header("idempotency-durable"), Some("false"));
}

/// The layer is only told by the default policy; a route's own wins.
#[tokio::test]
async fn a_policy_of_the_route_wins_over_the_engines() {
    let store = Ruled::new(|_| Comes::Before(NOT_APPLIED));
    let engine = Once::builder(store).policy(open()).build();
    let closed = policy(|policy| policy);
    let door = Door::counting(engine.clone(), |layer| layer.policy(closed));
    door.send(order("k", "{}")).await.assert_is(Code::StoreUnavailable);
    let door = Door::counting(engine, |layer: IdempotencyLayer| layer);
    door.send(order("k", "{}")).await.assert_is_the_handlers(201, "order 1");
    let _ = once();
}
