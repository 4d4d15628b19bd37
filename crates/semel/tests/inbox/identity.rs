//! What tells messages apart, and what does not.

use semel::inbox::{Consumer, Delivery, Envelope, Inbox, MessageId};
use semel::{KeyStorage, Once};

use super::support::{billing, faulty, handled, not_run, policy, with_policy};

async fn is_fresh(inbox: &Inbox, id: &MessageId) -> bool {
    let delivered = handled(inbox, &Envelope::from(id.clone())).await;
    match delivered {
        Ok(Delivery::Handled) => true,
        Ok(Delivery::Duplicate) => false,
        other => panic!("{other:?}"),
    }
}

fn engines() -> [(Once, Inbox); 2] {
    let digests = policy(|policy| policy.key_storage(KeyStorage::digest([7; 32])));
    let (plain, digested) = (faulty().1, faulty().1);
    [(plain.clone(), billing(&plain)), (digested.clone(), with_policy(&digested, digests))]
}

/// Of all pairs that could be taken for each other no two are.
#[tokio::test(start_paused = true)]
async fn no_two_identities_share_a_record_however_they_are_spelled_or_long() {
    let long = "x".repeat(5_000);
    let texts = ["a", "b", "a:b", "a%3Ab", ":", "-", "%2D", "a b", "é", "\n", &long, "A"];
    for (_, inbox) in engines() {
        for source in texts {
            for id in texts {
                let id = MessageId::new(source, id).unwrap();
                assert!(is_fresh(&inbox, &id).await, "{source} {}", id.id());
                assert!(!is_fresh(&inbox, &id).await, "{source} {}", id.id());
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_in_the_store_can_be_read_where_it_is_short_and_not_secret() {
    let [(_, plain), (_, digested)] = engines();
    let id = MessageId::new("https://shop/orders", "A-1").unwrap();
    assert_eq!(plain.key(&id).unwrap().as_str(), "inbox:billing:https%3A//shop/orders:A-1");
    let key = digested.key(&id).unwrap();
    assert!(key.as_str().starts_with("inbox:billing:") && !key.as_str().contains("shop"), "{key}");
    let long = MessageId::new("s".repeat(300), "i".repeat(300)).unwrap();
    assert_eq!(plain.key(&long).unwrap().as_str().len(), "inbox:billing:".len() + 64);
    // The longest name that needs the most room.
    let consumer = Consumer::new(":".repeat(128)).unwrap();
    let inbox = Inbox::new(faulty().1, consumer).unwrap();
    assert!(is_fresh(&inbox, &long).await && !is_fresh(&inbox, &long).await);
}

/// A call publishes several messages, and its idempotency key travels in the baggage of each.
/// Taken for their identity, it would make all but one of them duplicates.
#[tokio::test(start_paused = true)]
async fn a_key_in_a_messages_baggage_is_not_its_identity() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let baggage = ("baggage", "xihan.idempotency-key=order-8812");
    let event = |id| {
        let headers = [("ce-source", "/shop"), baggage, ("ce-id", id), ("idempotency-key", "k")];
        MessageId::from_cloudevent(headers).unwrap()
    };
    assert!(is_fresh(&inbox, &event("reserved")).await);
    assert!(is_fresh(&inbox, &event("charged")).await);
    // The same event again is a duplicate, whatever its baggage says now.
    let other =
        [("ce-source", "/shop"), ("ce-id", "charged"), ("baggage", "xihan.idempotency-key=x")];
    assert!(!is_fresh(&inbox, &MessageId::from_cloudevent(other).unwrap()).await);
    // And the key itself was used for nothing: a call under it runs.
    let call = once.call("order-8812").run(async |_| Ok::<_, ()>(7)).await;
    assert_eq!(call.unwrap(), 7);
}

/// A key that a client sends can't be made to meet a message, nor the other way round.
#[tokio::test(start_paused = true)]
async fn a_call_and_a_message_never_share_a_record() {
    let (_, once) = faulty();
    let inbox = billing(&once);
    let id = MessageId::new("-", "k").unwrap();
    assert!(is_fresh(&inbox, &id).await);
    let key = inbox.key(&id).unwrap();
    for client_key in ["k", key.as_str(), "billing:-:k"] {
        let ran = once.call(client_key).operation("billing").run(async |_| Ok::<_, ()>(1)).await;
        assert_eq!(ran.unwrap(), 1, "{client_key}");
    }
    assert!(matches!(not_run(&inbox, &Envelope::new(id)).await, Ok(Delivery::Duplicate)));
}
