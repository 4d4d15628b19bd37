//! Release by force, and looking.

use semel::timer::sleep;
use semel::{
    Extended, ForceHow, ForceTarget, Forced, LockKind, LockLoss, Locks, Owner, Reason,
    ReleaseOutcome, StageStatus,
};

use super::support::stopwatch::Stopwatch;
use super::support::{acquired, faulty, is_held, millis, over, released, secs, two, waited};

async fn forced(locks: &Locks, target: ForceTarget, how: ForceHow) -> Forced {
    let who = (&Owner::new("eve"), &Reason::new("it hangs"));
    locks.force_release("r", target, how, who).await.unwrap()
}

fn by_eve(how: ForceHow) -> LockLoss {
    LockLoss::ForceReleased { by: Owner::new("eve"), reason: Reason::new("it hangs"), how }
}

/// HZ-7: the holder learns it at its next renewal; nobody else gets the lock before it has stopped.
#[tokio::test(start_paused = true)]
async fn hz7_a_holder_that_is_forced_learns_by_whom_and_why_and_there_are_never_two() {
    let (_, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(30)).renewed()).await;
    sleep(secs(1)).await;
    let Forced::Forced(holders) = forced(&theirs, ForceTarget::Everybody, ForceHow::Revoke).await
    else {
        panic!("nobody held it");
    };
    assert_eq!(holders[0].owner, Some(Owner::new("ours")));
    assert_eq!(holders[0].fence, Some(guard.fence()));
    assert!(is_held(&theirs.lock("r")).await);
    let began = Stopwatch::started();
    assert_eq!(guard.lost().await, by_eve(ForceHow::Revoke));
    assert!(began.elapsed() <= secs(11), "{:?}", began.elapsed());
    // It is told and has not stopped yet.
    assert!(is_held(&theirs.lock("r")).await);
    assert_eq!(guard.release().await.unwrap(), ReleaseOutcome::Released);
    assert!(!is_held(&theirs.lock("r")).await);
}

/// By the store's hint, and not only when it renews.
#[tokio::test(start_paused = true)]
async fn a_holder_with_a_long_lease_learns_at_once_that_it_was_forced() {
    for held_for in [0, 500, 5_000, 250_000] {
        let (_, ours, theirs) = two();
        let guard = acquired(&ours.lock("r").ttl(secs(300)).renewed()).await;
        sleep(millis(held_for)).await;
        forced(&theirs, ForceTarget::Everybody, ForceHow::Revoke).await;
        let began = Stopwatch::started();
        assert_eq!(guard.lost().await, by_eve(ForceHow::Revoke));
        assert!(began.elapsed() <= millis(2_100), "{held_for}: {:?}", began.elapsed());
    }
}

/// Who is renewed beside those who wait looks once a second, and not at each of their writes.
#[tokio::test(start_paused = true)]
async fn a_holder_does_not_look_at_each_write_of_those_who_wait() {
    let (store, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(300)).renewed()).await;
    let waits = tokio::spawn(async move { waited(&theirs.lock("r"), secs(600)).await });
    sleep(secs(10)).await;
    let before = store.calls(semel::core::StoreOp::Read);
    sleep(secs(10)).await;
    // Its own looks, and those of who waits.
    let looks = store.calls(semel::core::StoreOp::Read) - before;
    assert!(looks <= 40, "{looks}");
    released(&guard).await;
    drop(waits.await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_forced_holder_that_does_not_answer_loses_the_lock_with_its_lease() {
    let (_, ours, theirs) = two();
    std::mem::forget(acquired(&ours.lock("r").ttl(secs(30))).await);
    forced(&theirs, ForceTarget::Everybody, ForceHow::Revoke).await;
    let began = Stopwatch::started();
    drop(waited(&theirs.lock("r"), secs(60)).await);
    assert!(began.elapsed() <= millis(30_100) && began.elapsed() >= secs(30));
}

#[tokio::test(start_paused = true)]
async fn a_holder_that_is_forced_can_not_extend_and_not_be_resumed() {
    let (_, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(30))).await;
    forced(&theirs, ForceTarget::Everybody, ForceHow::Revoke).await;
    assert_eq!(guard.extend(secs(60)).await.unwrap(), Extended::Lost(by_eve(ForceHow::Revoke)));
    assert_eq!(guard.loss(), Some(by_eve(ForceHow::Revoke)));
}

/// For a holder that is known to be dead. If it is not, it is told.
#[tokio::test(start_paused = true)]
async fn a_lock_that_is_forced_at_once_is_free_after_its_delay_and_a_living_holder_is_told() {
    let (_, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(30)).lock_delay(secs(3)).renewed()).await;
    forced(&theirs, ForceTarget::Everybody, ForceHow::AtOnce).await;
    assert!(is_held(&theirs.lock("r")).await);
    sleep(secs(3)).await;
    let next = acquired(&theirs.lock("r").ttl(secs(60))).await;
    assert!(next.fence() > guard.fence());
    assert_eq!(guard.lost().await, by_eve(ForceHow::AtOnce));
    assert_eq!(guard.loss().unwrap().to_string(), "eve released it by force and at once: it hangs");
    let outcome = guard.release().await.unwrap();
    assert!(matches!(outcome, ReleaseOutcome::ForceReleased { .. }), "{outcome:?}");
    assert!(is_held(&ours.lock("r")).await);
    released(&next).await;
}

/// Told to stop first, and then freed at once, with another word: the holder learns the later one.
#[tokio::test(start_paused = true)]
async fn a_holder_that_was_told_to_stop_and_is_then_forced_at_once_is_told_so() {
    let (_, ours, theirs) = two();
    let guard = acquired(&ours.lock("r").ttl(secs(30))).await;
    forced(&theirs, ForceTarget::Everybody, ForceHow::Revoke).await;
    let who = (&Owner::new("mallory"), &Reason::new("it is dead"));
    let target = ForceTarget::Fence(guard.fence());
    theirs.force_release("r", target, ForceHow::AtOnce, who).await.unwrap();
    // Another has it, and gives it back: the note is there all the same.
    released(&acquired(&theirs.lock("r")).await).await;
    let (by, reason) = (Owner::new("mallory"), Reason::new("it is dead"));
    let told = LockLoss::ForceReleased { by, reason, how: ForceHow::AtOnce };
    assert_eq!(guard.extend(secs(60)).await.unwrap(), Extended::Lost(told));
}

/// S-87: only the one that was looked at, and twice is once.
#[tokio::test(start_paused = true)]
async fn a_lock_is_forced_from_the_holder_that_was_meant_and_only_once() {
    let (_, ours, theirs) = two();
    let first = acquired(&ours.lock("r")).await;
    let fence = first.fence();
    released(&first).await;
    let second = acquired(&ours.lock("r").ttl(secs(30)).renewed()).await;
    let target = ForceTarget::Fence(fence);
    assert_eq!(forced(&theirs, target, ForceHow::Revoke).await, Forced::NotHeld);
    assert_eq!(forced(&theirs, target, ForceHow::AtOnce).await, Forced::NotHeld);
    assert!(!second.is_lost());
    let target = ForceTarget::Fence(second.fence());
    let once = forced(&theirs, target, ForceHow::Revoke).await;
    assert_eq!(forced(&theirs, target, ForceHow::Revoke).await, once);
    assert_eq!(
        forced(&theirs, ForceTarget::Everybody, ForceHow::AtOnce).await,
        once_at_once(&once)
    );
    assert!(!is_held(&theirs.lock("r")).await);
}

fn once_at_once(revoked: &Forced) -> Forced {
    let Forced::Forced(holders) = revoked else { panic!("nobody held it") };
    let mut holders = holders.clone();
    for holder in &mut holders {
        holder.stage = StageStatus::Resting;
        holder.left = semel::core::Ttl::ZERO;
        holder.until =
            holder.until.map(|until| until.before(semel::core::Ttl::new(secs(30)).unwrap()));
    }
    Forced::Forced(holders)
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_nobody_holds_can_not_be_forced() {
    let (_, locks) = faulty();
    assert_eq!(forced(&locks, ForceTarget::Everybody, ForceHow::Revoke).await, Forced::NotHeld);
    assert_eq!(forced(&locks, ForceTarget::Everybody, ForceHow::AtOnce).await, Forced::NotHeld);
}

#[tokio::test(start_paused = true)]
async fn operators_see_who_holds_and_who_waits_and_no_token() {
    let (store, ours, theirs) = two();
    assert!(ours.inspect("r").await.unwrap().is_none());
    let guard = acquired(&ours.lock("r").ttl(secs(30))).await;
    let waits = tokio::spawn(async move { waited(&theirs.lock("r"), secs(60)).await });
    sleep(secs(2)).await;
    let looks = over(&store, "looks");
    let status = looks.inspect("r").await.unwrap().unwrap();
    assert_eq!(status.kind, LockKind::Mutex);
    let [holder] = &status.holders[..] else { panic!("{status:?}") };
    assert_eq!(holder.owner, Some(Owner::new("ours")));
    assert_eq!(holder.fence, Some(guard.fence()));
    assert_eq!(holder.left.as_duration(), secs(28));
    assert_eq!(holder.stage, StageStatus::Held);
    let [waiter] = &status.queue[..] else { panic!("{status:?}") };
    assert_eq!(waiter.owner, Some(Owner::new("theirs")));
    let token = guard.token().to_hex();
    assert!(!format!("{status:?} {guard:?}").contains(&token));
    released(&guard).await;
    drop(waits.await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn locks_are_listed_by_prefix_page_by_page() {
    let (store, ours, theirs) = two();
    let mut guards = Vec::new();
    for name in ["jobs:a", "jobs:b", "jobs:c", "mail:a"] {
        guards.push(acquired(&ours.lock(name)).await);
    }
    std::mem::forget(acquired(&ours.lock("jobs:dead").ttl(secs(1))).await);
    sleep(secs(2)).await;
    drop(store);
    let (mut names, mut after) = (Vec::new(), None);
    loop {
        let page = theirs.list("jobs:", after.as_deref(), 2).await.unwrap();
        names.extend(page.locks.iter().map(|lock| lock.resource.to_string()));
        assert!(page.locks.iter().all(|lock| lock.status.is_some()));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(names, ["jobs:a", "jobs:b", "jobs:c"]);
    assert_eq!(theirs.list("", None, 100).await.unwrap().locks.len(), 4);
}
