//! Consumers that come back after their claim was lost.

use semel::inbox::{Delivery, Inbox, InboxError};
use semel::timer::sleep;

use super::support::{
    Broken, Delivered, LEASE, faulty, handled, message, not_run, policy, secs, with_policy,
};

/// A consumer whose lease has ended in the middle of its work, what happens meanwhile, and how its
/// work ends then.
async fn late(
    inbox: &Inbox,
    meanwhile: impl AsyncFnOnce(),
    end: Result<(), Broken>,
) -> Delivered<Broken> {
    inbox
        .receive(&message("1"))
        .run(async |_| {
            sleep(LEASE).await;
            meanwhile().await;
            end
        })
        .await
}

fn unrenewed() -> Inbox {
    let (_, once) = faulty();
    with_policy(&once, policy(|policy| policy.max_execution(LEASE)))
}

/// A3-Z1: the late success changes nothing, and is acknowledged as the duplicate that it is.
#[tokio::test(start_paused = true)]
async fn a3_z1_a_late_success_is_a_duplicate() {
    let inbox = unrenewed();
    let successor = async || {
        assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
    };
    let outcome = late(&inbox, successor, Ok(())).await;
    assert!(matches!(outcome, Ok(Delivery::Duplicate)), "{outcome:?}");
    assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::Duplicate)));
}

/// A3-Z2: the late failure frees nothing, counts nothing, and the message does not run again.
#[tokio::test(start_paused = true)]
async fn a3_z2_a_late_failure_is_a_duplicate_and_nobody_runs_a_third_time() {
    let inbox = unrenewed();
    let successor = async || {
        assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
    };
    let outcome = late(&inbox, successor, Err(Broken)).await;
    assert!(matches!(outcome, Ok(Delivery::Duplicate)), "{outcome:?}");
    assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::Duplicate)));
}

/// The successor is at work still: its end decides, so the late one waits for it.
#[tokio::test(start_paused = true)]
async fn a_late_owner_is_put_off_while_its_successor_works() {
    for end in [Ok(()), Err(Broken)] {
        let inbox = unrenewed();
        let other = inbox.clone();
        let mut successor = None;
        let outcome = late(
            &inbox,
            async || {
                successor = Some(tokio::spawn(async move {
                    other
                        .receive(&message("1"))
                        .run(async |_| {
                            sleep(secs(30)).await;
                            Ok::<_, Broken>(())
                        })
                        .await
                }));
                sleep(secs(10)).await;
            },
            end,
        )
        .await;
        assert!(matches!(outcome, Ok(Delivery::Later(_))), "{end:?}: {outcome:?}");
        let successor = successor.unwrap().await.unwrap();
        assert!(matches!(successor, Ok(Delivery::Handled)), "{successor:?}");
        assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::Duplicate)));
    }
}

/// Nobody took over: a late end is as good as one in time.
#[tokio::test(start_paused = true)]
async fn a_late_owner_that_nobody_took_over_from_is_not_late() {
    let inbox = unrenewed();
    let outcome = late(&inbox, async || (), Ok(())).await;
    assert!(matches!(outcome, Ok(Delivery::Handled)), "{outcome:?}");
    let inbox = unrenewed();
    let outcome = late(&inbox, async || (), Err(Broken)).await;
    assert!(matches!(outcome, Err(InboxError::Failed { attempts: 1, .. })), "{outcome:?}");
    assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
}

/// The successor failed and left nothing: what the late one did is done, what it failed at is not.
#[tokio::test(start_paused = true)]
async fn a_late_owner_whose_successor_failed_is_taken_at_its_word() {
    for end in [Ok(()), Err(Broken)] {
        let inbox = unrenewed();
        let successor = async || {
            let failure = super::support::failed(&inbox, &message("1")).await;
            assert!(matches!(failure, Err(InboxError::Failed { attempts: 2, .. })), "{failure:?}");
        };
        let outcome = late(&inbox, successor, end).await;
        match end {
            Ok(()) => assert!(matches!(outcome, Ok(Delivery::Handled)), "{outcome:?}"),
            Err(_) => assert!(matches!(outcome, Err(InboxError::Failed { .. })), "{outcome:?}"),
        }
    }
}
