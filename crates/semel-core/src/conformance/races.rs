//! Many tasks on one key: a swap is one step, whoever else is there.

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;

use futures_util::future::{join, join_all};
use parking_lot::Mutex;

use super::fixture::Fixture;
use super::support::{
    Handle, LONG, LONGER, assert_absent, key, lasting, look, pass, present, put, read, renew, swap,
    ticks, win, yield_now,
};
use crate::key::Key;
use crate::store::{Expect, Next, Stamp, Swap, Touch, Version};

const TASKS: u8 = 64;

/// Runs one future for each number at the same time, and gives their results in that order.
async fn all_at_once<T, F>(fixture: &dyn Fixture, tasks: u8, work: impl Fn(u8) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let results = Arc::new(Mutex::new(Vec::new()));
    let running = (0..tasks).map(|task| {
        let (work, results) = (work(task), Arc::clone(&results));
        fixture.spawn(Box::pin(async move {
            let result = work.await;
            results.lock().push((task, result));
        }))
    });
    let running: Vec<_> = running.collect();
    join_all(running).await;
    let mut results = std::mem::take(&mut *results.lock());
    results.sort_by_key(|(task, _)| *task);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The same swap from every task, each through one of the handles.
async fn race(
    fixture: &dyn Fixture,
    handles: &[Handle],
    key: &Key,
    asked: impl Fn(u8) -> (Expect, Next),
) -> Vec<Swap> {
    all_at_once(fixture, TASKS, |task| {
        let store = Arc::clone(&handles[usize::from(task) % handles.len()]);
        let (key, (expect, next)) = (key.clone(), asked(task));
        async move { swap(&store, &key, expect, next).await }
    })
    .await
}

/// The one winner, by the number of its task.
fn only_winner(swaps: &[Swap]) -> (u8, Stamp) {
    let winners = (0_u8..).zip(swaps).filter_map(|(task, swap)| match swap {
        Swap::Won(stamp) => Some((task, *stamp)),
        Swap::Lost(_) => None,
    });
    let winners: Vec<_> = winners.collect();
    assert_eq!(winners.len(), 1, "exactly one must win: {winners:?}");
    winners[0]
}

/// Asserts that one put won and that all who lost were shown what the winner wrote.
fn assert_one_wrote(swaps: &[Swap]) -> (u8, Stamp) {
    let (winner, stamp) = only_winner(swaps);
    for swap in swaps {
        let Swap::Lost(there) = swap else { continue };
        let entry = there.entry.as_ref().expect("who lost must see the winner's entry");
        assert_eq!(entry.value, vec![winner], "who lost must see the winner's value");
        assert_eq!(entry.version, stamp.version, "who lost must see the winner's version");
    }
    (winner, stamp)
}

fn claim(task: u8) -> (Expect, Next) {
    (Expect::Absent, lasting(vec![task]))
}

// ===== one winner =====

pub(super) async fn of_64_claims_one_wins_and_the_others_see_its_value(fixture: &dyn Fixture) {
    let store = fixture.store();
    for round in 0..5 {
        let key = key(&format!("race:{round}"));
        let swaps = race(fixture, &[Arc::clone(&store)], &key, claim).await;
        let (winner, stamp) = assert_one_wrote(&swaps);
        let there = present(&store, &key).await;
        assert_eq!((there.value[..].to_vec(), there.version), (vec![winner], stamp.version));
    }
}

pub(super) async fn of_64_claims_through_two_handles_one_wins(fixture: &dyn Fixture) {
    let handles = [fixture.store(), fixture.second_handle().await];
    for round in 0..5 {
        let key = key(&format!("race:{round}"));
        let swaps = race(fixture, &handles, &key, claim).await;
        let (winner, _) = assert_one_wrote(&swaps);
        for handle in &handles {
            assert_eq!(present(handle, &key).await.value, vec![winner], "both see one entry");
        }
    }
}

pub(super) async fn of_64_deletes_one_wins(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("race"));
    let first = win(&store, &key, Expect::Absent, lasting("v")).await;
    let delete = |_| (Expect::Version(first.version), Next::Delete);
    only_winner(&race(fixture, &[Arc::clone(&store)], &key, delete).await);
    win(&store, &key, Expect::Absent, lasting("v")).await;
    let delete = |_| (Expect::Any, Next::Delete);
    only_winner(&race(fixture, &[Arc::clone(&store)], &key, delete).await);
    assert_absent(&store, &key).await;
}

pub(super) async fn of_64_takeovers_of_a_lapsed_lease_one_wins(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("race"));
    let lease = ticks(fixture, 1);
    let first = win(&store, &key, Expect::Absent, put("v", lease, LONG)).await;
    pass(fixture, lease).await;
    let takeover = |task| (Expect::Version(first.version), lasting(vec![task]));
    let swaps = race(fixture, &[Arc::clone(&store)], &key, takeover).await;
    let (_, stamp) = assert_one_wrote(&swaps);
    assert!(stamp.version > first.version, "{stamp:?} must be above {first:?}");
}

pub(super) async fn of_64_claims_of_an_expired_entry_one_wins(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("race"));
    let keep = ticks(fixture, 1);
    let first = win(&store, &key, Expect::Absent, put("v", keep, keep)).await;
    // The race begins before the entry ends and goes on until somebody has won it.
    let (ending, clock) = (key.clone(), fixture.pass(keep.as_duration()));
    let claims = all_at_once(fixture, TASKS, |task| {
        let (store, key) = (fixture.store(), ending.clone());
        async move {
            loop {
                match swap(&store, &key, Expect::Absent, lasting(vec![task])).await {
                    Swap::Lost(there) if there.entry.as_ref().is_some_and(|e| e.value == "v") => {
                        yield_now().await;
                    }
                    decided => return decided,
                }
            }
        }
    });
    let (swaps, ()) = join(claims, clock).await;
    let (_, stamp) = assert_one_wrote(&swaps);
    let expired = stamp.now.since(first.now) >= keep.as_duration();
    assert!(expired, "nobody may claim before the entry has ended: {stamp:?} after {first:?}");
}

// ===== no update lost =====

pub(super) async fn of_64_increments_none_is_lost(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("race"));
    win(&store, &key, Expect::Absent, lasting(vec![0])).await;
    all_at_once(fixture, TASKS, |_| increment(fixture.store(), key.clone())).await;
    assert_eq!(present(&store, &key).await.value, vec![TASKS], "each increment must count once");
}

async fn increment(store: Handle, key: Key) {
    let mut seen = present(&store, &key).await;
    loop {
        let next = lasting(vec![seen.value[0] + 1]);
        match swap(&store, &key, Expect::Version(seen.version), next).await {
            Swap::Won(_) => return,
            Swap::Lost(there) => seen = there.entry.expect("nobody deletes it"),
        }
    }
}

pub(super) async fn unconditional_puts_all_win_with_different_versions(fixture: &dyn Fixture) {
    let handles = [fixture.store(), fixture.second_handle().await];
    let key = key("race");
    let swaps = race(fixture, &handles, &key, |task| (Expect::Any, lasting(vec![task]))).await;
    let mut versions = Vec::new();
    for swap in &swaps {
        let Swap::Won(stamp) = swap else { panic!("a put that expects anything lost: {swap:?}") };
        versions.push(stamp.version);
    }
    let different: HashSet<&Version> = versions.iter().collect();
    assert_eq!(different.len(), versions.len(), "no version may be given twice");
    let there = present(&handles[0], &key).await;
    let last = versions.iter().zip(0_u8..).max().expect("64 of them");
    let seen = (&there.version, there.value[0]);
    assert_eq!(seen, last, "the highest version must be the one that stays");
}

// ===== two that exclude each other =====

/// Races two swaps of one version many times; exactly one may win each time.
async fn exclude_each_other(fixture: &dyn Fixture, first: Next, second: Next) {
    let store = fixture.store();
    for round in 0..30 {
        let key = key(&format!("duel:{round}"));
        let stamp = win(&store, &key, Expect::Absent, lasting("v")).await;
        let expect = Expect::Version(stamp.version);
        let asked = [first.clone(), second.clone()];
        let swaps = all_at_once(fixture, 2, |task| {
            let (store, key) = (fixture.store(), key.clone());
            let next = asked[usize::from(task)].clone();
            async move { swap(&store, &key, expect, next).await }
        })
        .await;
        only_winner(&swaps);
    }
}

pub(super) async fn a_put_and_a_delete_of_one_version_never_both_win(fixture: &dyn Fixture) {
    exclude_each_other(fixture, lasting("w"), Next::Delete).await;
}

pub(super) async fn a_renewal_and_a_takeover_of_one_version_never_both_win(fixture: &dyn Fixture) {
    exclude_each_other(fixture, renew(LONG, LONG), lasting("mine")).await;
}

// ===== readers beside writers =====

pub(super) async fn reads_never_see_half_a_write(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("race"));
    win(&store, &key, Expect::Absent, lasting(vec![0; 4096])).await;
    all_at_once(fixture, 8, |task| {
        let (store, key) = (fixture.store(), key.clone());
        async move {
            match task % 2 {
                0 => write_blocks(store, key, task / 2).await,
                _ => read_blocks(store, key).await,
            }
        }
    })
    .await;
}

async fn write_blocks(store: Handle, key: Key, task: u8) {
    for round in 0..25 {
        let fill = task * 25 + round;
        win(&store, &key, Expect::Any, lasting(vec![fill; 4096 - usize::from(fill)])).await;
    }
}

async fn read_blocks(store: Handle, key: Key) {
    let mut last = Version::new(0);
    for _ in 0..100 {
        let there = present(&store, &key).await;
        let fill = there.value[0];
        let whole = there.value.iter().all(|byte| *byte == fill);
        let len = there.value.len();
        assert!(whole && len == 4096 - usize::from(fill), "two writes in one value of {len}");
        assert!(there.version >= last, "{:?} was read after {last:?}", there.version);
        last = there.version;
    }
}

pub(super) async fn touches_beside_swaps_never_bring_an_old_entry_back(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("race"));
    win(&store, &key, Expect::Absent, lasting(vec![0])).await;
    all_at_once(fixture, 8, |task| {
        let (store, key) = (fixture.store(), key.clone());
        async move {
            if task == 0 {
                for round in 1..=50 {
                    win(&store, &key, Expect::Any, put(vec![round], LONG, LONGER)).await;
                }
                return;
            }
            let mut last = 0;
            for _ in 0..50 {
                let seen = read(&store, &key, Touch::Lease(LONG)).await;
                let value = seen.entry.expect("nobody deletes it").value[0];
                assert!(value >= last, "{value} was read after {last}");
                last = value;
            }
        }
    })
    .await;
    assert_eq!(look(&store, &key).await.entry.map(|e| e.value[0]), Some(50), "the last put stays");
}
