//! Futures that are dropped: the outcome is unknown, the store is not harmed.

use futures_util::FutureExt;

use super::fixture::Fixture;
use super::support::{LONG, Written, key, lasting, listed, look, pass, present, renew, ticks, win};
use crate::store::{Expect, Next, Touch};

pub(super) async fn a_dropped_swap_was_applied_or_not_and_nothing_between(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("dropped"));
    for round in 0..50_u8 {
        let before = win(&store, &key, Expect::Any, lasting("before")).await;
        let expect = Expect::Version(before.version);
        // Polled once, or never, then dropped.
        let dropped = store.swap(&key, expect, lasting(vec![round; 9]));
        if round % 5 == 0 {
            drop(dropped);
        } else {
            let _ = dropped.now_or_never();
        }
        // Whatever was under way goes its way; then it must be one or the other for good.
        fixture.pass(fixture.abilities().tick / 10).await;
        let there = present(&store, &key).await;
        let applied = there.value == vec![round; 9] && there.version > before.version;
        let not = there.value == "before" && there.version == before.version;
        assert!(applied || not, "half a swap: {there:?} after {before:?}");
    }
}

pub(super) async fn dropped_calls_leave_the_store_working(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("dropped"));
    let first = win(&store, &key, Expect::Absent, lasting("v")).await;
    // Nothing here may still be applied to what is written below.
    let expect = Expect::Version(first.version);
    for _ in 0..200 {
        let _ = store.swap(&key, expect, renew(LONG, LONG)).now_or_never();
        let _ = store.read(&key, Touch::No).now_or_never();
        let _ = store.scan("", None, 10).now_or_never();
        let _ = store.sweep(10).now_or_never();
    }
    pass(fixture, ticks(fixture, 1)).await;
    let gone = win(&store, &key, Expect::Any, Next::Delete).await;
    let anew = Written::put(&store, &key, Expect::Absent, ("anew", LONG, LONG)).await;
    assert!(anew.version > gone.version, "{anew:?} must be above {gone:?}");
    anew.check(&look(&store, &key).await);
    assert_eq!(listed(&store, "", 10).await, ["dropped"], "a listing must work as before");
}
