//! What holds on every store.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use semel::inbox::{Delivery, Inbox, InboxError};
use semel::timer::{sleep, within};

use super::{Broken, Place, message};

type Delivered = Result<Delivery<Broken>, InboxError<Broken>>;

/// Delivers a message until it is not put off any more, as a broker would.
async fn delivered(inbox: &Inbox, id: &str, end: Result<(), Broken>) -> Delivered {
    loop {
        match inbox.receive(&message(id)).run(async |_| end).await {
            Ok(Delivery::Later(after)) => sleep(after).await,
            other => return other,
        }
    }
}

/// A consumer that is late: its lease ends while it works, and another does the work meanwhile.
async fn late(ours: &Inbox, theirs: &Inbox, end: Result<(), Broken>) -> Delivered {
    ours.receive(&message("1"))
        .run(async |permit| {
            let successor = delivered(theirs, "1", Ok(())).await;
            assert!(matches!(successor, Ok(Delivery::Handled)), "{successor:?}");
            assert!(permit.remaining().is_zero(), "it has to know");
            end
        })
        .await
}

/// A3-Z1 and A3-Z2: whatever the late one comes to, it changes nothing, is a duplicate, and nobody
/// runs a third time.
async fn a_late_owner_changes_nothing(place: Place) {
    let (ours, theirs) = (place.unrenewed().await, place.unrenewed().await);
    for end in [Ok(()), Err(Broken)] {
        let outcome = late(&ours, &theirs, end).await;
        assert!(matches!(outcome, Ok(Delivery::Duplicate)), "{end:?}: {outcome:?}");
        for inbox in [&ours, &theirs] {
            let repeat = delivered(inbox, "1", Err(Broken)).await;
            assert!(matches!(repeat, Ok(Delivery::Duplicate)), "{end:?}: {repeat:?}");
        }
        let respected = semel::core::protocol::AtWork::Respected;
        ours.forget(message("1").id(), respected).await.unwrap();
    }
}

/// D1 for messages: two processes, fifty copies, one run.
async fn many_copies_at_once_run_once(place: Place) {
    let inboxes = [place.unrenewed().await, place.unrenewed().await];
    let runs = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for copy in 0..50 {
        let (inbox, runs) = (inboxes[copy % 2].clone(), Arc::clone(&runs));
        tasks.push(tokio::spawn(async move {
            let envelope = message("1");
            loop {
                let work = async |_| {
                    runs.fetch_add(1, Ordering::SeqCst);
                    Ok::<_, Broken>(())
                };
                match inbox.receive(&envelope).run(work).await {
                    Ok(Delivery::Later(after)) => sleep(after / 10).await,
                    other => return other,
                }
            }
        }));
    }
    let mut handled = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(Delivery::Handled) => handled += 1,
            Ok(Delivery::Duplicate) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((handled, runs.load(Ordering::SeqCst)), (1, 1));
}

/// Crashes and failures are counted by all processes together; poison leaves nothing behind.
async fn attempts_are_counted_over_crashes_and_processes(place: Place) {
    let (ours, theirs) = (place.unrenewed().await, place.unrenewed().await);
    for round in 0..2 {
        let envelope = message("1");
        let stuck = ours.receive(&envelope).run(async |_| {
            sleep(super::LEASE / 10).await;
            std::future::pending::<Result<(), Broken>>().await
        });
        assert!(within(super::LEASE / 2, stuck).await.is_none());
        let second = delivered(&theirs, "1", Err(Broken)).await;
        let Err(InboxError::Failed { attempts: 2, .. }) = second else {
            panic!("{round}: {second:?}")
        };
        let third = delivered(&ours, "1", Err(Broken)).await;
        let Ok(Delivery::Poison { attempts: 3, error: Some(Broken) }) = third else {
            panic!("{round}: {third:?}")
        };
    }
    let redriven = delivered(&theirs, "1", Ok(())).await;
    assert!(matches!(redriven, Ok(Delivery::Handled)), "{redriven:?}");
}

macro_rules! on_every_store {
    ($($case:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                super::$case(super::Place::sqlite()).await;
            })+
        }
        mod redis {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                super::$case(super::Place::redis().await).await;
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

on_every_store! {
    a_late_owner_changes_nothing,
    many_copies_at_once_run_once,
    attempts_are_counted_over_crashes_and_processes,
}
