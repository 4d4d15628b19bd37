//! The table of waiters that stores build their hints from.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use semel_core::{Hints, Key};

fn key(text: &str) -> Key {
    Key::new(text).unwrap()
}

#[test]
fn a_notification_wakes_all_who_wait_for_its_key_and_nobody_else() {
    let hints = Hints::new();
    let mut first = hints.wait(&key("a"));
    let mut second = hints.wait(&key("a"));
    let mut other = hints.wait(&key("b"));
    for hint in [&mut first, &mut second, &mut other] {
        assert_eq!(hint.now_or_never(), None, "nothing has happened yet");
    }
    hints.notify(&key("a"));
    assert_eq!(first.now_or_never(), Some(()));
    assert_eq!(second.now_or_never(), Some(()));
    assert_eq!(other.now_or_never(), None);
}

#[test]
fn a_notification_before_the_first_poll_is_kept() {
    let hints = Hints::new();
    let hint = hints.wait(&key("a"));
    hints.notify(&key("a"));
    assert_eq!(hint.now_or_never(), Some(()));
}

#[test]
fn a_notification_before_the_hint_is_not_for_it() {
    let hints = Hints::new();
    let earlier = hints.wait(&key("a"));
    hints.notify(&key("a"));
    let mut later = hints.wait(&key("a"));
    assert_eq!((&mut later).now_or_never(), None);
    // Dropped unread, the earlier one takes nothing away from those who still wait.
    drop(earlier);
    hints.notify(&key("a"));
    assert_eq!(later.now_or_never(), Some(()));
}

#[test]
fn all_can_be_woken_where_keys_are_not_known() {
    let hints = Hints::new();
    let waiting = ["a", "b", "c"].map(|text| hints.wait(&key(text)));
    hints.notify_all();
    for hint in waiting {
        assert_eq!(hint.now_or_never(), Some(()));
    }
}

#[test]
fn nobody_is_left_in_the_table_however_a_hint_ends() {
    let hints = Hints::new();
    let fired = hints.wait(&key("a"));
    let mut polled = hints.wait(&key("a"));
    let never_polled = hints.wait(&key("b"));
    assert_eq!(hints.waiting(), 3);
    assert_eq!((&mut polled).now_or_never(), None);
    drop(polled);
    hints.notify(&key("a"));
    assert_eq!(fired.now_or_never(), Some(()));
    assert_eq!(hints.waiting(), 1);
    drop(never_polled);
    assert_eq!(hints.waiting(), 0);
}

#[test]
fn ten_thousand_waiters_on_one_key_are_all_woken() {
    let hints = Hints::new();
    let mut waiting: Vec<_> = (0..10_000).map(|_| hints.wait(&key("a"))).collect();
    assert!(waiting.iter_mut().all(|hint| hint.now_or_never().is_none()));
    // Some leave before.
    waiting.truncate(9_000);
    hints.notify(&key("a"));
    for hint in waiting {
        assert_eq!(hint.now_or_never(), Some(()));
    }
    assert_eq!(hints.waiting(), 0);
}

#[test]
fn a_hint_outlives_the_handle_it_came_from() {
    let hints = Hints::new();
    let other = hints.clone();
    let hint = hints.wait(&key("a"));
    drop(hints);
    other.notify(&key("a"));
    assert_eq!(hint.now_or_never(), Some(()));
}

/// The order that makes hints safe: register, look, wait; against: change, notify.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_registers_looks_and_then_waits_never_sleeps_through_a_change() {
    let hints = Hints::new();
    for round in 0..2_000 {
        let changed = Arc::new(AtomicBool::new(false));
        let (hints_there, there) = (hints.clone(), Arc::clone(&changed));
        let change = tokio::spawn(async move {
            there.store(true, Ordering::SeqCst);
            hints_there.notify(&key("a"));
        });
        // A waiter that slept through it would sleep for ever.
        loop {
            let hint = hints.wait(&key("a"));
            if changed.load(Ordering::SeqCst) {
                break;
            }
            hint.await;
        }
        change.await.unwrap_or_else(|error| panic!("round {round}: {error}"));
    }
    assert_eq!(hints.waiting(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn waiters_that_come_and_go_on_many_threads_leave_the_table_empty() {
    let hints = Hints::new();
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let hints = hints.clone();
            tokio::spawn(async move {
                for round in 0..1_000 {
                    let key = key(&format!("k{}", (task + round) % 5));
                    let mut hint = hints.wait(&key);
                    let woken_by_another = (&mut hint).now_or_never().is_some();
                    hints.notify(&key);
                    if !woken_by_another {
                        hint.await;
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(hints.waiting(), 0);
}
