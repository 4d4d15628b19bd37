//! Lost replies over the memory store: whatever way the swaps go, the answer is the one that a
//! clear way would have given, and so is what is there in the end (D9, F-61, F-62, F-63).

use semel_core::protocol::{
    Begun, Completed, InDoubt, Marked, Release, Released, Renewed, Resolution, Resolve, Resolved,
    Seen, SeenRecord, Successor,
};
use semel_core::{State, Version};

use crate::fixtures::{begin, claim, complete, keep, lease, part, token, whole};
use crate::world::{Way, World, held, mark_doubt, renew};

const A: u8 = 1;
const B: u8 = 2;

/// Every way that up to three swaps can go.
fn ways() -> Vec<Vec<Way>> {
    let one = [Way::Clear, Way::ReplyLost, Way::RequestLost];
    let mut all = vec![vec![]];
    for length in 0..3 {
        let longer: Vec<Vec<Way>> = all
            .iter()
            .filter(|ways| ways.len() == length)
            .flat_map(|ways| one.map(|last| [&ways[..], &[last]].concat()))
            .collect();
        all.extend(longer);
    }
    all
}

/// Where only a lost reply can make a difference to the answer.
fn some_reply_was_lost(ways: &[Way]) -> bool {
    ways.iter().find(|way| **way != Way::RequestLost) == Some(&Way::ReplyLost)
}

fn record(world: &World) -> SeenRecord {
    world.look().record.unwrap()
}

#[test]
fn begin_is_ours_once_it_was_applied() {
    for ways in ways() {
        let world = World::new();
        let ask = begin(A, InDoubt::Rerun);
        let driven = world.drive(&ask, Seen::presumed_free(), &ways);
        assert_eq!(driven.answer, Begun::Fresh { attempt: 1 }, "{ways:?}");
        assert_eq!(driven.version, Some(record(&world).version), "{ways:?}");
        assert_eq!(record(&world).record.claim, claim(A), "{ways:?}");
    }
}

#[test]
fn a_take_over_is_ours_once_it_was_applied() {
    for ways in ways() {
        let world = World::new();
        world.begin_fresh(A);
        world.pass(60);
        let driven = world.drive(&begin(B, InDoubt::Rerun), world.look(), &ways);
        assert_eq!(driven.answer, Begun::Fresh { attempt: 2 }, "{ways:?}");
        assert_eq!(record(&world).record.claim.token, token(B), "{ways:?}");
    }
}

#[test]
fn complete_is_recorded_once() {
    for ways in ways() {
        for outcome in [whole("A"), part("A")] {
            let world = World::new();
            let at = world.begin_fresh(A);
            let driven = world.drive(&complete(A, outcome.clone()), held(A, at), &ways);
            assert_eq!(driven.answer, Completed::Recorded, "{ways:?}");
            assert_eq!(driven.version, Some(record(&world).version), "{ways:?}");
            assert_eq!(record(&world).record.state, State::Done(outcome), "{ways:?}");
            assert_eq!(record(&world).record.claim, claim(A), "{ways:?}");
        }
    }
}

#[test]
fn the_rest_of_a_part_is_recorded_once() {
    for ways in ways() {
        let world = World::new();
        let at = world.begin_fresh(A);
        assert_eq!(world.complete(A, at, part("A")), Completed::Recorded);
        let driven = world.drive(&complete(A, whole("A")), world.look(), &ways);
        assert_eq!(driven.answer, Completed::Recorded, "{ways:?}");
        assert_eq!(record(&world).record.state, State::Done(whole("A")), "{ways:?}");
    }
}

#[test]
fn release_frees_the_key_and_never_says_that_it_was_not_ours() {
    for ways in ways() {
        let world = World::new();
        let at = world.begin_fresh(A);
        let driven = world.drive(&Release { token: token(A) }, held(A, at), &ways);
        let lost = some_reply_was_lost(&ways);
        let expected = if lost { Released::AlreadyGone } else { Released::Released };
        assert_eq!(driven.answer, expected, "{ways:?}");
        assert_eq!(world.look().record, None, "{ways:?}");
    }
}

#[test]
fn renew_goes_on_with_a_whole_lease() {
    for ways in ways() {
        let world = World::new();
        let at = world.begin_fresh(A);
        world.pass(40);
        let driven = world.drive(&renew(A), held(A, at), &ways);
        assert_eq!(driven.answer, Renewed::Renewed, "{ways:?}");
        assert_eq!(driven.version, Some(record(&world).version), "{ways:?}");
        assert_eq!(record(&world).lease_left, lease(), "{ways:?}");
    }
}

#[test]
fn doubt_is_marked_once() {
    for ways in ways() {
        let world = World::new();
        let at = world.begin_fresh(A);
        let driven = world.drive(&mark_doubt(A), held(A, at), &ways);
        assert_eq!(driven.answer, Marked::InDoubt, "{ways:?}");
        assert!(matches!(record(&world).record.state, State::Doubt(_)), "{ways:?}");
    }
}

#[test]
fn a_resolution_is_settled_once() {
    for ways in ways() {
        let done = Resolution::Done { outcome: whole("C"), keep: keep() };
        for resolution in [done, Resolution::Free] {
            let world = World::new();
            let at = world.begin_fresh(A);
            assert_eq!(world.doubt(A, at), Marked::InDoubt);
            let version = record(&world).version;
            let ask = Resolve { version, token: token(9), resolution: resolution.clone() };
            let driven = world.drive(&ask, world.look(), &ways);
            assert_eq!(driven.answer, Resolved::Settled, "{ways:?} {resolution:?}");
            let free = world.look().record.is_none();
            assert_eq!(free, resolution == Resolution::Free, "{ways:?}");
        }
    }
}

// ===== what others do before the owner looks again =====

/// The claim was made, its reply was lost, and by the time the caller looks, its lease is over:
/// it must not begin under a lease that anybody may take over. It used to.
#[test]
fn a_claim_that_is_found_to_be_ours_too_late_is_renewed_before_work_begins() {
    let world = World::new();
    let ask = begin(A, InDoubt::Reject);
    world.drive(&ask, Seen::presumed_free(), &[]);
    world.pass(60);
    let driven = world.drive(&ask, world.look(), &[]);
    assert_eq!(driven.answer, Begun::Fresh { attempt: 1 });
    assert_eq!(record(&world).lease_left, lease());
    assert_eq!(driven.version, Some(record(&world).version));
}

/// F-61: the claim was made, its reply was lost, and somebody took over: it is not ours any more.
#[test]
fn a_claim_that_was_lost_before_its_reply_came_is_not_taken_for_ours() {
    let world = World::new();
    let ask = begin(A, InDoubt::Rerun);
    world.drive(&ask, Seen::presumed_free(), &[]);
    world.pass(60);
    world.begin_fresh(B);
    let again = world.drive(&ask, world.look(), &[]).answer;
    assert!(matches!(again, Begun::InFlight { .. }), "{again:?}");
}

/// The completion was applied, its reply was lost, and everybody else has long replayed it.
#[test]
fn a_completion_is_found_to_be_ours_after_others_replayed_it() {
    let world = World::new();
    let at = world.begin_fresh(A);
    let ask = complete(A, whole("A"));
    world.drive(&ask, held(A, at), &[]);
    world.pass(3600);
    assert_eq!(world.begin(B, InDoubt::Rerun), Begun::Replay(whole("A")));
    let before = world.snapshot();
    assert_eq!(world.drive(&ask, held(A, at), &[Way::ReplyLost]).answer, Completed::Recorded);
    assert_eq!(world.snapshot(), before);
}

/// F-63: the release was applied, its reply was lost, and the next owner has begun.
#[test]
fn a_second_try_of_a_release_does_not_touch_the_next_owner() {
    let world = World::new();
    let at = world.begin_fresh(A);
    let release = Release { token: token(A) };
    world.drive(&release, held(A, at), &[]);
    let of_b = world.begin_fresh(B);
    let before = world.snapshot();
    let again = world.drive(&release, held(A, at), &[Way::ReplyLost, Way::ReplyLost]);
    assert_eq!(again.answer, Released::NotOurs);
    assert_eq!(world.snapshot(), before);
    assert_eq!(world.complete(B, of_b, whole("B")), Completed::Recorded);
}

/// F-26: a renewal that was under way when the call ended revives nothing, whenever it arrives.
#[test]
fn a_late_renewal_does_not_revive_what_has_ended() {
    let ended: [fn(&World, Version); 3] = [
        |world, at| assert_eq!(world.complete(A, at, whole("A")), Completed::Recorded),
        |world, at| assert_eq!(world.release(A, at), Released::Released),
        |world, at| assert_eq!(world.doubt(A, at), Marked::InDoubt),
    ];
    for end in ended {
        let world = World::new();
        let at = world.begin_fresh(A);
        end(&world, at);
        let before = world.snapshot();
        for ways in ways() {
            assert_eq!(world.drive(&renew(A), held(A, at), &ways).answer, Renewed::Lost);
        }
        assert_eq!(world.snapshot(), before);
    }
}

/// The first try of a begin is still on its way when the second one is applied, and arrives after
/// the call has ended: it loses.
#[test]
fn a_begin_that_arrives_twice_claims_once() {
    let world = World::new();
    let ask = begin(A, InDoubt::Rerun);
    let first = world.drive(&ask, Seen::presumed_free(), &[Way::RequestLost]);
    assert_eq!(first.swaps, 2);
    let at = first.version.unwrap();
    assert_eq!(world.complete(A, at, whole("A")), Completed::Recorded);
    let before = world.snapshot();
    let late = world.drive(&ask, Seen::presumed_free(), &[]);
    assert_eq!(late.answer, Begun::Replay(whole("A")));
    assert_eq!(world.snapshot(), before);
}

/// Whoever is superseded is told so, also where the reply to that was lost.
#[test]
fn superseded_is_not_confused_with_a_lost_reply() {
    for ways in ways() {
        let world = World::new();
        let of_a = world.begin_fresh(A);
        world.pass(60);
        let of_b = world.begin_fresh(B);
        assert_eq!(world.complete(B, of_b, whole("B")), Completed::Recorded);
        let late = world.drive(&complete(A, whole("A")), held(A, of_a), &ways);
        let expected = Completed::Superseded(Successor::Done(whole("B")));
        assert_eq!(late.answer, expected, "{ways:?}");
    }
}
