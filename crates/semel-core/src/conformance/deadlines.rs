//! Lease and keep, judged by the store's clock alone.

use super::fixture::Fixture;
use super::support::{
    LONG, LONGER, Written, assert_absent, hours, key, lasting, look, lose, now, pass, present, put,
    renew, scan, ticks, win,
};
use crate::store::{Expect, Next, Version};
use crate::time::Ttl;

/// One microsecond: the finest step of a store's clock.
const STEP: Ttl = match Ttl::from_micros(1) {
    Some(step) => step,
    None => Ttl::ZERO,
};

fn just_before(end: Ttl) -> Ttl {
    Ttl::from_micros(end.as_micros() - STEP.as_micros()).expect("shorter than it was")
}

pub(super) async fn a_lease_ends_exactly_when_it_is_reached(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("deadline"));
    let lease = ticks(fixture, 1);
    let written = Written::put(&store, &key, Expect::Absent, ("v", lease, LONG)).await;
    written.check(&look(&store, &key).await);
    // On a clock that stands still: one microsecond is left, then none.
    pass(fixture, just_before(lease)).await;
    written.check(&look(&store, &key).await);
    pass(fixture, STEP).await;
    written.check(&look(&store, &key).await);
    assert!(present(&store, &key).await.lease_left.is_zero(), "the lease must have ended");
}

pub(super) async fn a_keep_ends_exactly_when_it_is_reached(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("deadline"));
    let keep = ticks(fixture, 1);
    let written = Written::put(&store, &key, Expect::Absent, ("v", STEP, keep)).await;
    written.check(&look(&store, &key).await);
    pass(fixture, just_before(keep)).await;
    written.check(&look(&store, &key).await);
    pass(fixture, STEP).await;
    assert_absent(&store, &key).await;
}

pub(super) async fn a_lease_never_outlasts_its_keep(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("deadline"));
    let keep = ticks(fixture, 2);
    let written = Written::put(&store, &key, Expect::Absent, ("v", LONG, keep)).await;
    written.check(&look(&store, &key).await);
    let stamp = win(&store, &key, Expect::Any, renew(LONG, keep)).await;
    written.renewed(stamp, LONG, keep).check(&look(&store, &key).await);
    pass(fixture, keep).await;
    assert_absent(&store, &key).await;
}

pub(super) async fn a_put_sets_both_deadlines_anew(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("deadline"));
    let first = Written::put(&store, &key, Expect::Absent, ("v", LONG, LONGER)).await;
    pass(fixture, ticks(fixture, 1)).await;
    let expect = Expect::Version(first.version);
    let second = Written::put(&store, &key, expect, ("w", hours(3), hours(4))).await;
    second.check(&look(&store, &key).await);
    let third = Written::put(&store, &key, Expect::Any, ("x", Ttl::ZERO, LONG)).await;
    third.check(&look(&store, &key).await);
}

pub(super) async fn a_renewal_sets_both_deadlines_anew(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("deadline"));
    let keep = ticks(fixture, 4);
    let written = Written::put(&store, &key, Expect::Absent, ("v", keep, keep)).await;
    pass(fixture, ticks(fixture, 1)).await;
    let stamp = win(&store, &key, Expect::Any, renew(LONG, LONGER)).await;
    let renewed = written.renewed(stamp, LONG, LONGER);
    // The first deadlines pass and no longer count.
    pass(fixture, keep).await;
    renewed.check(&look(&store, &key).await);
}

pub(super) async fn a_renewal_may_shorten_both_deadlines(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("deadline"));
    let written = Written::put(&store, &key, Expect::Absent, ("v", LONG, LONGER)).await;
    let keep = ticks(fixture, 1);
    let stamp = win(&store, &key, Expect::Any, renew(Ttl::ZERO, keep)).await;
    written.renewed(stamp, Ttl::ZERO, keep).check(&look(&store, &key).await);
    pass(fixture, keep).await;
    assert_absent(&store, &key).await;
}

pub(super) async fn reads_and_lost_swaps_move_no_deadline(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("deadline"));
    let (lease, keep) = (ticks(fixture, 3), ticks(fixture, 5));
    let written = Written::put(&store, &key, Expect::Absent, ("v", lease, keep)).await;
    for _ in 0..5 {
        written.check(&look(&store, &key).await);
        pass(fixture, ticks(fixture, 1)).await;
        written.check(&look(&store, &key).await);
        lose(&store, &key, Expect::Version(Version::new(1)), renew(LONG, LONG)).await;
    }
    assert_absent(&store, &key).await;
}

pub(super) async fn a_lease_of_zero_is_over_at_once(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("deadline"));
    let written = Written::put(&store, &key, Expect::Absent, ("v", Ttl::ZERO, LONG)).await;
    written.check(&look(&store, &key).await);
    assert!(present(&store, &key).await.lease_left.is_zero(), "it must be there without a lease");
    written.check(&lose(&store, &key, Expect::Absent, lasting("w")).await);
}

pub(super) async fn a_keep_of_zero_is_absent_at_once(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("deadline"));
    let first = win(&store, &key, Expect::Absent, put("v", LONG, Ttl::ZERO)).await;
    assert_absent(&store, &key).await;
    let there = lose(&store, &key, Expect::Version(first.version), renew(LONG, LONG)).await;
    assert_eq!(there.entry, None, "a keep of zero must be past at once");
    // Over a live entry it does what a delete would.
    let second = win(&store, &key, Expect::Absent, lasting("w")).await;
    let third = win(&store, &key, Expect::Any, put("x", Ttl::ZERO, Ttl::ZERO)).await;
    assert!(first.version < second.version && second.version < third.version);
    assert_absent(&store, &key).await;
}

pub(super) async fn a_renewal_with_a_keep_of_zero_ends_the_entry(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("deadline"));
    win(&store, &key, Expect::Absent, lasting("v")).await;
    win(&store, &key, Expect::Any, renew(LONG, Ttl::ZERO)).await;
    assert_absent(&store, &key).await;
    lose(&store, &key, Expect::Any, Next::Delete).await;
    win(&store, &key, Expect::Absent, lasting("w")).await;
}

pub(super) async fn the_longest_durations_do_not_overflow(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("deadline"));
    let longest = ("v", Ttl::MAX, Ttl::MAX);
    let written = Written::put(&store, &key, Expect::Absent, longest).await;
    written.check(&look(&store, &key).await);
    let stamp = win(&store, &key, Expect::Any, renew(Ttl::MAX, Ttl::MAX)).await;
    let renewed = written.renewed(stamp, Ttl::MAX, Ttl::MAX);
    renewed.check(&look(&store, &key).await);
    pass(fixture, ticks(fixture, 1)).await;
    renewed.check(&look(&store, &key).await);
    store.sweep(10).await.expect("a sweep");
    renewed.check(&look(&store, &key).await);
}

pub(super) async fn the_shortest_durations_are_not_rounded_to_zero(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("deadline"));
    let written = Written::put(&store, &key, Expect::Absent, ("v", STEP, STEP)).await;
    // On a clock that stands still it is there: one microsecond is not none.
    written.check(&look(&store, &key).await);
    let odd = Ttl::from_micros(3_600_000_001).expect("an hour and a microsecond");
    let exact = Written::put(&store, &key, Expect::Any, ("w", odd, odd)).await;
    exact.check(&look(&store, &key).await);
    pass(fixture, STEP).await;
    exact.check(&look(&store, &key).await);
}

pub(super) async fn the_stores_clock_never_goes_back(fixture: &dyn Fixture) {
    let (first, second) = (fixture.store(), fixture.second_handle().await);
    let key = key("deadline");
    let mut last = now(&first).await;
    for round in 0..20 {
        let store = if round % 2 == 0 { &first } else { &second };
        let stamp = win(store, &key, Expect::Any, lasting("v")).await;
        assert!(stamp.now >= last, "a swap's {:?} after {last:?}", stamp.now);
        let seen = look(store, &key).await.now;
        assert!(seen >= stamp.now, "a read's {seen:?} after {:?}", stamp.now);
        let page = scan(store, "", None, 1).await.now;
        assert!(page >= seen, "a scan's {page:?} after {seen:?}");
        last = page;
    }
}
