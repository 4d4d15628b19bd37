//! Reads that renew the lease of what they read.

use super::fixture::Fixture;
use super::support::{
    LONG, LONGER, Written, assert_absent, hours, key, lasting, listed, look, pass, read, ticks, win,
};
use crate::store::{Expect, Touch};
use crate::time::Ttl;

pub(super) async fn a_touch_renews_a_live_lease(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("sliding"));
    let written = Written::put(&store, &key, Expect::Absent, ("v", LONG, hours(9))).await;
    pass(fixture, ticks(fixture, 1)).await;
    let seen = read(&store, &key, Touch::Lease(LONGER)).await;
    // What comes back is the entry as it is after the touch.
    let touched = written.touched(seen.now, LONGER);
    touched.check(&seen);
    touched.check(&look(&store, &key).await);
}

pub(super) async fn a_touch_never_reaches_past_keep(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("sliding"));
    let keep = ticks(fixture, 2);
    let written = Written::put(&store, &key, Expect::Absent, ("v", keep, keep)).await;
    for lease in [LONG, Ttl::MAX] {
        let seen = read(&store, &key, Touch::Lease(lease)).await;
        written.touched(seen.now, lease).check(&seen);
    }
    pass(fixture, keep).await;
    let seen = read(&store, &key, Touch::Lease(LONG)).await;
    assert_eq!(seen.entry, None, "no touch carries an entry past its keep");
    assert_absent(&store, &key).await;
}

pub(super) async fn a_touch_leaves_an_ended_lease_ended(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("sliding"));
    let lease = ticks(fixture, 1);
    let written = Written::put(&store, &key, Expect::Absent, ("v", lease, LONG)).await;
    pass(fixture, lease).await;
    written.check(&read(&store, &key, Touch::Lease(LONG)).await);
    written.check(&look(&store, &key).await);
    // Nor one that never was.
    let unleased = Written::put(&store, &key, Expect::Any, ("w", Ttl::ZERO, LONG)).await;
    unleased.check(&read(&store, &key, Touch::Lease(LONG)).await);
}

pub(super) async fn a_touch_may_shorten_a_lease(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("sliding"));
    let written = Written::put(&store, &key, Expect::Absent, ("v", LONG, LONGER)).await;
    let lease = ticks(fixture, 1);
    let seen = read(&store, &key, Touch::Lease(lease)).await;
    let touched = written.touched(seen.now, lease);
    touched.check(&seen);
    pass(fixture, lease).await;
    touched.check(&read(&store, &key, Touch::Lease(LONG)).await);
}

pub(super) async fn a_touch_of_zero_ends_the_lease(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("sliding"));
    let written = Written::put(&store, &key, Expect::Absent, ("v", LONG, LONGER)).await;
    let seen = read(&store, &key, Touch::Lease(Ttl::ZERO)).await;
    let touched = written.touched(seen.now, Ttl::ZERO);
    touched.check(&seen);
    touched.check(&read(&store, &key, Touch::Lease(LONG)).await);
}

pub(super) async fn a_touch_changes_neither_version_nor_keep(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("sliding"));
    let written = Written::put(&store, &key, Expect::Absent, ("v", LONG, LONGER)).await;
    let mut touched = written.clone();
    for hour in 1..4 {
        let seen = read(&store, &key, Touch::Lease(hours(hour))).await;
        touched = touched.touched(seen.now, hours(hour));
        touched.check(&seen);
    }
    // Its writer still owns it.
    let stamp = win(&store, &key, Expect::Version(written.version), lasting("w")).await;
    assert!(stamp.version > written.version, "{stamp:?} must be above {written:?}");
}

pub(super) async fn a_touch_of_nothing_makes_nothing(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("sliding"));
    let seen = read(&store, &key, Touch::Lease(LONG)).await;
    assert_eq!(seen.entry, None, "there was nothing to touch");
    assert_absent(&store, &key).await;
    assert_eq!(listed(&store, "", 10).await, Vec::<String>::new(), "nothing may be listed");
    win(&store, &key, Expect::Absent, lasting("v")).await;
}

pub(super) async fn an_entry_that_is_read_often_lives_until_its_keep(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("sliding"));
    let (lease, keep) = (ticks(fixture, 3), ticks(fixture, 6));
    let mut written = Written::put(&store, &key, Expect::Absent, ("v", lease, keep)).await;
    for _ in 0..6 {
        pass(fixture, ticks(fixture, 1)).await;
        let seen = read(&store, &key, Touch::Lease(lease)).await;
        written = written.touched(seen.now, lease);
        written.check(&seen);
    }
    assert_absent(&store, &key).await;
}
