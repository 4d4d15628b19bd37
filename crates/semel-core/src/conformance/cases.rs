//! The list of cases, and what is made of it.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use super::fixture::Fixture;
use super::watchdog::within;
use super::{
    cancel, deadlines, hints, limits, races, reopen, scan, sliding, swap, swap_lapsed, sweep,
    versions,
};

/// Far longer than a case takes on a slow machine.
const CASE_LIMIT: Duration = Duration::from_secs(120);

/// The one list. A case that is missing here is dead code, which the compiler reports.
#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_cases {
    ($($mode:tt)*) => {
        $crate::__conformance_expand! {
            {$($mode)*}
            swap {
                put_expecting_absence_wins_on_absent
                put_expecting_anything_wins_on_absent
                put_expecting_a_version_loses_on_absent
                renew_and_delete_lose_on_absent_whatever_is_expected
                put_expecting_absence_loses_on_present
                put_expecting_the_version_wins_on_present
                put_expecting_anything_wins_on_present
                put_expecting_another_version_loses_on_present
                renew_expecting_the_version_wins_and_keeps_the_value
                renew_expecting_anything_wins_on_present
                renew_loses_on_present_when_something_else_is_expected
                delete_expecting_the_version_wins_on_present
                delete_expecting_anything_wins_on_present
                delete_loses_on_present_when_something_else_is_expected
                a_lost_swap_changes_nothing
                a_stale_owner_neither_overwrites_nor_deletes
            }
            swap_lapsed {
                put_expecting_absence_loses_past_lease
                put_expecting_the_version_takes_over_past_lease
                put_expecting_anything_wins_past_lease
                renew_revives_past_lease
                delete_works_past_lease
                put_expecting_absence_wins_past_keep
                put_expecting_anything_wins_past_keep
                put_expecting_the_last_version_loses_past_keep
                renew_and_delete_lose_past_keep_whatever_is_expected
            }
            versions {
                each_won_swap_raises_the_version
                a_version_is_at_least_the_stores_clock
                versions_rise_through_a_delete
                versions_rise_through_expiry
                versions_rise_through_a_sweep
                versions_rise_through_many_lives_of_a_key
                both_handles_draw_from_one_sequence
            }
            deadlines {
                a_lease_ends_exactly_when_it_is_reached
                a_keep_ends_exactly_when_it_is_reached
                a_lease_never_outlasts_its_keep
                a_put_sets_both_deadlines_anew
                a_renewal_sets_both_deadlines_anew
                a_renewal_may_shorten_both_deadlines
                reads_and_lost_swaps_move_no_deadline
                a_lease_of_zero_is_over_at_once
                a_keep_of_zero_is_absent_at_once
                a_renewal_with_a_keep_of_zero_ends_the_entry
                the_longest_durations_do_not_overflow
                the_shortest_durations_are_not_rounded_to_zero
                the_stores_clock_never_goes_back
            }
            sliding {
                a_touch_renews_a_live_lease
                a_touch_never_reaches_past_keep
                a_touch_leaves_an_ended_lease_ended
                a_touch_may_shorten_a_lease
                a_touch_of_zero_ends_the_lease
                a_touch_changes_neither_version_nor_keep
                a_touch_of_nothing_makes_nothing
                an_entry_that_is_read_often_lives_until_its_keep
            }
            hints {
                a_put_wakes_who_waits
                a_renewal_wakes_who_waits
                a_delete_wakes_who_waits
                a_hint_remembers_a_change_from_before_its_first_poll
                a_change_wakes_all_who_wait
                a_waiter_that_reads_again_after_each_hint_sees_every_end
                a_change_through_another_handle_reaches_as_far_as_declared
                hints_that_are_dropped_leave_nothing_behind
            }
            scan {
                a_page_holds_keys_with_their_entries
                pages_cover_every_key_once_and_in_order
                order_is_that_of_utf8_bytes
                a_prefix_is_literal
                a_key_is_listed_under_each_of_its_own_prefixes
                hostile_prefixes_match_nothing_and_break_nothing
                the_empty_prefix_lists_everything
                a_limit_of_zero_gives_an_empty_last_page
                a_cursor_needs_no_entry_behind_it
                a_cursor_outside_the_prefix_is_only_a_bound
                entries_past_lease_are_listed_and_past_keep_are_not
                the_longest_keys_are_listed
                what_stays_is_listed_once_while_others_come_and_go
            }
            sweep {
                only_what_is_past_its_keep_goes
                a_sweep_honours_its_limit
                a_sweep_of_nothing_counts_nothing
                a_swept_key_can_be_claimed_again
                an_entry_that_was_written_again_survives_the_sweep
                sweeps_never_take_what_is_claimed_anew_meanwhile
            }
            limits {
                an_empty_value_is_a_value
                a_value_of_the_limit_comes_back
                a_value_over_the_limit_is_refused_and_changes_nothing
                every_byte_comes_back
                keys_are_independent
                keys_that_look_alike_are_different
                hostile_keys_work_as_any_other
                a_key_of_the_longest_length_works
                a_key_over_the_length_is_refused_and_changes_nothing
            }
            races {
                of_64_claims_one_wins_and_the_others_see_its_value
                of_64_claims_through_two_handles_one_wins
                of_64_increments_none_is_lost
                of_64_deletes_one_wins
                of_64_takeovers_of_a_lapsed_lease_one_wins
                of_64_claims_of_an_expired_entry_one_wins
                unconditional_puts_all_win_with_different_versions
                a_put_and_a_delete_of_one_version_never_both_win
                a_renewal_and_a_takeover_of_one_version_never_both_win
                reads_never_see_half_a_write
                touches_beside_swaps_never_bring_an_old_entry_back
            }
            reopen {
                entries_outlive_a_reopening_as_declared
                versions_rise_through_a_reopening
                deletes_and_ends_outlive_a_reopening
            }
            cancel {
                a_dropped_swap_was_applied_or_not_and_nothing_between
                dropped_calls_leave_the_store_working
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __conformance_expand {
    ({ names } $($group:ident { $($case:ident)* })*) => {
        &[$($(concat!(stringify!($group), "::", stringify!($case))),*),*]
    };
    ({ run $name:ident $fixture:ident } $($group:ident { $($case:ident)* })*) => {
        match $name {
            $($(concat!(stringify!($group), "::", stringify!($case)) => {
                Box::pin($group::$case($fixture)) as Pin<Box<dyn Future<Output = ()> + Send + '_>>
            })*)*
            _ => panic!("the conformance suite has no case {}", $name),
        }
    };
    ({ tests $make:ident } $($group:ident { $($case:ident)* })*) => {
        #[cfg(test)]
        mod conformance {
            $(mod $group {
                use super::super::$make;

                $(#[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $case() {
                    let name = concat!(stringify!($group), "::", stringify!($case));
                    $crate::conformance::run(name, &$make().await).await;
                })*
            })*
        }
    };
}

/// Runs the conformance suite on the fixture that `$make`, an `async fn` in scope, makes: a module
/// `conformance` with a test for each case. See [`conformance`](mod@crate::conformance).
#[macro_export]
macro_rules! conformance {
    ($make:ident) => {
        $crate::__conformance_cases! { tests $make }
    };
}

/// The names of all cases, as `group::case`.
pub const CASES: &[&str] = __conformance_cases! { names };

/// Runs one case, for who has a test harness of their own.
///
/// # Panics
///
/// When the store breaks the contract, when the case takes longer than two minutes, and when there
/// is no case of that name.
pub async fn run(name: &str, fixture: &dyn Fixture) {
    let case = __conformance_cases! { run name fixture };
    within(CASE_LIMIT, name, case).await;
}
