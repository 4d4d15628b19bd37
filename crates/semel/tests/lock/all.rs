//! Several locks at once.

use semel::timer::sleep;
use semel::{LockError, LockLoss, LockSettingError};

use super::support::{acquired, faulty, is_held, millis, released, secs, two, until};

#[tokio::test(start_paused = true)]
async fn several_locks_are_got_together_and_released_together() {
    let (_, ours, theirs) = two();
    let set = ours.acquire_all(["b", "a", "b", "c"], secs(10)).await.unwrap();
    let names: Vec<&str> = set.guards().iter().map(semel::LockGuard::resource).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert!(set.get("b").is_some() && set.get("d").is_none());
    for name in names {
        assert!(is_held(&theirs.lock(name)).await);
    }
    for outcome in set.release().await {
        assert!(outcome.unwrap().released());
    }
    assert!(!is_held(&theirs.lock("a")).await);
}

#[tokio::test(start_paused = true)]
async fn if_one_is_held_none_is_got() {
    let (_, ours, theirs) = two();
    let guard = acquired(&theirs.lock("b")).await;
    let error = ours.acquire_all(["a", "b", "c"], secs(600)).await.unwrap_err();
    let LockError::Held(by) = &error else { panic!("{error:?}") };
    assert_eq!(&*by.resource, "b");
    until("given back", || ours.pending() == 0).await;
    assert!(!is_held(&theirs.lock("a")).await && !is_held(&theirs.lock("c")).await);
    released(&guard).await;
    let none: [&str; 0] = [];
    assert!(matches!(
        ours.acquire_all(none, secs(1)).await.unwrap_err(),
        LockError::Setting(LockSettingError::NoResource)
    ));
}

/// In whatever order they are named.
#[tokio::test(start_paused = true)]
async fn two_callers_that_want_the_same_can_not_deadlock() {
    let (_, ours, theirs) = two();
    let run = |locks: semel::Locks, names: [&'static str; 2]| async move {
        for _ in 0..20 {
            let set = locks.all(names).ttl(secs(5)).wait(secs(60)).acquire().await.unwrap();
            sleep(millis(30)).await;
            for outcome in set.release().await {
                assert!(outcome.unwrap().released());
            }
        }
    };
    tokio::join!(run(ours, ["a", "b"]), run(theirs, ["b", "a"]));
}

/// The first of them does not lapse while one waits for the others; then it has the terms that
/// were asked for.
#[tokio::test(start_paused = true)]
async fn those_that_were_got_are_held_while_one_waits_for_the_others() {
    let (_, ours, theirs) = two();
    let guard = acquired(&theirs.lock("b").ttl(secs(600))).await;
    let waits = tokio::spawn(async move {
        let set = ours.all(["a", "b"]).ttl(secs(3)).wait(secs(100)).acquire().await.unwrap();
        assert!(set.guards().iter().all(|guard| guard.remaining() > millis(2_900)));
        assert_eq!(ours.renewed(), 0);
        assert_eq!(set.lost().await, LockLoss::Expired);
    });
    sleep(secs(50)).await;
    assert!(is_held(&theirs.lock("a")).await);
    released(&guard).await;
    waits.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_set_that_is_renewed_stays() {
    let (_, locks) = faulty();
    let set = locks.all(["a", "b"]).ttl(secs(3)).renewed().acquire().await.unwrap();
    sleep(secs(100)).await;
    assert!(set.guards().iter().all(|guard| !guard.is_lost()));
}
