//! Semaphores and read-write locks.

use semel::timer::sleep;
use semel::{LockError, LockKind, LockLoss, Permits, TryAcquired};

use super::support::{
    acquired, faulty, is_held, millis, over, polled, released, secs, two, waited,
};

fn permits(number: usize) -> Permits {
    Permits::new(number).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_semaphore_has_as_many_holders_as_permits_each_with_a_lease_of_its_own() {
    let (_, ours, theirs) = two();
    let lock = |locks: &semel::Locks, ttl| locks.semaphore("s", permits(3)).ttl(secs(ttl));
    let first = acquired(&lock(&ours, 10)).await;
    sleep(secs(1)).await;
    let second = acquired(&lock(&theirs, 20)).await;
    let third = acquired(&lock(&ours, 30)).await;
    assert!(is_held(&lock(&theirs, 10)).await);
    assert!(first.fence() < second.fence() && second.fence() < third.fence());
    // The first ends at ten, whatever the others do.
    assert_eq!(first.lost().await, LockLoss::Expired);
    sleep(millis(200)).await;
    let fourth = acquired(&lock(&theirs, 10)).await;
    assert!(is_held(&lock(&ours, 10)).await);
    released(&second).await;
    released(&third).await;
    released(&fourth).await;
    assert!(ours.inspect("s").await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn permits_are_renewed_each_on_its_own() {
    let (_, ours, theirs) = two();
    let renewed = acquired(&ours.semaphore("s", permits(2)).ttl(secs(6)).renewed()).await;
    let other = acquired(&theirs.semaphore("s", permits(2)).ttl(secs(6)).renewed()).await;
    sleep(secs(100)).await;
    assert!(!renewed.is_lost() && !other.is_lost());
    assert!(is_held(&ours.semaphore("s", permits(2))).await);
    std::mem::forget(other.detach());
    sleep(secs(7)).await;
    assert!(!is_held(&ours.semaphore("s", permits(2))).await);
    assert!(!renewed.is_lost());
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_permit_gets_the_next_in_order() {
    let (store, ours) = faulty();
    let lock = ours.semaphore("s", permits(2)).ttl(secs(600));
    let (first, second) = (acquired(&lock).await, acquired(&lock).await);
    let [a, b] = ["a", "b"].map(|name| {
        let lock = over(&store, name).semaphore("s", permits(2)).ttl(secs(600));
        tokio::spawn(async move { waited(&lock, secs(600)).await })
    });
    sleep(secs(1)).await;
    released(&first).await;
    released(&second).await;
    let (a, b) = (a.await.unwrap(), b.await.unwrap());
    assert_ne!(a.fence(), b.fence());
    assert!(is_held(&lock).await);
}

#[tokio::test(start_paused = true)]
async fn readers_share_and_writers_do_not() {
    let (_, ours, theirs) = two();
    let (one, two) = (acquired(&ours.read("d")).await, acquired(&theirs.read("d")).await);
    assert!(is_held(&ours.write("d")).await);
    released(&one).await;
    released(&two).await;
    let writer = acquired(&ours.write("d")).await;
    assert!(is_held(&theirs.read("d")).await && is_held(&theirs.write("d")).await);
    released(&writer).await;
    assert!(!is_held(&theirs.read("d")).await);
}

/// A writer is not starved: readers that come after it wait, also those that only try.
#[tokio::test(start_paused = true)]
async fn readers_that_come_while_a_writer_waits_come_after_it() {
    let (store, ours, theirs) = two();
    let reader = acquired(&ours.read("d").ttl(secs(600))).await;
    let writer =
        tokio::spawn(async move { waited(&theirs.write("d").ttl(secs(600)), secs(60)).await });
    sleep(secs(1)).await;
    let late = over(&store, "late");
    assert!(is_held(&late.read("d")).await);
    let lock = late.read("d");
    let waits = tokio::spawn(async move { waited(&lock, secs(60)).await });
    sleep(secs(5)).await;
    assert!(!writer.is_finished() && !waits.is_finished());
    released(&reader).await;
    let writer = writer.await.unwrap();
    sleep(secs(5)).await;
    assert!(!waits.is_finished());
    released(&writer).await;
    drop(waits.await.unwrap());
}

/// RD-12: nobody renews what a dead reader holds.
#[tokio::test(start_paused = true)]
async fn rd12_a_reader_that_died_blocks_a_writer_for_its_own_lease_only() {
    let (store, ours, theirs) = two();
    std::mem::forget(acquired(&ours.read("d").ttl(secs(10))).await);
    let lives = acquired(&theirs.read("d").ttl(secs(10)).renewed()).await;
    sleep(secs(11)).await;
    released(&lives).await;
    let writer = over(&store, "writer");
    assert!(!is_held(&writer.write("d")).await);
}

#[tokio::test(start_paused = true)]
async fn a_resource_is_locked_as_one_kind_at_a_time() {
    let (_, ours, theirs) = two();
    let mutex = acquired(&ours.lock("r")).await;
    let error = theirs.read("r").try_acquire().await.unwrap_err();
    assert!(matches!(error, LockError::OtherKind { recorded: LockKind::Mutex }), "{error:?}");
    assert!(error.problem().is_none());
    released(&mutex).await;
    let reader = acquired(&theirs.read("r")).await;
    let error = ours.lock("r").acquire_within(secs(5)).await.unwrap_err();
    assert!(matches!(error, LockError::OtherKind { recorded: LockKind::ReadWrite }), "{error:?}");
    released(&reader).await;
}

#[tokio::test(start_paused = true)]
async fn a_number_of_permits_can_be_changed_while_they_are_held() {
    let (_, ours, theirs) = two();
    let old = acquired(&ours.semaphore("s", permits(1))).await;
    assert!(is_held(&theirs.semaphore("s", permits(1))).await);
    let new = acquired(&theirs.semaphore("s", permits(2))).await;
    assert!(matches!(
        ours.semaphore("s", permits(2)).try_acquire().await.unwrap(),
        TryAcquired::Held(_)
    ));
    released(&old).await;
    released(&new).await;
    assert!(polled(1, ours.semaphore("s", permits(1)).acquire()).await.is_some());
}
