//! How often a message is tried where a crash leaves nothing behind.

use semel::TransactionHandle;
use semel::inbox::{Delivery, Disposition, Inbox, InboxError, Redelivery};

use super::cocommit::{crashed, failed, handled, on_every_database, until_not_put_off};
use super::ledger::write;
use super::{Broken, Place, message};

/// The transaction of a consumer that was cut off is gone once nobody else meets it.
async fn crashed_and_gone(inbox: &Inbox, place: &Place, id: &str) {
    crashed(inbox, id).await;
    assert_eq!(place.rows(id).await, 0);
}

async fn crashes_and_failures_are_counted_together(place: Place) {
    place.make_ledger().await;
    let (ours, theirs) = (place.transactional().await, place.transactional().await);
    for crashes in 0..4_u32 {
        let id = format!("m{crashes}");
        for attempt in 0..2 {
            if crashes & (1 << attempt) == 0 {
                let failure = failed(&theirs, &id).await;
                let Err(InboxError::Failed { attempts, .. }) = failure else {
                    panic!("{crashes:02b}, {attempt}: {failure:?}")
                };
                assert_eq!(attempts, attempt + 1, "{crashes:02b}");
            } else {
                crashed_and_gone(&theirs, &place, &id).await;
            }
        }
        let last = failed(&theirs, &id).await;
        let Ok(Delivery::Poison { attempts: 3, error: Some(Broken) }) = last else {
            panic!("{crashes:02b}: {last:?}")
        };
        // Nothing of it is left: what comes out of a dead-letter queue runs.
        assert!(matches!(handled(&ours, &id).await, Ok(Delivery::Handled)), "{crashes:02b}");
        assert_eq!(place.rows(&id).await, 1);
    }
}

/// Nobody can say why it failed, and the next one is not to die of it.
async fn a_message_that_kills_its_consumer_every_time_is_poison(place: Place) {
    place.make_ledger().await;
    let inbox = place.transactional().await;
    for _ in 0..3 {
        crashed_and_gone(&inbox, &place, "1").await;
    }
    let outcome = until_not_put_off(&inbox, "1").await;
    let Ok(Delivery::Poison { attempts: 3, error: None }) = outcome else { panic!("{outcome:?}") };
    assert_eq!(Disposition::of(&outcome), Disposition::DeadLetter);
    assert!(matches!(handled(&inbox, "1").await, Ok(Delivery::Handled)));
    assert_eq!(place.rows("1").await, 1);
}

/// Deliveries that were put off are no attempts, however many come while one is at work.
async fn what_was_put_off_is_not_counted(place: Place) {
    place.make_ledger().await;
    let inbox = place.transactional().await;
    let envelope = message("1");
    let work = async |_, transaction: TransactionHandle| {
        write("1", &transaction).await?;
        for _ in 0..5 {
            let repeat = handled(&inbox, "1").await;
            assert!(!matches!(repeat, Ok(Delivery::Poison { .. })), "{repeat:?}");
        }
        Err(Broken)
    };
    let outcome = inbox.receive(&envelope).run_in_transaction(work).await;
    let Err(InboxError::Failed { attempts: 1, .. }) = outcome else { panic!("{outcome:?}") };
    let second = failed(&inbox, "1").await;
    let Err(InboxError::Failed { attempts: 2, .. }) = second else { panic!("{second:?}") };
    assert!(matches!(handled(&inbox, "1").await, Ok(Delivery::Handled)));
}

/// What is known to be a first delivery is counted when it fails, not before.
async fn a_first_delivery_is_counted_when_it_has_failed(place: Place) {
    place.make_ledger().await;
    let inbox = place.transactional().await;
    let first = message("1").with_redelivery(Redelivery::No);
    let work = async |_, transaction: TransactionHandle| {
        write("1", &transaction).await?;
        Err(Broken)
    };
    let outcome = inbox.receive(&first).run_in_transaction(work).await;
    let Err(InboxError::Failed { attempts: 1, .. }) = outcome else { panic!("{outcome:?}") };
    let second = failed(&inbox, "1").await;
    let Err(InboxError::Failed { attempts: 2, .. }) = second else { panic!("{second:?}") };
    let last = failed(&inbox, "1").await;
    let Ok(Delivery::Poison { attempts: 3, .. }) = last else { panic!("{last:?}") };
    assert_eq!(place.rows("1").await, 0);
}

on_every_database! {
    crashes_and_failures_are_counted_together,
    a_message_that_kills_its_consumer_every_time_is_poison,
    what_was_put_off_is_not_counted,
    a_first_delivery_is_counted_when_it_has_failed,
}
