//! Timelines: what goes wrong elsewhere, from begin to end.
//!
//! A is an owner that stalls, B the one that comes after it. "Runs" counts how often the work ran.

use semel_core::protocol::{
    Begun, Completed, InDoubt, Marked, Release, Released, Renewed, Resolution, Resolve, Resolved,
    Seen, Successor,
};
use semel_core::{State, Ttl, Version};

use crate::fixtures::{begin, body, claim, complete, keep, operation, part, seen, token, whole};
use crate::world::{World, held, mark_doubt, renew};

const A: u8 = 1;
const B: u8 = 2;
const C: u8 = 3;

const LEASE: u64 = 60;
const KEEP: u64 = 86_400;

/// A began and stalled beyond its lease; B took over.
fn a_stalls_and_b_takes_over(world: &World) -> (Version, Version) {
    let of_a = world.begin_fresh(A);
    world.pass(LEASE);
    let of_b = world.begin_fresh(B);
    assert!(of_b > of_a, "a later fence is a higher one");
    (of_a, of_b)
}

// ===== a late owner =====

/// A3-Z1: the stalled owner completes after its successor did. It used to overwrite the record,
/// and the next retry was given an answer that nobody else had seen.
#[test]
fn a3_z1_a_late_completion_does_not_overwrite_the_successors_outcome() {
    let world = World::new();
    let (of_a, of_b) = a_stalls_and_b_takes_over(&world);
    assert_eq!(world.complete(B, of_b, whole("B")), Completed::Recorded);
    let before = world.snapshot();
    let late = world.complete(A, of_a, whole("A"));
    assert_eq!(late, Completed::Superseded(Successor::Done(whole("B"))));
    assert_eq!(world.snapshot(), before);
    assert_eq!(world.begin(C, InDoubt::Rerun), Begun::Replay(whole("B")));
}

/// A3-Z2: the stalled owner fails late. Its delete used to remove the successor's record, and the
/// work ran a third time.
#[test]
fn a3_z2_a_late_release_does_not_free_the_successors_record() {
    let world = World::new();
    let (of_a, of_b) = a_stalls_and_b_takes_over(&world);
    let mut runs = 2;
    assert_eq!(world.complete(B, of_b, whole("B")), Completed::Recorded);
    assert_eq!(world.release(A, of_a), Released::NotOurs);
    match world.begin(C, InDoubt::Rerun) {
        Begun::Fresh { .. } => runs += 1,
        other => assert_eq!(other, Begun::Replay(whole("B"))),
    }
    assert_eq!(runs, 2);
}

#[test]
fn a_late_owner_changes_nothing_while_its_successor_works() {
    let world = World::new();
    let (of_a, of_b) = a_stalls_and_b_takes_over(&world);
    let before = world.snapshot();
    let late = world.complete(A, of_a, whole("A"));
    assert!(matches!(late, Completed::Superseded(Successor::InFlight { .. })), "{late:?}");
    assert_eq!(world.release(A, of_a), Released::NotOurs);
    assert_eq!(world.renew(A, of_a), Renewed::Lost);
    assert_eq!(world.doubt(A, of_a), Marked::NotOurs);
    assert_eq!(world.snapshot(), before);
    assert_eq!(world.complete(B, of_b, whole("B")), Completed::Recorded);
}

#[test]
fn a_late_owner_that_nobody_superseded_still_completes() {
    let world = World::new();
    let of_a = world.begin_fresh(A);
    world.pass(LEASE * 10);
    assert!(matches!(world.begin(B, InDoubt::Reject), Begun::InDoubt { .. }));
    assert_eq!(world.complete(A, of_a, whole("A")), Completed::Recorded);
    assert_eq!(world.begin(B, InDoubt::Reject), Begun::Replay(whole("A")));
}

#[test]
fn a_late_owner_is_never_handed_the_answer_to_another_request() {
    let world = World::new();
    let of_a = world.begin_fresh(A);
    assert_eq!(world.release(A, of_a), Released::Released);
    let mut other = begin(B, InDoubt::Rerun);
    other.claim.fingerprint = Some(body(b"ten keyboards"));
    assert_eq!(world.ask_to_begin(&other), Begun::Fresh { attempt: 1 });
    let late = world.complete(A, of_a, whole("A"));
    assert_eq!(late, Completed::Superseded(Successor::Other));
}

/// semaprax#192: a count of owners that begins anew after a release lets a zombie match by
/// accident. Tokens are fresh and versions go on rising.
#[test]
fn a_released_claim_can_not_be_mistaken_for_the_next_one() {
    let world = World::new();
    let of_a = world.begin_fresh(A);
    assert_eq!(world.release(A, of_a), Released::Released);
    let of_b = world.begin_fresh(B);
    assert!(of_b > of_a);
    assert_eq!(world.release(A, of_a), Released::NotOurs);
    assert_eq!(world.complete(B, of_b, whole("B")), Completed::Recorded);
}

/// D8: "you were fenced out" is what an owner is told; it is never recorded as an outcome.
#[test]
fn d8_an_owner_that_was_fenced_out_leaves_no_outcome_behind() {
    let world = World::new();
    let (of_a, of_b) = a_stalls_and_b_takes_over(&world);
    let fenced_out = world.complete(A, of_a, whole("A"));
    assert!(matches!(fenced_out, Completed::Superseded(_)));
    assert_eq!(world.release(B, of_b), Released::Released);
    assert_eq!(world.begin(C, InDoubt::Rerun), Begun::Fresh { attempt: 1 });
}

// ===== who was refused =====

/// P1 and D4: whoever is refused owns nothing, so there is nothing that it could free or spoil.
#[test]
fn p1_d4_a_refused_duplicate_mismatch_or_other_operation_changes_nothing() {
    let world = World::new();
    let of_a = world.begin_fresh(A);
    let before = world.snapshot();

    let duplicate = begin(B, InDoubt::Rerun);
    let mut mismatch = duplicate.clone();
    mismatch.claim.fingerprint = Some(body(b"ten keyboards"));
    let mut other = mismatch.clone();
    other.claim.operation = operation("payments.create");

    assert!(matches!(world.ask_to_begin(&duplicate), Begun::InFlight { .. }));
    assert!(matches!(world.ask_to_begin(&mismatch), Begun::Mismatch { .. }));
    assert!(matches!(world.ask_to_begin(&other), Begun::KeyReused { .. }));
    // Even if its door, wrongly, cleans up after it.
    let there = || world.look();
    let release = Release { token: token(B) };
    assert_eq!(world.drive(&release, there(), &[]).answer, Released::NotOurs);
    assert_eq!(world.drive(&mark_doubt(B), there(), &[]).answer, Marked::NotOurs);
    assert_eq!(world.drive(&renew(B), there(), &[]).answer, Renewed::Lost);
    let completed = world.drive(&complete(B, whole("B")), there(), &[]).answer;
    assert!(matches!(completed, Completed::Superseded(_)));

    assert_eq!(world.snapshot(), before);
    assert_eq!(world.complete(A, of_a, whole("A")), Completed::Recorded);
}

/// hono#91: two racers of the same request have the same fingerprint; only the token tells them
/// apart.
#[test]
fn of_two_racers_with_equal_requests_one_holds_the_claim() {
    let world = World::new();
    let of_a = world.begin_fresh(A);
    assert!(matches!(world.begin(B, InDoubt::Rerun), Begun::InFlight { .. }));
    let release = Release { token: token(B) };
    assert_eq!(world.drive(&release, world.look(), &[]).answer, Released::NotOurs);
    assert_eq!(world.complete(A, of_a, whole("A")), Completed::Recorded);
    assert_eq!(world.begin(B, InDoubt::Rerun), Begun::Replay(whole("A")));
}

// ===== what became of it =====

/// P4, P5 and N4: after a crash the key is blocked for the lease, not for the retention.
#[test]
fn p5_the_key_of_a_crashed_owner_is_free_to_rerun_once_the_lease_is_over() {
    let world = World::new();
    world.begin_fresh(A);
    world.pass(LEASE - 1);
    let Begun::InFlight { lease_left } = world.begin(B, InDoubt::Rerun) else {
        panic!("not in flight")
    };
    assert_eq!(lease_left.as_duration().as_secs(), 1);
    world.pass(1);
    assert_eq!(world.begin(B, InDoubt::Rerun), Begun::Fresh { attempt: 2 });
}

#[test]
fn with_reject_a_crashed_call_stays_in_doubt_until_its_keep_ends() {
    let world = World::new();
    world.begin_fresh(A);
    world.pass(KEEP - 1);
    assert!(matches!(world.begin(B, InDoubt::Reject), Begun::InDoubt { .. }));
    world.pass(1);
    assert_eq!(world.begin(B, InDoubt::Reject), Begun::Fresh { attempt: 1 });
}

#[test]
fn a_renewed_claim_is_in_flight_as_long_as_it_is_renewed() {
    let world = World::new();
    let of_a = world.begin_fresh(A);
    for _ in 0..20 {
        world.pass(LEASE - 1);
        assert!(matches!(world.begin(B, InDoubt::Rerun), Begun::InFlight { .. }));
        // The version it began with is old by now: the lost swap brings the present one.
        assert_eq!(world.renew(A, of_a), Renewed::Renewed);
    }
    assert_eq!(world.complete(A, of_a, whole("A")), Completed::Recorded);
}

#[test]
fn an_outcome_is_remembered_from_when_it_was_recorded() {
    let world = World::new();
    let of_a = world.begin_fresh(A);
    world.pass(LEASE - 1);
    assert_eq!(world.complete(A, of_a, whole("A")), Completed::Recorded);
    world.pass(KEEP - 1);
    assert_eq!(world.begin(B, InDoubt::Rerun), Begun::Replay(whole("A")));
    world.pass(1);
    assert_eq!(world.begin(B, InDoubt::Rerun), Begun::Fresh { attempt: 1 });
}

/// P2: what was recorded of the request is still compared after it was completed.
#[test]
fn p2_after_completion_the_same_request_replays_and_another_one_is_refused() {
    let world = World::new();
    let of_a = world.begin_fresh(A);
    assert_eq!(world.renew(A, of_a), Renewed::Renewed);
    assert_eq!(world.complete(A, of_a, whole("A")), Completed::Recorded);
    assert_eq!(world.begin(B, InDoubt::Rerun), Begun::Replay(whole("A")));
    let mut other = begin(B, InDoubt::Rerun);
    other.claim.fingerprint = Some(body(b"ten keyboards"));
    assert!(matches!(world.ask_to_begin(&other), Begun::Mismatch { .. }));
    other.claim.operation = operation("payments.create");
    assert!(matches!(world.ask_to_begin(&other), Begun::KeyReused { .. }));
}

/// R2 and hono#92: that it ended and that its answer was kept are two things. It never runs again.
#[test]
fn r2_what_was_recorded_in_part_is_told_as_such_and_never_runs_again() {
    let world = World::new();
    let of_a = world.begin_fresh(A);
    assert_eq!(world.complete(A, of_a, part("status")), Completed::Recorded);
    assert_eq!(world.begin(B, InDoubt::Rerun), Begun::Replay(part("status")));
    assert_eq!(world.complete(A, of_a, whole("status and body")), Completed::Recorded);
    assert_eq!(world.begin(B, InDoubt::Rerun), Begun::Replay(whole("status and body")));
    assert_eq!(world.complete(A, of_a, part("status")), Completed::Recorded);
    assert_eq!(world.begin(B, InDoubt::Rerun), Begun::Replay(whole("status and body")));
}

/// An owner that has recorded a part goes on from there in one round trip, and can neither free
/// nor doubt what it has recorded.
#[test]
fn an_owner_goes_on_from_the_part_that_it_recorded() {
    let world = World::new();
    let at = world.begin_fresh(A);
    let recorded = world.drive(&complete(A, part("status")), held(A, at), &[]);
    let at = recorded.version.unwrap();
    let from_part = || Seen::presumed_done(claim(A), part("status"), at);
    let release = Release { token: token(A) };
    assert_eq!(world.drive(&release, from_part(), &[]).answer, Released::NotOurs);
    assert_eq!(world.drive(&mark_doubt(A), from_part(), &[]).answer, Marked::NotOurs);
    let rest = world.drive(&complete(A, whole("status and body")), from_part(), &[]);
    assert_eq!((rest.answer, rest.swaps), (Completed::Recorded, 1));
    assert_eq!(world.begin(B, InDoubt::Rerun), Begun::Replay(whole("status and body")));
}

// ===== in doubt =====

fn resolve(at: Version, resolution: Resolution) -> Resolve {
    Resolve { version: at, token: token(9), resolution }
}

fn done(outcome: &'static str) -> Resolution {
    Resolution::Done { outcome: whole(outcome), keep: keep() }
}

fn version(world: &World) -> Version {
    world.look().record.unwrap().version
}

/// The owner of a resolved call used to find its own token beside somebody else's outcome, and to
/// take its own for recorded.
#[test]
fn a_late_owner_of_a_resolved_call_is_told_what_was_resolved() {
    let world = World::new();
    let of_a = world.begin_fresh(A);
    assert_eq!(world.doubt(A, of_a), Marked::InDoubt);
    let at = version(&world);
    assert_eq!(world.resolve(&resolve(at, done("resolved"))), Resolved::Settled);
    let late = world.complete(A, of_a, whole("A"));
    assert_eq!(late, Completed::Superseded(Successor::Done(whole("resolved"))));
    assert_eq!(world.begin(B, InDoubt::Reject), Begun::Replay(whole("resolved")));
}

#[test]
fn a_resolution_loses_against_an_owner_that_came_back() {
    let world = World::new();
    let of_a = world.begin_fresh(A);
    world.pass(LEASE);
    let at = version(&world);
    assert_eq!(world.complete(A, of_a, whole("A")), Completed::Recorded);
    for resolution in [done("resolved"), Resolution::Free] {
        assert_eq!(world.resolve(&resolve(at, resolution)), Resolved::Changed);
    }
    assert_eq!(world.begin(B, InDoubt::Reject), Begun::Replay(whole("A")));
}

#[test]
fn of_two_resolutions_of_one_doubt_one_counts() {
    let world = World::new();
    let of_a = world.begin_fresh(A);
    assert_eq!(world.doubt(A, of_a), Marked::InDoubt);
    let at = version(&world);
    assert_eq!(world.resolve(&resolve(at, done("first"))), Resolved::Settled);
    let second = Resolve { token: token(8), ..resolve(at, done("second")) };
    assert_eq!(world.resolve(&second), Resolved::Changed);
    assert_eq!(world.begin(B, InDoubt::Reject), Begun::Replay(whole("first")));
}

#[test]
fn what_was_resolved_as_free_begins_anew_under_a_higher_version() {
    let world = World::new();
    let of_a = world.begin_fresh(A);
    assert_eq!(world.doubt(A, of_a), Marked::InDoubt);
    let at = version(&world);
    assert_eq!(world.resolve(&resolve(at, Resolution::Free)), Resolved::Settled);
    let of_b = world.begin_fresh(B);
    assert!(of_b > at);
    assert_eq!(world.complete(B, of_b, whole("B")), Completed::Recorded);
    let late = world.complete(A, of_a, whole("A"));
    assert_eq!(late, Completed::Superseded(Successor::Done(whole("B"))));
}

#[test]
fn reconcile_hands_the_application_what_it_needs_to_resolve() {
    let world = World::new();
    world.begin_fresh(A);
    world.pass(LEASE);
    let Begun::Reconcile(doubtful) = world.begin(B, InDoubt::Reconcile) else {
        panic!("the application was not asked")
    };
    assert_eq!(doubtful.record.claim.attempt, 1);
    let ask = resolve(doubtful.version, done("looked up"));
    assert_eq!(world.resolve(&ask), Resolved::Settled);
    assert_eq!(world.begin(B, InDoubt::Reconcile), Begun::Replay(whole("looked up")));
}

/// margince#423: the entry that stood in the way is gone when it is looked at. The presumption
/// "held at this version" then ends in nothing, and "free" in a claim.
#[test]
fn an_entry_that_vanishes_in_between_is_neither_held_nor_run_without_a_claim() {
    let world = World::new();
    let of_a = world.begin_fresh(A);
    world.pass(KEEP);
    assert_eq!(world.renew(A, of_a), Renewed::Lost);
    let nothing = Completed::Superseded(Successor::Nothing);
    assert_eq!(world.complete(A, of_a, whole("A")), nothing);
    let stale = seen(claim(A), State::Held, Ttl::ZERO);
    let driven = world.drive(&begin(B, InDoubt::Rerun), stale, &[]);
    assert_eq!(driven.answer, Begun::Fresh { attempt: 1 });
    assert_eq!(driven.swaps, 2);
    assert_eq!(driven.version, Some(version(&world)));
}
