//! Every `Expect` with every `Next`, on keys with nothing there and with a live entry.

use super::fixture::Fixture;
use super::support::{
    LONG, LONGER, Written, assert_absent, hours, key, lasting, look, lose, present, put, renew, win,
};
use crate::store::{Expect, Next, Version};

const AT: (&str, crate::Ttl, crate::Ttl) = ("first", LONG, LONGER);

// ===== nothing there =====

pub(super) async fn put_expecting_absence_wins_on_absent(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    let written = Written::put(&store, &key, Expect::Absent, AT).await;
    written.check(&look(&store, &key).await);
}

pub(super) async fn put_expecting_anything_wins_on_absent(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    let written = Written::put(&store, &key, Expect::Any, AT).await;
    written.check(&look(&store, &key).await);
}

pub(super) async fn put_expecting_a_version_loses_on_absent(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    for version in [0, 1, u64::MAX] {
        let expect = Expect::Version(Version::new(version));
        let there = lose(&store, &key, expect, lasting("v")).await;
        assert_eq!(there.entry, None, "a swap that lost to nothing must show nothing");
    }
    assert_absent(&store, &key).await;
}

pub(super) async fn renew_and_delete_lose_on_absent_whatever_is_expected(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    for expect in [Expect::Absent, Expect::Any, Expect::Version(Version::new(1))] {
        for next in [renew(LONG, LONG), Next::Delete] {
            let there = lose(&store, &key, expect, next).await;
            assert_eq!(there.entry, None, "a swap that lost to nothing must show nothing");
        }
    }
    assert_absent(&store, &key).await;
}

// ===== put on a live entry =====

pub(super) async fn put_expecting_absence_loses_on_present(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    let written = Written::put(&store, &key, Expect::Absent, AT).await;
    written.check(&lose(&store, &key, Expect::Absent, lasting("second")).await);
    written.check(&look(&store, &key).await);
}

pub(super) async fn put_expecting_the_version_wins_on_present(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    let first = Written::put(&store, &key, Expect::Absent, AT).await;
    let expect = Expect::Version(first.version);
    let second = Written::put(&store, &key, expect, ("second", hours(3), hours(4))).await;
    assert!(second.version > first.version, "{second:?} must be above {first:?}");
    second.check(&look(&store, &key).await);
}

pub(super) async fn put_expecting_anything_wins_on_present(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    let first = Written::put(&store, &key, Expect::Absent, AT).await;
    let second = Written::put(&store, &key, Expect::Any, ("second", hours(3), hours(4))).await;
    assert!(second.version > first.version, "{second:?} must be above {first:?}");
    second.check(&look(&store, &key).await);
}

pub(super) async fn put_expecting_another_version_loses_on_present(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    let written = Written::put(&store, &key, Expect::Absent, AT).await;
    for expect in wrong_versions(written.version) {
        written.check(&lose(&store, &key, expect, lasting("second")).await);
    }
    written.check(&look(&store, &key).await);
}

/// Versions beside the right one: its neighbours, the ends of the range, and what is equal to it
/// in a number that is too narrow or has a sign.
fn wrong_versions(right: Version) -> impl Iterator<Item = Expect> {
    let right = right.get();
    let near = [right - 1, right + 1, 0, u64::MAX];
    let cut = [right & u64::from(u32::MAX), right | 1 << 63, right ^ u64::MAX];
    let wrong = near.into_iter().chain(cut).filter(move |wrong| *wrong != right);
    wrong.map(|wrong| Expect::Version(Version::new(wrong)))
}

// ===== renew on a live entry =====

pub(super) async fn renew_expecting_the_version_wins_and_keeps_the_value(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    let first = Written::put(&store, &key, Expect::Absent, AT).await;
    let next = renew(hours(3), hours(4));
    let stamp = win(&store, &key, Expect::Version(first.version), next).await;
    assert!(stamp.version > first.version, "a renewal must raise the version");
    first.renewed(stamp, hours(3), hours(4)).check(&look(&store, &key).await);
}

pub(super) async fn renew_expecting_anything_wins_on_present(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    let first = Written::put(&store, &key, Expect::Absent, AT).await;
    let stamp = win(&store, &key, Expect::Any, renew(hours(3), hours(4))).await;
    assert!(stamp.version > first.version, "a renewal must raise the version");
    first.renewed(stamp, hours(3), hours(4)).check(&look(&store, &key).await);
}

pub(super) async fn renew_loses_on_present_when_something_else_is_expected(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    let written = Written::put(&store, &key, Expect::Absent, AT).await;
    for expect in wrong_versions(written.version).chain([Expect::Absent]) {
        written.check(&lose(&store, &key, expect, renew(hours(3), hours(4))).await);
    }
    written.check(&look(&store, &key).await);
}

// ===== delete on a live entry =====

pub(super) async fn delete_expecting_the_version_wins_on_present(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    let first = Written::put(&store, &key, Expect::Absent, AT).await;
    let stamp = win(&store, &key, Expect::Version(first.version), Next::Delete).await;
    assert!(stamp.version > first.version, "a delete must raise the version");
    assert_absent(&store, &key).await;
}

pub(super) async fn delete_expecting_anything_wins_on_present(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    let first = Written::put(&store, &key, Expect::Absent, AT).await;
    let stamp = win(&store, &key, Expect::Any, Next::Delete).await;
    assert!(stamp.version > first.version, "a delete must raise the version");
    assert_absent(&store, &key).await;
}

pub(super) async fn delete_loses_on_present_when_something_else_is_expected(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    let written = Written::put(&store, &key, Expect::Absent, AT).await;
    for expect in wrong_versions(written.version).chain([Expect::Absent]) {
        written.check(&lose(&store, &key, expect, Next::Delete).await);
    }
    written.check(&look(&store, &key).await);
}

// ===== what losing means =====

pub(super) async fn a_lost_swap_changes_nothing(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    let written = Written::put(&store, &key, Expect::Absent, AT).await;
    for next in [put("other", hours(9), hours(9)), renew(hours(9), hours(9)), Next::Delete] {
        written.check(&lose(&store, &key, Expect::Absent, next).await);
        written.check(&look(&store, &key).await);
    }
}

pub(super) async fn a_stale_owner_neither_overwrites_nor_deletes(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("swap"));
    let first = Written::put(&store, &key, Expect::Absent, AT).await;
    win(&store, &key, Expect::Version(first.version), Next::Delete).await;
    let second = Written::put(&store, &key, Expect::Absent, ("second", LONG, LONG)).await;
    let stale = Expect::Version(first.version);
    for next in [lasting("stale"), renew(LONG, LONG), Next::Delete] {
        second.check(&lose(&store, &key, stale, next).await);
    }
    assert_eq!(present(&store, &key).await.version, second.version, "the second owner's stays");
}
