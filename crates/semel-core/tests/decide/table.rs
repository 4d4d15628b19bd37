//! Every state and every question: what follows, row by row.
//!
//! "Ours" is the token that asks. The request is the same in all rows; those of other requests
//! are in [`crate::laws_of_begin`]. A write happens "if same", that is, if the version is still
//! the one that was looked at.

use semel_core::protocol::{
    Ask, InDoubt, Inspect, MarkDoubt, Release, Renew, Resolution, Resolve, Seen, decide,
};
use semel_core::{Doubt, State, Ttl, Version};

use crate::fixtures::{
    OURS, THEIRS, VERSION, absent, begin, claim, complete, keep, lease, part, seen, token, whole,
};
use crate::show::Show;

fn states() -> Vec<(&'static str, Seen)> {
    let held = |number, left| seen(claim(number), State::Held, left);
    let doubt = |number| seen(claim(number), State::Doubt(Doubt::CutOff), Ttl::ZERO);
    let done = |number, outcome| seen(claim(number), State::Done(outcome), Ttl::ZERO);
    vec![
        ("absent", absent()),
        ("held by us", held(OURS, lease())),
        ("held by us, lease over", held(OURS, Ttl::ZERO)),
        ("held by them", held(THEIRS, lease())),
        ("held by them, lease over", held(THEIRS, Ttl::ZERO)),
        ("doubt of ours", doubt(OURS)),
        ("doubt of theirs", doubt(THEIRS)),
        ("done by us", done(OURS, whole("A"))),
        ("done by them", done(THEIRS, whole("B"))),
        ("part done by us", done(OURS, part("A"))),
        ("part done by them", done(THEIRS, part("B"))),
    ]
}

/// Compares the verdict on every state with its row. A row is `state | verdict`.
#[track_caller]
fn follows<A: Ask<Answer: Show>>(ask: &A, table: &str) {
    let verdict = |(name, seen): (&str, Seen)| format!("{name} | {}", decide(&seen, ask).show());
    let actual: Vec<String> = states().into_iter().map(verdict).collect();
    let expected: Vec<String> =
        table.lines().map(str::trim).filter(|row| !row.is_empty()).map(squeezed).collect();
    assert_eq!(actual, expected, "{}", actual.join("\n"));
}

fn squeezed(row: &str) -> String {
    row.split_whitespace().collect::<Vec<_>>().join(" ")
}

// ===== begin =====

#[test]
fn begin_with_rerun_takes_over_what_is_in_doubt() {
    follows(
        &begin(OURS, InDoubt::Rerun),
        "absent                    | if absent put our #1 held -> fresh #1
         held by us                | fresh #1
         held by us, lease over    | if same renew -> fresh #1
         held by them              | in flight
         held by them, lease over  | if same put our #2 held -> fresh #2
         doubt of ours             | if same put our #2 held -> fresh #2
         doubt of theirs           | if same put our #2 held -> fresh #2
         done by us                | replay whole A
         done by them              | replay whole B
         part done by us           | replay part A
         part done by them         | replay part B",
    );
}

#[test]
fn begin_with_reject_never_takes_over() {
    follows(
        &begin(OURS, InDoubt::Reject),
        "absent                    | if absent put our #1 held -> fresh #1
         held by us                | fresh #1
         held by us, lease over    | if same renew -> fresh #1
         held by them              | in flight
         held by them, lease over  | in doubt
         doubt of ours             | in doubt
         doubt of theirs           | in doubt
         done by us                | replay whole A
         done by them              | replay whole B
         part done by us           | replay part A
         part done by them         | replay part B",
    );
}

#[test]
fn begin_with_reconcile_asks_the_application() {
    follows(
        &begin(OURS, InDoubt::Reconcile),
        "absent                    | if absent put our #1 held -> fresh #1
         held by us                | fresh #1
         held by us, lease over    | if same renew -> fresh #1
         held by them              | in flight
         held by them, lease over  | ask the application
         doubt of ours             | ask the application
         doubt of theirs           | ask the application
         done by us                | replay whole A
         done by them              | replay whole B
         part done by us           | replay part A
         part done by them         | replay part B",
    );
}

// ===== the owner's questions =====

#[test]
fn complete_records_the_outcome_of_whoever_holds_the_claim() {
    follows(
        &complete(OURS, whole("A")),
        "absent                    | superseded by nothing
         held by us                | if same put our #1 whole A -> recorded
         held by us, lease over    | if same put our #1 whole A -> recorded
         held by them              | superseded by one in flight
         held by them, lease over  | superseded by one in doubt
         doubt of ours             | if same put our #1 whole A -> recorded
         doubt of theirs           | superseded by one in doubt
         done by us                | recorded
         done by them              | superseded by whole B
         part done by us           | if same put our #1 whole A -> recorded
         part done by them         | superseded by part B",
    );
}

#[test]
fn complete_in_part_never_takes_the_whole_away() {
    follows(
        &complete(OURS, part("A")),
        "absent                    | superseded by nothing
         held by us                | if same put our #1 part A -> recorded
         held by us, lease over    | if same put our #1 part A -> recorded
         held by them              | superseded by one in flight
         held by them, lease over  | superseded by one in doubt
         doubt of ours             | if same put our #1 part A -> recorded
         doubt of theirs           | superseded by one in doubt
         done by us                | recorded
         done by them              | superseded by whole B
         part done by us           | recorded
         part done by them         | superseded by part B",
    );
}

#[test]
fn a_second_outcome_never_replaces_the_first_even_from_its_owner() {
    follows(
        &complete(OURS, whole("C")),
        "absent                    | superseded by nothing
         held by us                | if same put our #1 whole C -> recorded
         held by us, lease over    | if same put our #1 whole C -> recorded
         held by them              | superseded by one in flight
         held by them, lease over  | superseded by one in doubt
         doubt of ours             | if same put our #1 whole C -> recorded
         doubt of theirs           | superseded by one in doubt
         done by us                | superseded by whole A
         done by them              | superseded by whole B
         part done by us           | if same put our #1 whole C -> recorded
         part done by them         | superseded by part B",
    );
}

#[test]
fn doubt_is_marked_by_whoever_holds_the_claim() {
    follows(
        &MarkDoubt { token: token(OURS), doubt: Doubt::Exception, keep: keep() },
        "absent                    | NotOurs
         held by us                | if same put our #1 doubt Exception -> InDoubt
         held by us, lease over    | if same put our #1 doubt Exception -> InDoubt
         held by them              | NotOurs
         held by them, lease over  | NotOurs
         doubt of ours             | InDoubt
         doubt of theirs           | NotOurs
         done by us                | NotOurs
         done by them              | NotOurs
         part done by us           | NotOurs
         part done by them         | NotOurs",
    );
}

#[test]
fn release_frees_a_held_claim_of_ours_and_nothing_else() {
    follows(
        &Release { token: token(OURS) },
        "absent                    | AlreadyGone
         held by us                | if same delete -> Released
         held by us, lease over    | if same delete -> Released
         held by them              | NotOurs
         held by them, lease over  | NotOurs
         doubt of ours             | NotOurs
         doubt of theirs           | NotOurs
         done by us                | NotOurs
         done by them              | NotOurs
         part done by us           | NotOurs
         part done by them         | NotOurs",
    );
}

#[test]
fn renew_goes_on_with_a_held_claim_of_ours_and_nothing_else() {
    follows(
        &Renew { token: token(OURS), lease: lease(), keep: keep() },
        "absent                    | Lost
         held by us                | if same renew -> Renewed
         held by us, lease over    | if same renew -> Renewed
         held by them              | Lost
         held by them, lease over  | Lost
         doubt of ours             | Lost
         doubt of theirs           | Lost
         done by us                | Lost
         done by them              | Lost
         part done by us           | Lost
         part done by them         | Lost",
    );
}

// ===== everybody else's questions =====

#[test]
fn inspect_tells_and_changes_nothing() {
    follows(
        &Inspect,
        "absent                    | absent
         held by us                | in flight
         held by us, lease over    | in doubt
         held by them              | in flight
         held by them, lease over  | in doubt
         doubt of ours             | in doubt
         doubt of theirs           | in doubt
         done by us                | done whole A
         done by them              | done whole B
         part done by us           | done part A
         part done by them         | done part B",
    );
}

const RESOLVER: u8 = 9;

fn resolve(version: Version, resolution: Resolution) -> Resolve {
    Resolve { version, token: token(RESOLVER), resolution }
}

#[test]
fn resolving_as_done_settles_what_is_in_doubt_and_nothing_else() {
    let done = || Resolution::Done { outcome: whole("C"), keep: keep() };
    follows(
        &resolve(VERSION, done()),
        "absent                    | Changed
         held by us                | StillHeld
         held by us, lease over    | if same put other #1 whole C -> Settled
         held by them              | StillHeld
         held by them, lease over  | if same put other #1 whole C -> Settled
         doubt of ours             | if same put other #1 whole C -> Settled
         doubt of theirs           | if same put other #1 whole C -> Settled
         done by us                | AlreadyDone
         done by them              | AlreadyDone
         part done by us           | AlreadyDone
         part done by them         | AlreadyDone",
    );
}

#[test]
fn resolving_as_free_settles_what_is_in_doubt_and_nothing_else() {
    follows(
        &resolve(VERSION, Resolution::Free),
        "absent                    | Settled
         held by us                | StillHeld
         held by us, lease over    | if same delete -> Settled
         held by them              | StillHeld
         held by them, lease over  | if same delete -> Settled
         doubt of ours             | if same delete -> Settled
         doubt of theirs           | if same delete -> Settled
         done by us                | AlreadyDone
         done by them              | AlreadyDone
         part done by us           | AlreadyDone
         part done by them         | AlreadyDone",
    );
}

#[test]
fn resolving_on_old_news_changes_nothing() {
    let old = Version::new(VERSION.get() - 1);
    let done = Resolution::Done { outcome: whole("C"), keep: keep() };
    let changed = |absent: &str| {
        let row = |(name, _): &(&str, Seen)| match *name {
            "absent" => format!("absent | {absent}\n"),
            name => format!("{name} | Changed\n"),
        };
        states().iter().map(row).collect::<String>()
    };
    follows(&resolve(old, done), &changed("Changed"));
    follows(&resolve(old, Resolution::Free), &changed("Settled"));
}
