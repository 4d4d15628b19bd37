//! Deliveries whose consumer goes away in the middle of them.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use semel::Drained;
use semel::core::{FaultAction, Gate, StoreOp};
use semel::inbox::Delivery;
use semel::timer::{sleep, within};

use super::support::{
    Broken, LEASE, billing, faulty, handled, limited, message, not_run, secs, trips,
};

/// Dropped at each of its awaits of the store before the work, it leaves nothing behind.
#[tokio::test(start_paused = true)]
async fn dropped_before_the_work_it_leaves_nothing_behind() {
    for (op, after) in [
        (StoreOp::Read, false),
        (StoreOp::Read, true),
        (StoreOp::Swap, false),
        (StoreOp::Swap, true),
    ] {
        let (store, once) = faulty();
        let inbox = limited(&once, 1);
        let gate = Gate::closed();
        let hold = if after { FaultAction::HoldAfter } else { FaultAction::HoldBefore };
        store.next(op, hold(gate.clone()));
        assert!(within(secs(1), not_run(&inbox, &message("1"))).await.is_none());
        gate.open();
        assert_eq!(once.drain(secs(60)).await, Drained::All);
        let next = handled(&inbox, &message("1")).await;
        assert!(matches!(next, Ok(Delivery::Handled)), "{op:?}, {after}: {next:?}");
    }
}

/// Dropped while its end is written, that goes on.
#[tokio::test(start_paused = true)]
async fn dropped_after_the_work_its_end_is_recorded_all_the_same() {
    for end in [Ok(()), Err(Broken)] {
        let (store, once) = faulty();
        let inbox = limited(&once, 2);
        let gate = Gate::closed();
        let held = gate.clone();
        let envelope = message("1");
        let work = inbox.receive(&envelope).run(async |_| {
            store.next(StoreOp::Swap, FaultAction::HoldBefore(held));
            end
        });
        assert!(within(secs(1), work).await.is_none());
        gate.open();
        assert_eq!(once.drain(secs(60)).await, Drained::All);
        match end {
            Ok(()) => {
                assert!(matches!(not_run(&inbox, &envelope).await, Ok(Delivery::Duplicate)));
            }
            Err(_) => {
                let next = super::support::failed(&inbox, &envelope).await;
                assert!(matches!(next, Ok(Delivery::Poison { attempts: 2, .. })), "{next:?}");
            }
        }
    }
}

/// Dropped in the middle of the work it is a crash: the lease is let run out.
#[tokio::test(start_paused = true)]
async fn dropped_while_the_work_runs_it_is_put_off_until_the_lease_ends() {
    let (store, once) = faulty();
    let inbox = billing(&once);
    super::support::crashed(&inbox, &message("1")).await;
    assert_eq!(once.held(), 0, "nobody renews it");
    let before = trips(&store);
    sleep(LEASE - secs(1)).await;
    assert_eq!(trips(&store), before);
    assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::Later(_))));
    sleep(secs(1)).await;
    assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
}

/// A batch that is dropped: what had begun is as cut off, the rest as never delivered.
#[tokio::test(start_paused = true)]
async fn of_a_batch_that_is_dropped_only_what_had_begun_is_held() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let messages: Vec<_> = (0..5).map(|number| (message(&number.to_string()), number)).collect();
    let mut batch = pin!(inbox.receive_batch(messages).run_each(async |number, _| {
        if number == 2 {
            std::future::pending::<()>().await;
        }
        Ok::<_, Infallible>(())
    }));
    for _ in 0..100 {
        let ended = poll_fn(|cx| Poll::Ready(batch.as_mut().poll(cx).is_ready())).await;
        assert!(!ended);
        sleep(secs(0)).await;
    }
    let outcomes = [
        not_run(&inbox, &message("0")).await,
        not_run(&inbox, &message("1")).await,
        not_run(&inbox, &message("2")).await,
        handled(&inbox, &message("3")).await,
        handled(&inbox, &message("4")).await,
    ];
    assert!(
        matches!(
            outcomes,
            [
                Ok(Delivery::Duplicate),
                Ok(Delivery::Duplicate),
                Ok(Delivery::Later(_)),
                Ok(Delivery::Handled),
                Ok(Delivery::Handled),
            ]
        ),
        "{outcomes:?}"
    );
}
