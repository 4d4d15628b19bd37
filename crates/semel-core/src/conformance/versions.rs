//! Versions always rise, and none is used twice.

use std::collections::HashSet;

use super::fixture::Fixture;
use super::support::{LONG, Written, assert_absent, key, lasting, pass, put, renew, ticks, win};
use crate::store::{Expect, Next, Version};

pub(super) async fn each_won_swap_raises_the_version(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("version"));
    let mut last = Version::new(0);
    // More swaps than a clock has microseconds in that time, or would have if it stood still.
    for round in 0..20 {
        for next in [lasting(vec![round]), renew(LONG, LONG), Next::Delete] {
            let stamp = win(&store, &key, Expect::Any, next.clone()).await;
            assert!(stamp.version > last, "{:?} after {last:?} with {next:?}", stamp.version);
            last = stamp.version;
        }
    }
}

pub(super) async fn a_version_is_at_least_the_stores_clock(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("version"));
    for _ in 0..3 {
        for next in [lasting("v"), renew(LONG, LONG), Next::Delete] {
            let stamp = win(&store, &key, Expect::Any, next).await;
            let floor = stamp.now.as_micros();
            assert!(stamp.version.get() >= floor, "{stamp:?}: the clock is the floor");
        }
        pass(fixture, ticks(fixture, 1)).await;
    }
}

pub(super) async fn versions_rise_through_a_delete(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("version"));
    let first = win(&store, &key, Expect::Absent, lasting("v")).await;
    let gone = win(&store, &key, Expect::Any, Next::Delete).await;
    let again = win(&store, &key, Expect::Absent, lasting("v")).await;
    assert!(gone.version > first.version, "{gone:?} must be above {first:?}");
    assert!(again.version > gone.version, "{again:?} must be above {gone:?}");
}

pub(super) async fn versions_rise_through_expiry(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("version"));
    let keep = ticks(fixture, 1);
    let first = win(&store, &key, Expect::Absent, put("v", keep, keep)).await;
    pass(fixture, keep).await;
    let again = win(&store, &key, Expect::Absent, lasting("v")).await;
    assert!(again.version > first.version, "{again:?} must be above {first:?}");
}

pub(super) async fn versions_rise_through_a_sweep(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("version"));
    let keep = ticks(fixture, 1);
    // A counter that lived in the entry would be far above the clock by now.
    let mut first = win(&store, &key, Expect::Any, put("v", keep, keep)).await;
    for _ in 0..50 {
        first = win(&store, &key, Expect::Any, put("v", keep, keep)).await;
    }
    pass(fixture, keep).await;
    store.sweep(100).await.expect("a sweep");
    assert_absent(&store, &key).await;
    let again = win(&store, &key, Expect::Absent, lasting("v")).await;
    assert!(again.version > first.version, "{again:?} must be above {first:?}");
}

pub(super) async fn versions_rise_through_many_lives_of_a_key(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("version"));
    let keep = ticks(fixture, 1);
    let mut last = Version::new(0);
    for _ in 0..5 {
        let written = Written::put(&store, &key, Expect::Absent, ("v", keep, keep)).await;
        assert!(written.version > last, "{written:?} must be above {last:?}");
        let gone = win(&store, &key, Expect::Any, Next::Delete).await;
        let again = Written::put(&store, &key, Expect::Absent, ("w", keep, keep)).await;
        assert!(again.version > gone.version, "{again:?} must be above {gone:?}");
        last = again.version;
        pass(fixture, keep).await;
        store.sweep(1).await.expect("a sweep");
    }
}

pub(super) async fn both_handles_draw_from_one_sequence(fixture: &dyn Fixture) {
    let (first, second) = (fixture.store(), fixture.second_handle().await);
    let key = key("version");
    let mut seen = HashSet::new();
    let mut last = Version::new(0);
    for round in 0..20 {
        let store = if round % 3 == 0 { &first } else { &second };
        let next = if round % 5 == 4 { Next::Delete } else { lasting("v") };
        let stamp = win(store, &key, Expect::Any, next).await;
        assert!(stamp.version > last, "{:?} after {last:?}", stamp.version);
        assert!(seen.insert(stamp.version), "{:?} was given twice", stamp.version);
        last = stamp.version;
    }
}
