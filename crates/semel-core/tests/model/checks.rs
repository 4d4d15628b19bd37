//! The guarantees, as they are shipped: no law breaks, and everything that can happen did.

use std::collections::BTreeSet;

use crate::explore::{Report, explore};
use crate::laws::Law;
use crate::model::{Model, Sight, Step};
use crate::rules::{Production, Rules};
use crate::settings::{Guarantee, Settings};

/// Far more than any check here has.
const MOST: usize = 400_000;

/// Explores all of it: no law breaks, and all this was seen.
#[track_caller]
fn holds(what: &str, set: Settings, must_see: &[Sight]) -> Report<Model<Production>> {
    let report = explore(&Model::new(Production, set), MOST);
    println!("{what}: {} states, {} steps", report.states, report.steps);
    if let Some((law, way)) = &report.broken {
        panic!("{what}: {law:?} breaks after\n{}", told(way));
    }
    let unseen: BTreeSet<Sight> =
        must_see.iter().copied().filter(|sight| !report.sights.contains(sight)).collect();
    assert!(unseen.is_empty(), "{what}: never seen: {unseen:?}");
    report
}

/// Explores until a law breaks, and says which.
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

/// A way, one step a line. Owners change places on it: they are numbered anew at each step.
fn told(way: &[Step]) -> String {
    way.iter().map(|step| format!("  {step:?}\n")).collect()
}

// ===== retryable =====

const RETRYABLE_SEES: &[Sight] = &[
    Sight::Replayed,
    Sight::InFlight,
    Sight::TakenOver,
    Sight::LostReplyWasOurs,
    Sight::LateOwnerWasSuperseded,
    Sight::EffectAfterTakeOver,
    Sight::StrayWon,
    Sight::TwoEffects,
];

#[test]
fn retryable_holds_for_three_owners() {
    holds("retryable, 3 owners", Settings { owners: 3, ..Settings::retryable() }, RETRYABLE_SEES);
}

#[test]
fn retryable_holds_for_two_owners_that_try_again() {
    holds(
        "retryable, 2 owners, 2 calls",
        Settings { calls: 2, ..Settings::retryable() },
        RETRYABLE_SEES,
    );
}

#[test]
fn retryable_holds_with_renewals_streams_and_two_strays() {
    let set = Settings { renewals: 1, strays: 2, streams: true, ..Settings::retryable() };
    holds("retryable, renewals, streams, 2 strays", set, &[Sight::Renewed]);
}

/// What `retryable` does not promise: it names a condition, and without that there can be two
/// effects. The check would tell.
#[test]
fn retryable_does_not_keep_the_laws_of_at_most_once() {
    let set = Settings { guarantee: Guarantee::AtMostOnce, ..Settings::retryable() };
    breaks("retryable by the laws of at_most_once", Production, set, &[Law::I5, Law::I7]);
    // By the laws of `cooperative`, which lets claims be taken over, it is the effects that tell.
    let set = Settings { guarantee: Guarantee::Cooperative, ..Settings::retryable() };
    breaks("retryable by the laws of cooperative", Production, set, &[Law::I1]);
}

// ===== at_most_once =====

const AT_MOST_ONCE_SEES: &[Sight] =
    &[Sight::Replayed, Sight::InFlight, Sight::InDoubt, Sight::LostReplyWasOurs, Sight::StrayWon];

#[track_caller]
fn at_most_once_holds(what: &str, set: Settings, must_see: &[Sight]) {
    let report = holds(what, set, &[AT_MOST_ONCE_SEES, must_see].concat());
    assert!(!report.sights.contains(&Sight::TwoEffects));
    assert!(!report.sights.contains(&Sight::TakenOver));
}

#[test]
fn at_most_once_holds_for_three_owners_that_try_again() {
    let set = Settings { owners: 3, calls: 2, ..Settings::at_most_once() };
    at_most_once_holds("at_most_once, 3 owners, 2 calls", set, &[]);
}

#[test]
fn at_most_once_holds_with_renewals_streams_and_two_strays() {
    let set = Settings { renewals: 1, strays: 2, streams: true, ..Settings::at_most_once() };
    at_most_once_holds("at_most_once, renewals, streams, 2 strays", set, &[Sight::Renewed]);
}

#[test]
fn at_most_once_holds_with_an_operator_who_resolves() {
    let set = Settings { owners: 3, resolutions: 1, ..Settings::at_most_once() };
    let must_see = [Sight::Resolved, Sight::LateOwnerWasSuperseded];
    at_most_once_holds("at_most_once, 3 owners, an operator", set, &must_see);
}

// ===== cooperative =====

const COOPERATIVE_SEES: &[Sight] = &[
    Sight::Replayed,
    Sight::InFlight,
    Sight::TakenOver,
    Sight::LostReplyWasOurs,
    Sight::LateOwnerWasSuperseded,
    Sight::EffectAfterTakeOver,
    Sight::StrayWon,
];

#[test]
fn cooperative_holds_for_three_owners() {
    let set = Settings { owners: 3, ..Settings::cooperative() };
    holds("cooperative, 3 owners", set, COOPERATIVE_SEES);
}

#[test]
fn cooperative_holds_for_two_owners_that_try_again() {
    let set = Settings { calls: 2, ..Settings::cooperative() };
    holds("cooperative, 2 owners, 2 calls", set, COOPERATIVE_SEES);
}

#[test]
fn cooperative_holds_with_renewals_streams_and_two_strays() {
    let set = Settings { renewals: 1, strays: 2, streams: true, ..Settings::cooperative() };
    holds("cooperative, renewals, streams, 2 strays", set, &[Sight::Renewed]);
}

// ===== the check itself =====

/// Naming owners anew makes fewer states, and hides nothing that can be seen.
#[test]
fn owners_in_order_show_all_that_owners_in_any_order_show() {
    for set in [Settings::retryable(), Settings::at_most_once(), Settings::cooperative()] {
        let set = Settings { calls: 1, ..set };
        let ordered = holds("in order", set, &[]);
        let any = holds("in any order", Settings { in_order: false, ..set }, &[]);
        assert_eq!(ordered.sights, any.sights);
        assert!(ordered.states < any.states);
    }
}
