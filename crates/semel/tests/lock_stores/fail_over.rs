//! The primary of a Redis is lost under locks.

use semel::{FileGate, FilePassage, LockError, LockGuard, LockLoss, Locks, TryAcquired};
use semel_testkit::{Cut, Direction, RedisSentinel};

use super::{process, secs};

const TTL: u64 = 10;

/// So that replicas on a busy machine have time to confirm.
fn acked(group: &RedisSentinel) -> String {
    format!("{}?ack=all&ack_timeout=2s&response_timeout=5s", group.url())
}

async fn held(locks: &Locks, resource: &str) -> LockGuard {
    locks.lock(resource).ttl(secs(TTL)).renewed().acquire().await.unwrap()
}

/// Kills the primary as the loss of its host would: nothing that it had sent arrives later.
async fn lose_primary(group: &mut RedisSentinel) -> usize {
    group.links[0].refuse(true);
    group.links[0].sever(Cut::Reset);
    group.nodes[0].kill();
    group.promoted(0).await.unwrap()
}

/// The lock from another's hand, as soon as the new primary answers; none where it is held.
async fn tried(locks: &Locks, resource: &str) -> Option<LockGuard> {
    let answer = async || match locks.try_acquire(resource, secs(TTL)).await {
        Ok(TryAcquired::Acquired(guard)) => Some(Some(guard)),
        Ok(TryAcquired::Held(_)) => Some(None),
        // Nobody is there yet, or none who could confirm.
        Err(_) => None,
    };
    semel_testkit::eventually(secs(30), "an answer of the new primary", answer).await.unwrap()
}

/// RD-8: the write is there and its replica did not confirm it. No handle is given, what was written
/// is taken back, and once replicas confirm again the lock can be had at once.
#[tokio::test(flavor = "multi_thread")]
async fn rd8_what_replicas_do_not_confirm_is_no_lock_and_is_taken_back() {
    let group = RedisSentinel::start(1).await.unwrap();
    let url = format!("{}?ack=all&ack_timeout=300ms", group.url());
    let (ours, theirs) = (process(&url, "ours").await, process(&url, "theirs").await);
    held(&ours, "before").await.release().await.unwrap();
    let direct = process(&group.nodes[0].url(), "looks").await;
    group.links[0].hold(Direction::ToClient);
    for round in 0..3 {
        let error = ours.try_acquire("r", secs(TTL)).await.unwrap_err();
        let is_told = matches!(error, LockError::Indeterminate(_) | LockError::Unavailable(_));
        assert!(is_told, "{round}: {error:?}");
        let gone = async || direct.inspect("r").await.ok()?.is_none().then_some(());
        semel_testkit::eventually(secs(TTL / 2), "an entry that is taken back", gone)
            .await
            .unwrap();
    }
    group.links[0].release(Direction::ToClient);
    group.in_step(0).await.unwrap();
    assert!(tried(&theirs, "r").await.is_some(), "nothing is left of what did not count");
}

/// redis-failover, RD-9: what replicas confirmed is held at the new primary, by the same holder.
#[tokio::test(flavor = "multi_thread")]
async fn redis_failover_rd9_a_confirmed_lock_outlives_its_primary() {
    const LEASE: u64 = 15;
    // Two, so that there is one to confirm what the new primary writes.
    let mut group = RedisSentinel::start(2).await.unwrap();
    let url = format!("{}?ack=1&ack_timeout=2s&response_timeout=5s", group.url());
    let (ours, theirs) = (process(&url, "ours").await, process(&url, "theirs").await);
    let mut guards = Vec::new();
    for resource in ["a", "b", "c"] {
        let lock = ours.lock(resource).ttl(secs(LEASE)).renewed();
        guards.push(lock.acquire().await.unwrap());
    }
    group.in_step(0).await.unwrap();
    for link in &group.links {
        link.refuse(true);
        link.sever(Cut::Reset);
    }
    group.nodes[0].kill();
    let promoted = group.promoted(0).await.unwrap();
    // On a busy machine it would hold the next one to be down as well, and this is about one fail-over.
    let patience = ["SENTINEL", "SET", "semel-test", "down-after-milliseconds", "60000"];
    group.sentinel.command(&patience).await.unwrap();
    // The Sentinel would see to it, but in its own time.
    let port = group.nodes[promoted].address().port().to_string();
    let follow = ["REPLICAOF", "127.0.0.1", &port];
    group.nodes[3 - promoted].command(&follow).await.unwrap();
    for guard in &guards {
        assert!(tried(&theirs, guard.resource()).await.is_none(), "two hold it");
        assert_eq!(guard.loss(), None);
    }
    // A lease later they are renewed there.
    semel::timer::sleep(secs(LEASE)).await;
    for guard in &guards {
        assert_eq!(guard.loss(), None);
        assert!(guard.release().await.unwrap().released());
        let next = tried(&theirs, guard.resource()).await.unwrap();
        assert!(next.fence() > guard.fence());
    }
}

/// F-104, redis-failover: without confirmation a grant is lost with its primary. The next one's fence
/// is higher all the same, and the holder is told before its lease ends.
#[tokio::test(flavor = "multi_thread")]
async fn f104_fences_rise_over_a_fail_over_that_forgets() {
    let mut group = RedisSentinel::start(1).await.unwrap();
    let (ours, theirs) =
        (process(&group.url(), "ours").await, process(&group.url(), "theirs").await);
    group.links[0].hold(Direction::ToClient);
    let guard = held(&ours, "r").await;
    lose_primary(&mut group).await;
    let next = tried(&theirs, "r").await.expect("the control: the grant must have been lost");
    assert!(next.fence() > guard.fence(), "{} must be above {}", next.fence(), guard.fence());
    let told = semel::timer::within(secs(TTL), guard.lost()).await;
    // Whichever it sees: the next holder, nothing at all just before that one came, or the time.
    assert!(
        matches!(told, Some(LockLoss::Taken | LockLoss::StoreReset | LockLoss::Expired)),
        "{told:?}"
    );
    assert!(!next.is_lost());
    assert!(!guard.release().await.unwrap().released());
    assert!(!next.is_lost() && theirs.inspect("r").await.unwrap().is_some());
}

/// F-103, RD-9: the old primary lives on and still serves its holder, while the promoted replica has
/// given the lock to another. Only the resource can tell them apart, and its gate does.
#[tokio::test(flavor = "multi_thread")]
async fn f103_rd9_a_holder_at_the_old_primary_is_refused_by_the_gate() {
    let group = RedisSentinel::start(1).await.unwrap();
    // On the wrong side of the network: it knows no Sentinel.
    let ours = process(&group.nodes[0].url(), "ours").await;
    let theirs = process(&group.url(), "theirs").await;
    // Both are there before the network parts.
    group.links[0].hold(Direction::ToClient);
    let guard = held(&ours, "r").await;
    group.fail_over().await.unwrap();
    let followed = async || match theirs.try_acquire("r", secs(TTL)).await {
        Ok(TryAcquired::Acquired(next)) => Some(next),
        // Not at the new primary yet, or it does not answer.
        Ok(TryAcquired::Held(_)) | Err(_) => None,
    };
    let next = semel_testkit::eventually(secs(TTL - 2), "a second holder", followed).await.unwrap();
    assert_eq!(guard.loss(), None, "the control: the first one does not know");
    let folder = tempfile::tempdir().unwrap();
    let gate = FileGate::new(folder.path().join("gate"));
    let passes = |guard: &LockGuard| match gate.enter(guard.fence()).unwrap() {
        FilePassage::Passed(_) => true,
        FilePassage::Refused { seen } => {
            assert_eq!(seen, next.fence());
            false
        }
    };
    assert!(passes(&guard) && passes(&next));
    assert!(!passes(&guard), "the older one writes over the newer one's work");
}

/// RD-9: what is asked of replicas is said, and what can't be had is refused when the store opens.
#[tokio::test(flavor = "multi_thread")]
async fn rd9_hz1_a_policy_that_can_not_be_kept_is_refused_and_not_weakened() {
    let mut group = RedisSentinel::start(1).await.unwrap();
    let ours = process(&acked(&group), "ours").await;
    let guard = held(&ours, "r").await;
    lose_primary(&mut group).await;
    // The only replica is the primary now: nobody can confirm.
    let refused = async || match ours.try_acquire("other", secs(TTL)).await {
        Ok(tried) => panic!("nobody confirmed it: {tried:?}"),
        Err(error) => {
            let causes = std::error::Error::source(&error).map(ToString::to_string);
            causes.unwrap_or_default().contains("replicas").then_some(())
        }
    };
    semel_testkit::eventually(secs(30), "a refusal that names its cause", refused).await.unwrap();
    // What was held is renewed no more, and its holder is told in time.
    let told = semel::timer::within(secs(TTL), guard.lost()).await;
    let is_told = matches!(told, Some(LockLoss::Expired | LockLoss::RenewalRefused));
    assert!(is_told, "{told:?}");
}
