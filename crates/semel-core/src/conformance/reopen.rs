//! Closing a store and opening it again.

use super::fixture::{Fixture, Reopen};
use super::support::{
    Handle, LONG, LONGER, Written, assert_absent, key, lasting, listed, look, lose, pass, put,
    ticks, win,
};
use crate::store::{Expect, Next};

pub(super) async fn entries_outlive_a_reopening_as_declared(fixture: &dyn Fixture) {
    let first = Written::put(&fixture.store(), &key("r:1"), Expect::Any, ("v", LONG, LONGER)).await;
    let second = Written::put(&fixture.store(), &key("r:2"), Expect::Any, ("", LONG, LONG)).await;
    match fixture.reopen().await {
        Reopen::Durable(store) => {
            first.check(&look(&store, &key("r:1")).await);
            second.check(&lose(&store, &key("r:2"), Expect::Absent, lasting("w")).await);
            win(&store, &key("r:1"), Expect::Version(first.version), lasting("w")).await;
        }
        Reopen::Volatile(store) => {
            assert_absent(&store, &key("r:1")).await;
            assert_eq!(listed(&store, "", 5).await, Vec::<String>::new(), "all must be gone");
            let stale = Expect::Version(first.version);
            let there = lose(&store, &key("r:1"), stale, lasting("w")).await;
            assert_eq!(there.entry, None, "an owner from before must find nothing");
        }
    }
}

pub(super) async fn versions_rise_through_a_reopening(fixture: &dyn Fixture) {
    let key = key("reopened");
    let mut last = win(&fixture.store(), &key, Expect::Any, lasting("v")).await;
    for _ in 0..20 {
        last = win(&fixture.store(), &key, Expect::Any, lasting("v")).await;
    }
    last = win(&fixture.store(), &key, Expect::Version(last.version), Next::Delete).await;
    // Beyond what the counter ran ahead of the clock: a store that forgot all has only the clock.
    pass(fixture, ticks(fixture, 1)).await;
    let store = reopened(fixture).await;
    let again = win(&store, &key, Expect::Absent, lasting("w")).await;
    assert!(again.version > last.version, "{again:?} must be above {last:?}");
    assert!(again.now >= last.now, "the store's clock went back: {again:?} after {last:?}");
}

pub(super) async fn deletes_and_ends_outlive_a_reopening(fixture: &dyn Fixture) {
    let (deleted, ended) = (key("r:deleted"), key("r:ended"));
    let keep = ticks(fixture, 1);
    win(&fixture.store(), &deleted, Expect::Absent, lasting("v")).await;
    win(&fixture.store(), &deleted, Expect::Any, Next::Delete).await;
    win(&fixture.store(), &ended, Expect::Absent, put("v", keep, keep)).await;
    pass(fixture, keep).await;
    let store = reopened(fixture).await;
    assert_absent(&store, &deleted).await;
    assert_absent(&store, &ended).await;
    win(&store, &deleted, Expect::Absent, lasting("w")).await;
    win(&store, &ended, Expect::Absent, lasting("w")).await;
}

async fn reopened(fixture: &dyn Fixture) -> Handle {
    match fixture.reopen().await {
        Reopen::Durable(store) | Reopen::Volatile(store) => store,
    }
}
