//! Wake-ups: in time where the store can give them, and never the truth.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;

use super::fixture::{Fixture, HintReach};
use super::support::{Handle, LONG, key, lasting, look, present, renew, win};
use super::watchdog::within;
use crate::key::Key;
use crate::store::{Expect, Hint, Next};

/// How long a hint may take where hints are declared to come.
const HINT_LIMIT: Duration = Duration::from_secs(60);

/// Asserts that a change through the handle that gave the hint woke it, where hints come at all.
async fn assert_woken(fixture: &dyn Fixture, hint: Hint, what: &str) {
    if fixture.abilities().hints == HintReach::Nobody {
        assert_eq!(hint.now_or_never(), None, "{what}: hints were declared to reach nobody");
    } else {
        within(HINT_LIMIT, what, hint).await;
    }
}

async fn change_wakes(fixture: &dyn Fixture, next: Next, what: &str) {
    let (store, key) = (fixture.store(), key("hint"));
    win(&store, &key, Expect::Absent, lasting("v")).await;
    let hint = store.changed(&key);
    win(&store, &key, Expect::Any, next).await;
    assert_woken(fixture, hint, what).await;
}

pub(super) async fn a_put_wakes_who_waits(fixture: &dyn Fixture) {
    let (store, absent) = (fixture.store(), key("hint:absent"));
    let hint = store.changed(&absent);
    win(&store, &absent, Expect::Absent, lasting("v")).await;
    assert_woken(fixture, hint, "the hint for a put on an absent key").await;
    change_wakes(fixture, lasting("w"), "the hint for a put over an entry").await;
}

pub(super) async fn a_renewal_wakes_who_waits(fixture: &dyn Fixture) {
    change_wakes(fixture, renew(LONG, LONG), "the hint for a renewal").await;
}

pub(super) async fn a_delete_wakes_who_waits(fixture: &dyn Fixture) {
    change_wakes(fixture, Next::Delete, "the hint for a delete").await;
}

pub(super) async fn a_hint_remembers_a_change_from_before_its_first_poll(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("hint"));
    for round in 0..50_u8 {
        let hint = store.changed(&key);
        let (store, changed) = (fixture.store(), key.clone());
        // The change is over, and its task gone, before anybody polls the hint.
        let change = fixture.spawn(Box::pin(async move {
            win(&store, &changed, Expect::Any, lasting(vec![round])).await;
        }));
        change.await;
        assert_woken(fixture, hint, "the hint for a change before the first poll").await;
    }
}

pub(super) async fn a_change_wakes_all_who_wait(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("hint"));
    let hints: Vec<Hint> = (0..100).map(|_| store.changed(&key)).collect();
    win(&store, &key, Expect::Absent, lasting("v")).await;
    let woken = hints.into_iter().map(|hint| assert_woken(fixture, hint, "one of 100 hints"));
    join_all(woken).await;
}

pub(super) async fn a_waiter_that_reads_again_after_each_hint_sees_every_end(
    fixture: &dyn Fixture,
) {
    const ROUNDS: u8 = 50;
    let (store, key) = (fixture.store(), key("hint"));
    let (writer, written) = (fixture.store(), key.clone());
    let writing = fixture.spawn(Box::pin(async move {
        for round in 1..=ROUNDS {
            win(&writer, &written, Expect::Any, lasting(vec![round])).await;
        }
    }));
    wait_for(fixture, &store, &key, &[ROUNDS]).await;
    writing.await;
}

/// Waits as an engine does: a hint first, then a read, and only then the wait.
async fn wait_for(fixture: &dyn Fixture, store: &Handle, key: &Key, value: &[u8]) {
    loop {
        let hint = store.changed(key);
        if look(store, key).await.entry.is_some_and(|entry| entry.value == value) {
            return;
        }
        if fixture.abilities().hints == HintReach::Nobody {
            fixture.pass(fixture.abilities().tick).await;
        } else {
            within(HINT_LIMIT, "a hint for one of 50 changes", hint).await;
        }
    }
}

pub(super) async fn a_change_through_another_handle_reaches_as_far_as_declared(
    fixture: &dyn Fixture,
) {
    let (store, key) = (fixture.store(), key("hint"));
    let other = fixture.second_handle().await;
    let hint = store.changed(&key);
    win(&other, &key, Expect::Absent, lasting("v")).await;
    match fixture.abilities().hints {
        HintReach::AnyHandle => {
            within(HINT_LIMIT, "the hint for a change through another handle", hint).await;
        }
        HintReach::SameHandle | HintReach::Nobody => {
            fixture.pass(fixture.abilities().tick).await;
            assert_eq!(hint.now_or_never(), None, "hints were declared not to reach so far");
        }
    }
    // Hint or not, the change is there to be read.
    assert_eq!(present(&store, &key).await.value, "v", "the change must be seen at once");
}

pub(super) async fn hints_that_are_dropped_leave_nothing_behind(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("hint"));
    for round in 0..1_000 {
        let mut hint = store.changed(&key);
        // Some were polled, most never were.
        if round % 4 == 0 {
            let _ = (&mut hint).now_or_never();
        }
    }
    let hint = store.changed(&key);
    win(&store, &key, Expect::Absent, lasting("v")).await;
    assert_woken(fixture, hint, "the hint after a thousand that were dropped").await;
}
