//! How often a message is tried, and what is poison.

use semel::core::protocol::AtWork;
use semel::inbox::{AttemptLimit, Delivery, Disposition, Inbox, InboxError, InboxSettingError};
use semel::timer::sleep;

use super::support::{
    Broken, Delivered, LEASE, consumer, crashed, failed, faulty, handled, limited, message,
    not_run, secs,
};

/// How often it was tried when it was told to be poison, and whether it is told why.
fn poison<E>(delivered: &Delivered<E>) -> (u32, bool) {
    assert_eq!(Disposition::of(delivered), Disposition::DeadLetter);
    match delivered {
        Ok(Delivery::Poison { attempts, error }) => (*attempts, error.is_some()),
        _ => panic!("no poison"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_fails_every_time_is_poison_at_its_last_attempt() {
    let (_, once) = faulty();
    let inbox = limited(&once, 3);
    for round in 0..2 {
        for attempt in 1..3 {
            let failure = failed(&inbox, &message("1")).await;
            let Err(InboxError::Failed { attempts, .. }) = failure else { panic!("{failure:?}") };
            assert_eq!(attempts, attempt, "in round {round}");
        }
        // Told with the reason, and forgotten with that: what is sent out of a dead-letter queue
        // begins anew.
        assert_eq!(poison(&failed(&inbox, &message("1")).await), (3, true));
    }
    assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
}

/// The process dies each time, so that nobody can say that it failed.
#[tokio::test(start_paused = true)]
async fn a_message_that_kills_its_consumer_every_time_is_poison() {
    let (_, once) = faulty();
    let inbox = limited(&once, 3);
    for _ in 0..3 {
        crashed(&inbox, &message("1")).await;
        assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::Later(_))));
        sleep(LEASE).await;
    }
    assert_eq!(poison(&not_run(&inbox, &message("1")).await), (3, false));
    assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
}

#[tokio::test(start_paused = true)]
async fn crashes_and_failures_count_together_in_any_order() {
    for crashes in 0..16_u32 {
        let (_, once) = faulty();
        let inbox = limited(&once, 5);
        for attempt in 0..4 {
            if crashes & (1 << attempt) == 0 {
                let failure = failed(&inbox, &message("1")).await;
                let Err(InboxError::Failed { attempts, .. }) = failure else {
                    panic!("{crashes:04b}, {attempt}: {failure:?}")
                };
                assert_eq!(attempts, attempt + 1, "{crashes:04b}");
            } else {
                crashed(&inbox, &message("1")).await;
                sleep(LEASE).await;
            }
        }
        assert_eq!(poison(&failed(&inbox, &message("1")).await), (5, true), "{crashes:04b}");
        assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
    }
}

/// Deliveries that were put off are no attempts.
#[tokio::test(start_paused = true)]
async fn what_was_put_off_or_was_a_duplicate_is_not_counted() {
    let (_, once) = faulty();
    let inbox = limited(&once, 2);
    crashed(&inbox, &message("1")).await;
    for _ in 0..10 {
        assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::Later(_))));
    }
    sleep(LEASE).await;
    assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
    for _ in 0..10 {
        assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::Duplicate)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_that_panics_is_poison_in_the_end() {
    let (_, once) = faulty();
    let inbox = limited(&once, 2);
    for _ in 0..2 {
        let inbox = inbox.clone();
        let panicked = tokio::spawn(async move {
            let envelope = message("1");
            let receive = inbox.receive(&envelope);
            receive.run(async |_| -> Result<(), Broken> { panic!("of the work") }).await
        });
        assert!(panicked.await.unwrap_err().is_panic());
    }
    assert_eq!(poison(&not_run(&inbox, &message("1")).await), (2, false));
    assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
}

#[tokio::test(start_paused = true)]
async fn attempts_are_counted_for_each_message_and_each_consumer() {
    let (_, once) = faulty();
    let (billing, limit) = (limited(&once, 2), AttemptLimit::AtMost(2));
    let shipping = Inbox::builder(once.clone(), consumer("shipping")).attempt_limit(limit);
    let shipping = shipping.build().unwrap();
    assert!(failed(&billing, &message("1")).await.is_err());
    assert!(failed(&billing, &message("2")).await.is_err());
    assert!(failed(&shipping, &message("1")).await.is_err());
    assert_eq!(poison(&failed(&billing, &message("1")).await), (2, true));
}

/// All processes count together: what one has counted another one sees.
#[tokio::test(start_paused = true)]
async fn attempts_are_counted_in_the_store() {
    let store = std::sync::Arc::new(super::support::memory());
    for attempt in 1..3 {
        let inbox = limited(&semel::Once::new(store.clone()), 3);
        let failure = failed(&inbox, &message("1")).await;
        assert!(
            matches!(failure, Err(InboxError::Failed { attempts, .. }) if attempts == attempt),
            "{failure:?}"
        );
    }
    let inbox = limited(&semel::Once::new(store), 3);
    assert_eq!(poison(&failed(&inbox, &message("1")).await), (3, true));
}

#[tokio::test(start_paused = true)]
async fn attempts_are_forgotten_after_their_time_or_when_the_message_is() {
    let (_, once) = faulty();
    let inbox = Inbox::builder(once, consumer("billing"))
        .attempt_limit(AttemptLimit::AtMost(2))
        .attempts_time_to_live(secs(100))
        .build()
        .unwrap();
    for _ in 0..3 {
        assert!(failed(&inbox, &message("1")).await.is_err());
        sleep(secs(101)).await;
    }
    for _ in 0..3 {
        assert!(failed(&inbox, &message("2")).await.is_err());
        inbox.forget(message("2").id(), AtWork::Respected).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_nothing_is_counted() {
    let (store, once) = faulty();
    let inbox = Inbox::builder(once, consumer("billing"))
        .attempt_limit(AttemptLimit::Unlimited)
        .build()
        .unwrap();
    for attempt in 0..20 {
        assert!(failed(&inbox, &message("1")).await.is_err());
        assert_eq!(super::support::trips(&store), (2 * (attempt + 1), 0));
    }
}

#[tokio::test(start_paused = true)]
async fn settings_that_make_no_sense_are_refused() {
    let (_, once) = faulty();
    let builder = || Inbox::builder(once.clone(), consumer("billing"));
    let none = builder().attempt_limit(AttemptLimit::AtMost(0)).build().unwrap_err();
    assert_eq!(none, InboxSettingError::NoAttempts);
    let none = builder().attempts_time_to_live(secs(0)).build().unwrap_err();
    assert_eq!(none, InboxSettingError::AttemptsTimeToLive);
    let none = builder().in_flight(semel::InFlight::Wait(secs(0))).build().unwrap_err();
    assert!(matches!(none, InboxSettingError::Policy(_)), "{none:?}");
    let transactional =
        super::support::policy(|policy| policy.guarantee(semel::Guarantee::Transactional));
    let none = builder().policy(transactional).build().unwrap_err();
    assert_eq!(none, InboxSettingError::NoTransactions);
}
