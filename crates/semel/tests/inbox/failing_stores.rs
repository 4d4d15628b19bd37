//! Messages while the store is down: they are put back, never acknowledged, never lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use semel::core::{FaultAction, StoreErrorKind, StoreOp};
use semel::inbox::{Delivery, Disposition, InboxError};
use semel::{Drained, StoreDown};

use super::support::{
    Broken, billing, failed, faulty, handled, limited, message, not_run, planned, policy, secs,
    with_policy,
};

/// An engine over a store of which one kind of call can be switched off.
fn switched(off: StoreOp) -> (Arc<AtomicBool>, semel::Once) {
    let down = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&down);
    let (_, once) = planned(move |call| {
        if switch.load(Ordering::SeqCst) && call.op == off {
            FaultAction::FailBefore(StoreErrorKind::NotApplied)
        } else {
            FaultAction::Pass
        }
    });
    (down, once)
}

#[tokio::test(start_paused = true)]
async fn while_the_store_is_down_messages_are_put_back_and_do_not_run() {
    for off in [StoreOp::Swap, StoreOp::Read] {
        let (down, once) = switched(off);
        let inbox = billing(&once);
        down.store(true, Ordering::SeqCst);
        let outcome = not_run(&inbox, &message("1")).await;
        assert!(matches!(outcome, Err(InboxError::Unavailable(_))), "{outcome:?}");
        assert_eq!(Disposition::of(&outcome), Disposition::PutBack(None));
        down.store(false, Ordering::SeqCst);
        assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
    }
}

#[tokio::test(start_paused = true)]
async fn where_the_policy_says_so_they_run_unprotected_and_it_is_told() {
    for off in [StoreOp::Swap, StoreOp::Read] {
        let (down, once) = switched(off);
        let inbox = with_policy(&once, policy(|policy| policy.store_down(StoreDown::Open)));
        down.store(true, Ordering::SeqCst);
        let outcome = handled(&inbox, &message("1")).await;
        match off {
            StoreOp::Swap => {
                assert!(matches!(outcome, Ok(Delivery::Unprotected)), "{outcome:?}");
                let failure = failed(&inbox, &message("1")).await;
                assert!(matches!(failure, Err(InboxError::Failed { .. })), "{failure:?}");
            }
            // Only the count can't be read.
            _ => assert!(matches!(outcome, Ok(Delivery::Handled)), "{outcome:?}"),
        }
        assert_eq!(Disposition::of(&outcome), Disposition::Acknowledge);
    }
}

/// What was done is acknowledged: put back, it would be done again. The record follows.
#[tokio::test(start_paused = true)]
async fn work_whose_record_is_late_is_acknowledged_and_recorded_in_the_background() {
    let (down, once) = switched(StoreOp::Swap);
    let inbox = billing(&once);
    let outcome = inbox
        .receive(&message("1"))
        .run(async |_| {
            down.store(true, Ordering::SeqCst);
            Ok::<_, Broken>(())
        })
        .await;
    assert!(matches!(outcome, Ok(Delivery::Handled)), "{outcome:?}");
    assert!(matches!(not_run(&inbox, &message("1")).await, Err(InboxError::Unavailable(_))));
    down.store(false, Ordering::SeqCst);
    assert_eq!(once.drain(secs(60)).await, Drained::All);
    assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::Duplicate)));
}

/// A failure that can't be written down is told as one; nothing is lost but its count.
#[tokio::test(start_paused = true)]
async fn a_failure_while_the_store_is_down_is_a_failure() {
    let (down, once) = switched(StoreOp::Swap);
    let inbox = limited(&once, 1);
    let outcome = inbox
        .receive(&message("1"))
        .run(async |_| {
            down.store(true, Ordering::SeqCst);
            Err(Broken)
        })
        .await;
    // No poison while the claim is there still: what is sent out of a dead-letter queue must run.
    assert!(matches!(outcome, Err(InboxError::Failed { .. })), "{outcome:?}");
    down.store(false, Ordering::SeqCst);
    assert_eq!(once.drain(secs(60)).await, Drained::All);
    assert!(matches!(failed(&inbox, &message("1")).await, Ok(Delivery::Poison { .. })));
}

/// The reply to a write is lost: what is there tells what became of it.
#[tokio::test(start_paused = true)]
async fn lost_replies_change_nothing() {
    for nth in 1..=6 {
        let (_, once) = planned(move |call| {
            if call.op == StoreOp::Swap && call.nth == nth {
                FaultAction::FailAfter(StoreErrorKind::Unknown)
            } else {
                FaultAction::Pass
            }
        });
        let inbox = billing(&once);
        assert!(matches!(failed(&inbox, &message("1")).await, Err(InboxError::Failed { .. })));
        let second = handled(&inbox, &message("1")).await;
        assert!(matches!(second, Ok(Delivery::Handled)), "{nth}: {second:?}");
        assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::Duplicate)), "{nth}");
    }
}

/// A record or a count that can't be read is never taken for none.
#[tokio::test(start_paused = true)]
async fn what_can_not_be_read_keeps_the_message_from_running() {
    let (store, once) = faulty();
    let inbox = billing(&once);
    assert!(failed(&inbox, &message("1")).await.is_err());
    store.next(StoreOp::Read, FaultAction::Corrupt { at: 30 });
    let outcome = not_run(&inbox, &message("1")).await;
    assert!(matches!(outcome, Err(InboxError::Unavailable(_))), "{outcome:?}");
    assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
    store.next(StoreOp::Swap, FaultAction::Corrupt { at: 30 });
    let outcome = not_run(&inbox, &message("1")).await;
    assert!(matches!(outcome, Err(InboxError::Unavailable(_))), "{outcome:?}");
}
