//! Handing a lock on, and taking it up again.

use semel::timer::sleep;
use semel::{LockLoss, LockTicket, Resumed, Token};

use super::support::{acquired, is_held, released, secs, two};

/// CO-9, RS-9.
#[tokio::test(start_paused = true)]
async fn co9_rs9_a_lock_is_taken_up_again_by_its_ticket() {
    let (_, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(10)).renewed()).await;
    let fence = guard.fence();
    sleep(secs(30)).await;
    let ticket = guard.detach();
    assert_eq!(ours.renewed(), 0);
    sleep(secs(5)).await;
    assert!(is_held(&theirs.lock("r")).await, "it was handed on, not released");
    let Resumed::Resumed(again) =
        theirs.resume(&ticket).ttl(secs(20)).renewed().resume().await.unwrap()
    else {
        panic!("lost");
    };
    assert_eq!((again.fence(), again.resource()), (fence, "r"));
    sleep(secs(60)).await;
    assert!(!again.is_lost());
    released(&again).await;
    assert!(!is_held(&ours.lock("r")).await);
}

#[tokio::test(start_paused = true)]
async fn a_ticket_of_a_lock_that_is_over_takes_up_nothing() {
    let (_, ours, theirs) = two();
    let ticket = acquired(&ours.lock("r").ttl(secs(10))).await.detach();
    sleep(secs(11)).await;
    let next = acquired(&theirs.lock("r")).await;
    let resumed = ours.resume(&ticket).resume().await.unwrap();
    assert!(matches!(resumed, Resumed::Lost(LockLoss::Taken)), "{resumed:?}");
    released(&next).await;
    sleep(secs(60)).await;
    let resumed = ours.resume(&ticket).resume().await.unwrap();
    assert!(matches!(resumed, Resumed::Lost(LockLoss::Expired)), "{resumed:?}");
}

/// What other processes are handed is text; a token that is none takes up nothing.
#[tokio::test(start_paused = true)]
async fn a_ticket_survives_its_way_through_text() {
    let (_, ours, _) = two();
    let guard = acquired(&ours.lock("r")).await;
    let (token, fence) = (guard.token().to_hex(), guard.fence().to_string());
    let ticket = LockTicket::new("r", Token::from_hex(&token).unwrap(), fence.parse().unwrap());
    assert_eq!(ticket, guard.ticket());
    assert!(!format!("{ticket:?} {ticket}").contains(&token));
    assert!(Token::from_hex("a").is_none());
    // A token of which another is a prefix is another token.
    let other = LockTicket::new("r", Token::from_bytes([7; 16]), guard.fence());
    assert!(matches!(ours.resume(&other).resume().await.unwrap(), Resumed::Lost(LockLoss::Taken)));
}
