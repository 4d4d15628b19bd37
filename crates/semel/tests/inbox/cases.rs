//! What went wrong with messages elsewhere.

use std::collections::VecDeque;

use semel::inbox::{Delivery, Disposition, InboxError};

use super::support::{Broken, billing, failed, faulty, handled, limited, message, not_run, secs};

/// A partition is read in order: what is not acknowledged holds up all that stands behind it.
/// wolverine#2639: a duplicate was detected and then not acknowledged, and the partition stood.
#[tokio::test(start_paused = true)]
async fn wolverine_2639_a_duplicate_is_acknowledged_so_that_the_partition_goes_on() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let mut partition = VecDeque::from(["1", "2", "1", "1", "3", "2", "4"]);
    let (mut deliveries, mut ran) = (0, Vec::new());
    while let Some(id) = partition.front() {
        deliveries += 1;
        assert!(deliveries <= 7, "it stands at {id}");
        let outcome = inbox
            .receive(&message(id))
            .run(async |_| {
                ran.push(*id);
                Ok::<_, Broken>(())
            })
            .await;
        if Disposition::of(&outcome) == Disposition::Acknowledge {
            partition.pop_front();
        }
    }
    assert_eq!(ran, ["1", "2", "3", "4"]);
}

/// tomodachi#2074: the work was done and the acknowledgement failed; the redelivery was ignored as
/// a duplicate, again and again, until the message was in the dead-letter queue.
#[tokio::test(start_paused = true)]
async fn tomodachi_2074_after_a_failed_acknowledgement_the_redelivery_is_acknowledged() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
    // The acknowledgement is lost on its way, several times.
    for _ in 0..5 {
        let repeat = not_run(&inbox, &message("1")).await;
        assert_eq!(Disposition::of(&repeat), Disposition::Acknowledge, "{repeat:?}");
    }
}

/// nats#5142: dedup where messages are published dropped a redo that its sender wanted. Here
/// nothing is dropped when it is published: what failed runs whenever it is delivered again, under
/// the same id, and a new event is a new message.
#[tokio::test(start_paused = true)]
async fn nats_5142_a_redo_of_what_failed_runs_and_a_new_event_is_no_repeat() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    assert!(failed(&inbox, &message("1")).await.is_err());
    assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
    assert!(matches!(handled(&inbox, &message("1-again")).await, Ok(Delivery::Handled)));
    // A redo that is wanted under the same id is asked for.
    let respected = semel::core::protocol::AtWork::Respected;
    inbox.forget(message("1").id(), respected).await.unwrap();
    assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
}

/// sbomscanner#281: a scan that was asked for again within the window was dropped as a duplicate
/// of one that had failed and stood in the dead-letter queue.
#[tokio::test(start_paused = true)]
async fn sbomscanner_281_a_message_out_of_the_dead_letter_queue_runs() {
    let (_, once) = faulty();
    let inbox = limited(&once, 3);
    for redrive in 0..3 {
        for _ in 0..2 {
            let failure = failed(&inbox, &message("scan")).await;
            assert!(matches!(failure, Err(InboxError::Failed { .. })), "{redrive}: {failure:?}");
        }
        let poison = failed(&inbox, &message("scan")).await;
        assert_eq!(Disposition::of(&poison), Disposition::DeadLetter, "{redrive}: {poison:?}");
        semel::timer::sleep(secs(1)).await;
    }
    assert!(matches!(handled(&inbox, &message("scan")).await, Ok(Delivery::Handled)));
}

/// R3: the guarantee is the same whichever way a call came in. A message has an identity of its
/// own; work that belongs to a client's key is a call under that key, within the message's work as
/// anywhere else.
#[tokio::test(start_paused = true)]
async fn r3_a_key_that_was_used_by_a_call_holds_within_a_messages_work() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let charge = async |amount: u32| {
        let call = once.call("order-8812").operation("charge");
        call.run(async |_| Ok::<_, Broken>(amount)).await.unwrap()
    };
    assert_eq!(charge(1).await, 1);
    for (id, amount) in [("reserved", 2), ("charged", 3)] {
        let outcome = inbox
            .receive(&message(id))
            .run(async |_| {
                assert_eq!(charge(amount).await, 1, "the call ran before");
                Ok::<_, Broken>(())
            })
            .await;
        assert!(matches!(outcome, Ok(Delivery::Handled)), "{outcome:?}");
        assert!(matches!(not_run(&inbox, &message(id)).await, Ok(Delivery::Duplicate)));
    }
}
