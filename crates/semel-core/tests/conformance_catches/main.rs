//! The conformance suite fails where it should: stores with one bug each, and the case that must
//! catch it. A case that can't fail proves nothing.

mod broken;
#[path = "../support/mod.rs"]
mod support;

use std::sync::Arc;

use broken::{Broken, Bug};
use semel_core::conformance::{Abilities, CASES, HintReach, run};
use support::{MemoryFixture, abilities};

/// Whether a case fails on this fixture.
async fn fails(case: &'static str, fixture: MemoryFixture) -> bool {
    let running = tokio::spawn(async move { run(case, &fixture).await });
    running.await.is_err_and(|error| error.is_panic())
}

async fn caught_with(bug: Bug, declared: Abilities, cases: &[&'static str]) {
    for case in cases {
        let sound = MemoryFixture::wrapped(declared, |store| Arc::new(store));
        let sound_fails = declared == abilities() && fails(case, sound).await;
        assert!(!sound_fails, "{case} fails on a sound store");
        let broken =
            MemoryFixture::wrapped(declared, move |store| Arc::new(Broken::new(store, bug)));
        assert!(fails(case, broken).await, "{case} does not catch {bug:?}");
    }
}

macro_rules! catches {
    ($($test:ident: $bug:ident by $($case:literal),+;)*) => {
        $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
        async fn $test() {
            caught_with(Bug::$bug, abilities(), &[$($case),+]).await;
        })*
    };
}

catches! {
    a_claim_that_overwrites: ClaimOverwrites by
        "swap::put_expecting_absence_loses_on_present",
        "swap_lapsed::put_expecting_absence_loses_past_lease",
        "races::of_64_claims_one_wins_and_the_others_see_its_value";
    a_version_that_is_not_compared: VersionIgnored by
        "swap::put_expecting_another_version_loses_on_present",
        "swap::delete_loses_on_present_when_something_else_is_expected",
        "swap::a_stale_owner_neither_overwrites_nor_deletes";
    a_version_cut_to_32_bits: VersionCut by
        "swap::put_expecting_another_version_loses_on_present";
    a_swap_in_two_steps: CheckThenAct by
        "races::of_64_claims_one_wins_and_the_others_see_its_value",
        "races::of_64_increments_none_is_lost",
        "races::of_64_deletes_one_wins",
        "races::of_64_takeovers_of_a_lapsed_lease_one_wins";
    a_lost_swap_that_shows_nothing: LostShowsNothing by
        "swap::put_expecting_absence_loses_on_present",
        "races::of_64_claims_one_wins_and_the_others_see_its_value";
    a_renewal_that_loses_the_value: RenewEmpties by
        "swap::renew_expecting_the_version_wins_and_keeps_the_value",
        "limits::a_value_of_the_limit_comes_back";
    a_renewal_that_makes_an_entry: RenewMakes by
        "swap::renew_and_delete_lose_on_absent_whatever_is_expected";
    a_delete_that_wins_on_nothing: DeleteAlwaysWins by
        "swap::renew_and_delete_lose_on_absent_whatever_is_expected",
        "races::of_64_deletes_one_wins";
    versions_that_restart_with_each_entry: VersionsRestart by
        "versions::each_won_swap_raises_the_version",
        "versions::versions_rise_through_a_delete",
        "versions::versions_rise_through_expiry",
        "versions::a_version_is_at_least_the_stores_clock";
    zero_that_means_for_ever: ZeroIsForever by
        "deadlines::a_keep_of_zero_is_absent_at_once",
        "deadlines::a_lease_of_zero_is_over_at_once";
    durations_cut_to_milliseconds: Milliseconds by
        "deadlines::the_shortest_durations_are_not_rounded_to_zero";
    long_durations_that_overflow: LongOverflows by
        "deadlines::the_longest_durations_do_not_overflow";
    a_lease_that_outlasts_its_keep: LeaseOutlastsKeep by
        "deadlines::a_lease_never_outlasts_its_keep";
    a_read_that_renews: ReadRenews by
        "deadlines::reads_and_lost_swaps_move_no_deadline";
    a_touch_that_does_nothing: TouchIgnored by
        "sliding::a_touch_renews_a_live_lease",
        "sliding::a_touch_of_zero_ends_the_lease";
    a_touch_that_revives: TouchRevives by
        "sliding::a_touch_leaves_an_ended_lease_ended";
    a_touch_that_writes: TouchWrites by
        "sliding::a_touch_changes_neither_version_nor_keep";
    a_touch_that_shows_the_entry_before_it: TouchShowsBefore by
        "sliding::a_touch_renews_a_live_lease";
    a_listing_with_wildcards: ScanWildcards by
        "scan::a_prefix_is_literal";
    a_listing_without_letter_case: ScanFoldsCase by
        "scan::a_prefix_is_literal";
    a_listing_out_of_order: ScanUnordered by
        "scan::pages_cover_every_key_once_and_in_order",
        "scan::order_is_that_of_utf8_bytes";
    a_listing_without_limit: ScanUnlimited by
        "scan::pages_cover_every_key_once_and_in_order",
        "scan::a_limit_of_zero_gives_an_empty_last_page";
    a_listing_that_repeats_itself: ScanIgnoresCursor by
        "scan::pages_cover_every_key_once_and_in_order",
        "scan::a_cursor_needs_no_entry_behind_it";
    a_listing_that_skips: ScanSkips by
        "scan::pages_cover_every_key_once_and_in_order",
        "scan::what_stays_is_listed_once_while_others_come_and_go";
    a_sweep_without_limit: SweepUnlimited by
        "sweep::a_sweep_honours_its_limit";
    a_sweep_that_counts_wrong: SweepMiscounts by
        "sweep::a_sweep_of_nothing_counts_nothing";
    a_sweep_that_takes_what_lapsed: SweepTakesLapsed by
        "sweep::only_what_is_past_its_keep_goes";
    keys_without_letter_case: KeysFoldCase by
        "limits::keys_that_look_alike_are_different";
    keys_that_are_cut: KeysCut by
        "limits::a_key_of_the_longest_length_works",
        "scan::the_longest_keys_are_listed";
    values_that_end_at_a_zero_byte: ValuesEndAtZero by
        "limits::every_byte_comes_back";
    values_that_are_cut: ValuesCut by
        "limits::a_value_of_the_limit_comes_back",
        "limits::a_value_over_the_limit_is_refused_and_changes_nothing";
    empty_values_taken_for_absent: EmptyIsAbsent by
        "limits::an_empty_value_is_a_value";
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn hints_that_reach_further_than_declared() {
    for reach in [HintReach::Nobody, HintReach::SameHandle] {
        let mut declared = abilities();
        declared.hints = reach;
        let case = "hints::a_change_through_another_handle_reaches_as_far_as_declared";
        caught_with(Bug::None, declared, &[case]).await;
    }
}

#[tokio::test]
async fn a_limit_that_is_lower_than_declared() {
    let mut declared = abilities();
    declared.value_limit += 1;
    caught_with(Bug::None, declared, &["limits::a_value_of_the_limit_comes_back"]).await;
}

#[tokio::test]
async fn a_limit_that_is_higher_than_declared() {
    let mut declared = abilities();
    declared.value_limit -= 1;
    let case = "limits::a_value_over_the_limit_is_refused_and_changes_nothing";
    caught_with(Bug::None, declared, &[case]).await;
}

#[tokio::test]
async fn a_case_that_does_not_exist() {
    assert!(fails("swap::no_such_case", MemoryFixture::new()).await);
}

#[test]
fn every_case_has_a_name_of_its_own() {
    let different: std::collections::HashSet<_> = CASES.iter().collect();
    assert_eq!(different.len(), CASES.len());
    assert!(CASES.len() >= 100, "{} cases are left", CASES.len());
}
