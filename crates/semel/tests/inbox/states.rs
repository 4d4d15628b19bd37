//! One message, in every state that it can be met in.

use semel::core::protocol::{AtWork, Forgotten};
use semel::inbox::{Delivery, Disposition, InboxError};
use semel::timer::sleep;
use semel::{InFlight, ProblemKind};

use super::support::{
    Broken, LEASE, billing, consumer, crashed, failed, faulty, handled, message, not_run, policy,
    secs, trips, with_policy,
};

#[tokio::test(start_paused = true)]
async fn a_message_is_handled_once_and_every_repeat_is_acknowledged() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let first = handled(&inbox, &message("1")).await;
    assert!(matches!(first, Ok(Delivery::Handled)), "{first:?}");
    for _ in 0..3 {
        let repeat = not_run(&inbox, &message("1")).await;
        assert!(matches!(repeat, Ok(Delivery::Duplicate)), "{repeat:?}");
        assert_eq!(Disposition::of(&repeat), Disposition::Acknowledge);
    }
    assert!(matches!(handled(&inbox, &message("2")).await, Ok(Delivery::Handled)));
}

#[tokio::test(start_paused = true)]
async fn a_first_delivery_costs_two_round_trips_where_it_is_known_to_be_one() {
    use semel::inbox::Redelivery;
    let (store, once) = faulty();
    let inbox = billing(&once);
    let first = message("1").with_redelivery(Redelivery::No);
    assert!(matches!(handled(&inbox, &first).await, Ok(Delivery::Handled)));
    assert_eq!(trips(&store), (2, 0));
    assert!(matches!(handled(&inbox, &message("2")).await, Ok(Delivery::Handled)));
    assert_eq!(trips(&store), (4, 1), "else there is a look at the count");
}

#[tokio::test(start_paused = true)]
async fn two_consumers_of_one_message_handle_it_once_each() {
    let (_, once) = faulty();
    let shipping = semel::inbox::Inbox::new(once.clone(), consumer("shipping")).unwrap();
    for inbox in [billing(&once), shipping] {
        assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
        assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::Duplicate)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_in_flight_is_put_off_by_what_is_left_of_the_lease() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let outcome = inbox
        .receive(&message("1"))
        .run(async |_| {
            sleep(secs(15)).await;
            let repeat = not_run(&inbox, &message("1")).await;
            let Ok(Delivery::Later(after)) = repeat else { panic!("{repeat:?}") };
            assert!(after > secs(40) && after <= LEASE, "{after:?}");
            assert_eq!(Disposition::of(&repeat), Disposition::PutBack(Some(after)));
            Ok::<_, Broken>(())
        })
        .await;
    assert!(matches!(outcome, Ok(Delivery::Handled)), "{outcome:?}");
    assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::Duplicate)));
}

#[tokio::test(start_paused = true)]
async fn where_it_waits_for_work_in_flight_the_repeat_is_acknowledged_at_once() {
    let (_, once) = faulty();
    let inbox = semel::inbox::Inbox::builder(once, consumer("billing"))
        .in_flight(InFlight::Wait(secs(10)))
        .build()
        .unwrap();
    let envelope = message("1");
    let slow = inbox.receive(&envelope).run(async |_| {
        sleep(secs(5)).await;
        Ok::<_, Broken>(())
    });
    let (slow, repeat) = tokio::join!(slow, async {
        sleep(secs(1)).await;
        not_run(&inbox, &message("1")).await
    });
    assert!(matches!(slow, Ok(Delivery::Handled)), "{slow:?}");
    assert!(matches!(repeat, Ok(Delivery::Duplicate)), "{repeat:?}");
}

#[tokio::test(start_paused = true)]
async fn after_a_crash_a_message_is_put_off_until_the_lease_ends_and_then_runs() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    crashed(&inbox, &message("1")).await;
    let repeat = not_run(&inbox, &message("1")).await;
    let Ok(Delivery::Later(after)) = repeat else { panic!("{repeat:?}") };
    assert!(after > secs(59) && after <= LEASE, "{after:?}");
    sleep(after).await;
    assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
}

#[tokio::test(start_paused = true)]
async fn work_that_failed_leaves_no_mark_and_the_next_delivery_runs() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let failure = failed(&inbox, &message("1")).await;
    let Err(InboxError::Failed { error: Broken, attempts: 1 }) = failure else {
        panic!("{failure:?}")
    };
    assert_eq!(Disposition::of(&failure), Disposition::PutBack(None));
    assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
    assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::Duplicate)));
}

#[tokio::test(start_paused = true)]
async fn another_payload_under_a_used_identity_is_refused_and_says_so() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let (ours, theirs) = (message("1").with_payload(b"10"), message("1").with_payload(b"1000"));
    // What failed is forgotten, its payload too: a sender may mend it.
    assert!(failed(&inbox, &theirs).await.is_err());
    assert!(matches!(handled(&inbox, &ours).await, Ok(Delivery::Handled)));
    let refused = not_run(&inbox, &theirs).await;
    assert_eq!(Disposition::of(&refused), Disposition::DeadLetter);
    let Ok(Delivery::Refused(problem)) = refused else { panic!("{refused:?}") };
    let ProblemKind::PayloadMismatch { differs } = problem.kind() else { panic!("{problem}") };
    assert_eq!(differs.iter().map(|part| &**part).collect::<Vec<_>>(), ["body"]);
    assert!(matches!(not_run(&inbox, &ours).await, Ok(Delivery::Duplicate)));
    // Without a payload there is nothing to compare.
    assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::Duplicate)));
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_forgotten_runs_again() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let envelope = message("1");
    assert!(matches!(handled(&inbox, &envelope).await, Ok(Delivery::Handled)));
    for _ in 0..2 {
        let forgotten = inbox.forget(envelope.id(), AtWork::Respected).await.unwrap();
        assert_eq!(forgotten, Forgotten::Forgotten);
    }
    assert!(matches!(handled(&inbox, &envelope).await, Ok(Delivery::Handled)));
    assert!(matches!(not_run(&inbox, &envelope).await, Ok(Delivery::Duplicate)));
}

#[tokio::test(start_paused = true)]
async fn a_message_at_work_is_forgotten_only_where_that_is_wanted() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let envelope = message("1");
    crashed(&inbox, &envelope).await;
    let kept = inbox.forget(envelope.id(), AtWork::Respected).await.unwrap();
    assert!(matches!(kept, Forgotten::StillHeld { .. }), "{kept:?}");
    assert!(matches!(not_run(&inbox, &envelope).await, Ok(Delivery::Later(_))));
    let forgotten = inbox.forget(envelope.id(), AtWork::Overridden).await.unwrap();
    assert_eq!(forgotten, Forgotten::Forgotten);
    assert!(matches!(handled(&inbox, &envelope).await, Ok(Delivery::Handled)));
}

#[tokio::test(start_paused = true)]
async fn a_handled_message_is_remembered_as_long_as_the_policy_says() {
    let (_, once) = faulty();
    let inbox = with_policy(&once, policy(|policy| policy.time_to_live(secs(3_600))));
    assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
    sleep(secs(3_599)).await;
    assert!(matches!(not_run(&inbox, &message("1")).await, Ok(Delivery::Duplicate)));
    sleep(secs(2)).await;
    assert!(matches!(handled(&inbox, &message("1")).await, Ok(Delivery::Handled)));
}
