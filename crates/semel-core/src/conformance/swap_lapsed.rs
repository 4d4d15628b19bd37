//! Every `Expect` with every `Next`, on entries past their lease and past their keep.

use super::fixture::Fixture;
use super::support::{
    Handle, LONG, LONGER, Written, assert_absent, key, lasting, look, lose, pass, put, renew,
    ticks, win,
};
use crate::key::Key;
use crate::store::{Expect, Next};

/// An entry whose lease has ended, still kept.
async fn past_lease(fixture: &dyn Fixture) -> (Handle, Key, Written) {
    let (store, key) = (fixture.store(), key("lapsed"));
    let lease = ticks(fixture, 1);
    let written = Written::put(&store, &key, Expect::Absent, ("first", lease, LONG)).await;
    pass(fixture, lease).await;
    let seen = look(&store, &key).await;
    written.check(&seen);
    let left = seen.entry.map(|entry| entry.lease_left.is_zero());
    assert_eq!(left, Some(true), "past its lease it must be there, with nothing left");
    (store, key, written)
}

/// An entry whose keep has ended.
async fn past_keep(fixture: &dyn Fixture) -> (Handle, Key, Written) {
    let (store, key) = (fixture.store(), key("lapsed"));
    let keep = ticks(fixture, 1);
    let written = Written::put(&store, &key, Expect::Absent, ("first", keep, keep)).await;
    pass(fixture, keep).await;
    (store, key, written)
}

// ===== past lease =====

pub(super) async fn put_expecting_absence_loses_past_lease(fixture: &dyn Fixture) {
    let (store, key, written) = past_lease(fixture).await;
    written.check(&lose(&store, &key, Expect::Absent, lasting("second")).await);
    written.check(&look(&store, &key).await);
}

pub(super) async fn put_expecting_the_version_takes_over_past_lease(fixture: &dyn Fixture) {
    let (store, key, first) = past_lease(fixture).await;
    let expect = Expect::Version(first.version);
    let second = Written::put(&store, &key, expect, ("second", LONG, LONGER)).await;
    assert!(second.version > first.version, "{second:?} must be above {first:?}");
    second.check(&look(&store, &key).await);
    second.check(&lose(&store, &key, expect, lasting("late")).await);
}

pub(super) async fn put_expecting_anything_wins_past_lease(fixture: &dyn Fixture) {
    let (store, key, first) = past_lease(fixture).await;
    let second = Written::put(&store, &key, Expect::Any, ("second", LONG, LONGER)).await;
    assert!(second.version > first.version, "{second:?} must be above {first:?}");
    second.check(&look(&store, &key).await);
}

pub(super) async fn renew_revives_past_lease(fixture: &dyn Fixture) {
    let (store, key, first) = past_lease(fixture).await;
    first.check(&lose(&store, &key, Expect::Absent, renew(LONG, LONGER)).await);
    let stamp = win(&store, &key, Expect::Version(first.version), renew(LONG, LONGER)).await;
    assert!(stamp.version > first.version, "a renewal must raise the version");
    first.renewed(stamp, LONG, LONGER).check(&look(&store, &key).await);
}

pub(super) async fn delete_works_past_lease(fixture: &dyn Fixture) {
    let (store, key, first) = past_lease(fixture).await;
    first.check(&lose(&store, &key, Expect::Absent, Next::Delete).await);
    let stamp = win(&store, &key, Expect::Version(first.version), Next::Delete).await;
    assert!(stamp.version > first.version, "a delete must raise the version");
    assert_absent(&store, &key).await;
}

// ===== past keep =====

pub(super) async fn put_expecting_absence_wins_past_keep(fixture: &dyn Fixture) {
    let (store, key, first) = past_keep(fixture).await;
    let second = Written::put(&store, &key, Expect::Absent, ("second", LONG, LONGER)).await;
    assert!(second.version > first.version, "{second:?} must be above {first:?}");
    second.check(&look(&store, &key).await);
}

pub(super) async fn put_expecting_anything_wins_past_keep(fixture: &dyn Fixture) {
    let (store, key, first) = past_keep(fixture).await;
    let second = Written::put(&store, &key, Expect::Any, ("second", LONG, LONGER)).await;
    assert!(second.version > first.version, "{second:?} must be above {first:?}");
    second.check(&look(&store, &key).await);
}

pub(super) async fn put_expecting_the_last_version_loses_past_keep(fixture: &dyn Fixture) {
    let (store, key, first) = past_keep(fixture).await;
    let expect = Expect::Version(first.version);
    let there = lose(&store, &key, expect, put("late", LONG, LONG)).await;
    assert_eq!(there.entry, None, "past its keep it must be shown as absent");
    assert_absent(&store, &key).await;
}

pub(super) async fn renew_and_delete_lose_past_keep_whatever_is_expected(fixture: &dyn Fixture) {
    let (store, key, first) = past_keep(fixture).await;
    for expect in [Expect::Absent, Expect::Any, Expect::Version(first.version)] {
        for next in [renew(LONG, LONG), Next::Delete] {
            let there = lose(&store, &key, expect, next).await;
            assert_eq!(there.entry, None, "past its keep it must be shown as absent");
        }
    }
    assert_absent(&store, &key).await;
}
