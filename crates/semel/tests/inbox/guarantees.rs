//! Messages under each guarantee that needs no transaction.

use semel::inbox::{Delivery, Disposition, InboxError};
use semel::timer::sleep;
use semel::{Guarantee, OnException};

use super::support::{
    Broken, LEASE, billing, crashed, failed, faulty, handled, message, not_run, policy, with_policy,
};

fn at_most_once(once: &semel::Once) -> semel::inbox::Inbox {
    with_policy(once, policy(|policy| policy.guarantee(Guarantee::AtMostOnce)))
}

#[tokio::test(start_paused = true)]
async fn at_most_once_a_failure_puts_the_message_in_doubt() {
    let (_, once) = faulty();
    let inbox = at_most_once(&once);
    let failure = failed(&inbox, &message("1")).await;
    assert!(matches!(failure, Err(InboxError::Failed { attempts: 1, .. })), "{failure:?}");
    for _ in 0..3 {
        let doubt = not_run(&inbox, &message("1")).await;
        assert!(matches!(doubt, Ok(Delivery::InDoubt { .. })), "{doubt:?}");
        assert_eq!(Disposition::of(&doubt), Disposition::DeadLetter);
    }
}

#[tokio::test(start_paused = true)]
async fn at_most_once_a_crash_puts_the_message_in_doubt_once_its_lease_has_ended() {
    let (_, once) = faulty();
    let inbox = at_most_once(&once);
    crashed(&inbox, &message("1")).await;
    assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::Later(_))));
    sleep(LEASE).await;
    assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::InDoubt { .. })));
    // Somebody looked: it was not done.
    let respected = semel::core::protocol::AtWork::Respected;
    inbox.forget(message("1").id(), respected).await.unwrap();
    assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_what_the_policy_makes_of_it() {
    for (on_exception, expected) in [
        (OnException::Release, "Ok(Handled)"),
        (OnException::Record, "Ok(Duplicate)"),
        (OnException::Doubt, "Ok(Handled)"),
    ] {
        let (_, once) = faulty();
        let inbox = with_policy(&once, policy(|policy| policy.on_exception(on_exception)));
        let panicking = inbox.clone();
        let panicked = tokio::spawn(async move {
            let envelope = message("1");
            let receive = panicking.receive(&envelope);
            receive.run(async |_| -> Result<(), Broken> { panic!("of the work") }).await
        });
        assert!(panicked.await.unwrap_err().is_panic());
        let next = handled(&inbox, &message("1")).await;
        assert_eq!(format!("{next:?}"), expected, "{on_exception:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_takeover_has_a_higher_fence_and_the_same_keys_for_calls_further_down() {
    let (_, once) = faulty();
    let inbox = with_policy(&once, policy(|policy| policy.guarantee(Guarantee::Cooperative)));
    let seen = std::sync::Mutex::new(Vec::new());
    for round in 0..3 {
        let outcome = inbox
            .receive(&message("1"))
            .run(async |permit| {
                seen.lock().unwrap().push((permit.fence(), permit.derive("psp")));
                if round < 2 { Err(Broken) } else { Ok(()) }
            })
            .await;
        assert_eq!(outcome.is_ok(), round == 2);
    }
    let seen = seen.into_inner().unwrap();
    assert!(seen.is_sorted_by(|a, b| a.0 < b.0), "{seen:?}");
    assert!(seen.iter().all(|(_, key)| *key == seen[0].1), "{seen:?}");
}

/// A transaction belongs to a guarantee, and the other way round.
#[tokio::test(start_paused = true)]
async fn work_in_a_transaction_needs_the_guarantee() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let outcome =
        inbox.receive(&message("1")).run_in_transaction(async |_, _| Ok::<_, Broken>(())).await;
    assert!(matches!(outcome, Err(InboxError::WrongGuarantee)), "{outcome:?}");
    assert_eq!(Disposition::of(&outcome), Disposition::PutBack(None));
}
