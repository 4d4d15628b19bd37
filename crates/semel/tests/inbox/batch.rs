//! Messages that were delivered together.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use semel::inbox::{Delivery, Envelope, InboxError};
use semel::timer::sleep;

use super::support::{Broken, billing, crashed, faulty, handled, limited, message, secs};

fn numbered(numbers: impl IntoIterator<Item = u32>) -> Vec<(Envelope, u32)> {
    numbers.into_iter().map(|number| (message(&number.to_string()), number)).collect()
}

const fn at_once(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).expect("more than none")
}

/// Everything that can happen to a message, side by side.
#[tokio::test(start_paused = true)]
async fn each_message_has_its_own_outcome_and_they_come_in_order() {
    for many in [1, 3, 100] {
        let (_, once) = faulty();
        let inbox = limited(&once, 1);
        assert!(matches!(handled(&inbox, &message("2")).await, Ok(Delivery::Handled)));
        crashed(&inbox, &message("3")).await;
        let batch = inbox.receive_batch(numbered(1..=6)).at_once(at_once(many));
        let outcomes = batch
            .run_each(async |number, _| {
                // The first ones take longest.
                sleep(secs(u64::from(10 - number))).await;
                match number {
                    4 => Err(Broken),
                    5 => panic!("of the work"),
                    _ => Ok(()),
                }
            })
            .await;
        assert!(
            matches!(
                outcomes[..],
                [
                    Ok(Delivery::Handled),
                    Ok(Delivery::Duplicate),
                    Ok(Delivery::Later(_)),
                    Ok(Delivery::Poison { attempts: 1, error: Some(Broken) }),
                    Err(InboxError::Panicked),
                    Ok(Delivery::Handled),
                ]
            ),
            "{many} at once: {outcomes:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn one_after_the_other_they_keep_their_order_and_copies_are_duplicates() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let ran = Mutex::new(Vec::new());
    let batch = inbox.receive_batch(numbered([3, 1, 2, 1, 3]));
    let outcomes = batch
        .run_each(async |number, _| {
            sleep(secs(u64::from(number))).await;
            ran.lock().unwrap().push(number);
            Ok::<_, Broken>(())
        })
        .await;
    assert_eq!(ran.into_inner().unwrap(), [3, 1, 2]);
    assert!(
        matches!(
            outcomes[..],
            [
                Ok(Delivery::Handled),
                Ok(Delivery::Handled),
                Ok(Delivery::Handled),
                Ok(Delivery::Duplicate),
                Ok(Delivery::Duplicate),
            ]
        ),
        "{outcomes:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn no_more_run_at_once_than_may() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let batch = inbox.receive_batch(numbered(0..50)).at_once(at_once(7));
    let outcomes = batch
        .run_each(async |_, _| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            sleep(secs(1)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok::<_, Broken>(())
        })
        .await;
    assert_eq!((outcomes.len(), most.into_inner()), (50, 7));
}

/// A hundred copies of one message at once run once; the others are acknowledged or put off.
#[tokio::test(start_paused = true)]
async fn of_many_copies_at_once_one_runs() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let runs = AtomicUsize::new(0);
    let batch = inbox.receive_batch(numbered([1; 100])).at_once(at_once(100));
    let outcomes = batch
        .run_each(async |_, _| {
            runs.fetch_add(1, Ordering::SeqCst);
            sleep(secs(1)).await;
            Ok::<_, Broken>(())
        })
        .await;
    assert_eq!(runs.into_inner(), 1);
    for outcome in outcomes {
        assert!(
            matches!(outcome, Ok(Delivery::Handled | Delivery::Duplicate | Delivery::Later(_))),
            "{outcome:?}"
        );
    }
}

/// Consumers run in tasks of their own.
#[tokio::test(start_paused = true)]
async fn a_batch_and_a_message_can_be_spawned() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let one = inbox.clone();
    let one = tokio::spawn(async move {
        let envelope = message("1");
        one.receive(&envelope).run(async |permit| work(permit.attempt()).await).await.is_ok()
    });
    assert!(one.await.unwrap());
    let many = tokio::spawn(async move {
        let batch = inbox.receive_batch(numbered(2..5)).at_once(at_once(2));
        batch.run_each(async |number, _| work(number).await).await.len()
    });
    assert_eq!(many.await.unwrap(), 3);
}

async fn work(_: u32) -> Result<(), Broken> {
    sleep(secs(1)).await;
    Ok(())
}
