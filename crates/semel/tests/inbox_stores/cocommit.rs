//! Work in the transaction of its record.

use std::num::NonZeroUsize;
use std::time::Duration;

use semel::inbox::{Delivery, Disposition, Inbox, InboxError};
use semel::timer::{sleep, within};
use semel::{NotCommitted, TransactionHandle};

use super::ledger::write;
use super::{Broken, Place, message};

type Delivered = Result<Delivery<Broken>, InboxError<Broken>>;

pub(crate) async fn handled(inbox: &Inbox, id: &str) -> Delivered {
    let work = async |_, transaction| write(id, &transaction).await;
    inbox.receive(&message(id)).run_in_transaction(work).await
}

pub(crate) async fn failed(inbox: &Inbox, id: &str) -> Delivered {
    let work = async |_, transaction: TransactionHandle| {
        write(id, &transaction).await?;
        Err(Broken)
    };
    inbox.receive(&message(id)).run_in_transaction(work).await
}

/// A consumer that is cut off after it wrote.
pub(crate) async fn crashed(inbox: &Inbox, id: &str) {
    let (wrote, written) = tokio::sync::oneshot::channel();
    let envelope = message(id);
    let work = async |_, transaction: TransactionHandle| {
        write(id, &transaction).await?;
        wrote.send(()).unwrap();
        std::future::pending::<Result<(), Broken>>().await
    };
    tokio::select! {
        ended = inbox.receive(&envelope).run_in_transaction(work) => panic!("{ended:?}"),
        written = written => written.unwrap(),
    }
}

async fn rows_and_record_are_there_together_or_not_at_all(place: Place) {
    place.make_ledger().await;
    let inbox = place.transactional().await;
    assert!(matches!(failed(&inbox, "1").await, Err(InboxError::Failed { attempts: 1, .. })));
    assert_eq!(place.rows("1").await, 0, "what failed is taken back");
    assert!(matches!(handled(&inbox, "1").await, Ok(Delivery::Handled)));
    assert_eq!(place.rows("1").await, 1);
    let other = place.transactional().await;
    for inbox in [&inbox, &other] {
        let repeat = failed(inbox, "1").await;
        assert!(matches!(repeat, Ok(Delivery::Duplicate)), "{repeat:?}");
    }
    assert_eq!(place.rows("1").await, 1);
}

/// A consumer that dies leaves no lease: the next delivery runs at once.
async fn after_a_crash_the_next_delivery_runs_at_once(place: Place) {
    place.make_ledger().await;
    let (ours, theirs) = (place.transactional().await, place.transactional().await);
    for crashes in 0..2 {
        crashed(&ours, "1").await;
        assert_eq!(place.rows("1").await, 0, "{crashes}");
    }
    let next = until_not_put_off(&theirs, "1").await;
    assert!(matches!(next, Ok(Delivery::Handled)), "{next:?}");
    assert_eq!(place.rows("1").await, 1);
}

/// The server may take a moment to notice that a connection is gone.
pub(crate) async fn until_not_put_off(inbox: &Inbox, id: &str) -> Delivered {
    for _ in 0..1_000 {
        match handled(inbox, id).await {
            Ok(Delivery::Later(after)) => sleep(after).await,
            other => return other,
        }
    }
    panic!("it is put off for ever");
}

/// Another transaction is at it: nobody waits for that with a connection, and nobody runs.
async fn a_message_in_another_transaction_is_put_off(place: Place) {
    place.make_ledger().await;
    let (ours, theirs) = (place.transactional().await, place.transactional().await);
    let envelope = message("1");
    let work = async |_, transaction: TransactionHandle| {
        write("1", &transaction).await?;
        // In this process it takes no look at the store at all to know.
        let repeat = handled(&ours, "1").await;
        assert!(!matches!(repeat, Ok(Delivery::Handled | Delivery::Duplicate)), "{repeat:?}");
        assert_ne!(Disposition::of(&repeat), Disposition::Acknowledge);
        let other = within(Duration::from_secs(60), handled(&theirs, "1")).await.unwrap();
        assert!(!matches!(other, Ok(Delivery::Handled | Delivery::Duplicate)), "{other:?}");
        assert_ne!(Disposition::of(&other), Disposition::Acknowledge);
        Ok::<_, Broken>(())
    };
    let outcome = ours.receive(&envelope).run_in_transaction(work).await;
    assert!(matches!(outcome, Ok(Delivery::Handled)), "{outcome:?}");
    assert!(matches!(handled(&theirs, "1").await, Ok(Delivery::Duplicate)));
    assert_eq!(place.rows("1").await, 1);
}

/// Work that hands its transaction to somebody who still has it: it may be about to write.
async fn what_was_not_committed_is_put_back_and_runs_again(place: Place) {
    place.make_ledger().await;
    let inbox = place.transactional().await;
    let mut kept = None;
    let envelope = message("1");
    let work = async |_, transaction: TransactionHandle| {
        write("1", &transaction).await?;
        kept = Some(match transaction.get::<semel_sqlite::Tx>() {
            Some(tx) => TransactionHandle::new(tx.clone()),
            None => TransactionHandle::new(transaction.get::<semel_postgres::Tx>().cloned()),
        });
        Ok::<_, Broken>(())
    };
    let outcome = inbox.receive(&envelope).run_in_transaction(work).await;
    let Err(InboxError::NotCommitted(NotCommitted::HandleKept)) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(Disposition::of(&outcome), Disposition::PutBack(None));
    drop(kept);
    assert_eq!(place.rows("1").await, 0);
    let next = until_not_put_off(&inbox, "1").await;
    assert!(matches!(next, Ok(Delivery::Handled)), "{next:?}");
    assert_eq!(place.rows("1").await, 1);
}

/// Each message of a batch has a transaction of its own.
async fn a_message_that_fails_takes_back_no_rows_of_others(place: Place) {
    place.make_ledger().await;
    let inbox = place.transactional().await;
    for at_once in [1, 3] {
        let ids = ["a", "b", "c"].map(|id| format!("{id}{at_once}"));
        let batch = inbox.receive_batch(ids.iter().map(|id| (message(id), id.clone())));
        let outcomes = batch
            .at_once(NonZeroUsize::new(at_once).unwrap())
            .run_each_in_transaction(async |id: String, _, transaction: TransactionHandle| {
                write(&id, &transaction).await?;
                if id.starts_with('b') { Err(Broken) } else { Ok(()) }
            })
            .await;
        let [Ok(Delivery::Handled), Err(InboxError::Failed { .. }), Ok(Delivery::Handled)] =
            outcomes[..]
        else {
            panic!("{outcomes:?}")
        };
        let mut rows = Vec::new();
        for id in &ids {
            rows.push(place.rows(id).await);
        }
        assert_eq!(rows, [1, 0, 1]);
    }
}

/// A guarantee without a transaction, and a transaction without the guarantee: neither runs.
async fn work_without_its_transaction_does_not_run(place: Place) {
    place.make_ledger().await;
    let inbox = place.transactional().await;
    let outcome = inbox.receive(&message("1")).run(async |_| Ok::<_, Broken>(())).await;
    assert!(matches!(outcome, Err(InboxError::WrongGuarantee)), "{outcome:?}");
    let batch = inbox.receive_batch([(message("1"), ())]);
    let outcomes = batch.run_each(async |(), _| Ok::<_, Broken>(())).await;
    assert!(matches!(outcomes[..], [Err(InboxError::WrongGuarantee)]), "{outcomes:?}");
    let outcome = place.unrenewed().await;
    let outcome = handled(&outcome, "1").await;
    assert!(matches!(outcome, Err(InboxError::WrongGuarantee)), "{outcome:?}");
    assert_eq!(place.rows("1").await, 0);
}

macro_rules! on_every_database {
    ($($case:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                super::$case(super::Place::sqlite()).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                super::$case(super::Place::postgres().await).await;
            })+
        }
    };
}

pub(crate) use on_every_database;

on_every_database! {
    rows_and_record_are_there_together_or_not_at_all,
    after_a_crash_the_next_delivery_runs_at_once,
    a_message_in_another_transaction_is_put_off,
    what_was_not_committed_is_put_back_and_runs_again,
    a_message_that_fails_takes_back_no_rows_of_others,
    work_without_its_transaction_does_not_run,
}
