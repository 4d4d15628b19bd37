//! The decision, as it is shipped: no law breaks, and everything that can happen did.

use std::collections::BTreeSet;

use semel_core::protocol::lock::ForceHow;

use crate::explore::explore;
use crate::laws::Law;
use crate::model::{DELAY, Model, Settings, Sight, Step};
use crate::rules::{Production, Rules};

/// More than any check here has.
const MOST: usize = 400_000;

#[track_caller]
fn holds(what: &str, set: Settings, must_see: &[Sight]) {
    let report = explore(&Model::new(Production, set), MOST);
    println!("{what}: {} states, {} steps", report.states, report.steps);
    if let Some((law, way)) = &report.broken {
        panic!("{what}: {law:?} breaks after\n{}", told(way));
    }
    let unseen: BTreeSet<Sight> =
        must_see.iter().copied().filter(|sight| !report.sights.contains(sight)).collect();
    assert!(unseen.is_empty(), "{what}: never seen: {unseen:?}");
    let two = report.sights.contains(&Sight::TwoBelieve);
    let at_once = set.force == Some(ForceHow::AtOnce);
    assert_eq!(two, at_once, "{what}: two believe only where one was forced at once");
}

#[track_caller]
pub(crate) fn breaks<R: Rules>(what: &str, rules: R, set: Settings, laws: &[Law]) {
    let report = explore(&Model::new(rules, set), MOST);
    let (states, steps) = (report.states, report.steps);
    let Some((law, way)) = report.broken else {
        panic!("{what}: no law breaks in {states} states")
    };
    println!("{what}: {law:?} breaks after {states} states, {steps} steps, by\n{}", told(&way));
    assert!(laws.contains(&law), "{what}: {law:?} breaks, where {laws:?} was to");
}

fn told(way: &[Step]) -> String {
    way.iter().map(|step| format!("  {step:?}\n")).collect()
}

const ALWAYS: &[Sight] = &[
    Sight::Granted,
    Sight::GrantedAfterLease,
    Sight::LostReplyWasOurs,
    Sight::Renewed,
    Sight::LostToAnother,
];

#[test]
fn two_clients_that_try_never_hold_a_lock_together() {
    holds("two that try", Settings::two(), &[ALWAYS, &[Sight::StrayWon]].concat());
}

#[test]
fn a_delay_after_an_unclean_end_is_kept() {
    holds("a delay", Settings { delay: DELAY, ..Settings::two() }, &[Sight::Granted]);
}

#[test]
fn three_clients_that_wait_are_served_in_order() {
    let set = Settings { clients: 3, ticks: 1, faults: 0, ..Settings::waiting() };
    holds("three that wait", set, &[Sight::Queued, Sight::GrantedFromQueue]);
}

#[test]
fn two_clients_that_wait_with_messages_that_stray_are_served_in_order() {
    let sees = [Sight::Queued, Sight::GrantedFromQueue, Sight::DeadWaiterPassed, Sight::StrayWon];
    holds("two that wait", Settings::waiting(), &sees);
}

#[test]
fn places_are_kept_beside_a_holder_that_renews() {
    let sees = [Sight::Queued, Sight::GrantedFromQueue, Sight::RenewedBesideQueue];
    holds("places", Settings::keeping(), &sees);
}

#[test]
fn a_revoked_holder_is_never_joined_by_a_second() {
    let set = Settings { force: Some(ForceHow::Revoke), faults: 0, ..Settings::two() };
    holds("revoked", set, &[Sight::Forced, Sight::LostToAnother]);
}

#[test]
fn a_holder_that_is_forced_at_once_is_the_only_way_to_two() {
    let set = Settings { force: Some(ForceHow::AtOnce), faults: 0, ..Settings::two() };
    holds("forced at once", set, &[Sight::Forced, Sight::TwoBelieve]);
}
