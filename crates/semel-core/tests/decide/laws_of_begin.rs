//! What holds for every begin: what is refused, and in which order.

use semel_core::protocol::{Begin, Begun, InDoubt, Seen, Verdict, Write, decide};
use semel_core::{Fingerprint, PartName, State};

use crate::asks::{begins, states};
use crate::fixtures::{begin, body, claim, lease, seen};

fn every(mut law: impl FnMut(&Seen, &Begin, Verdict<Begun>)) {
    for seen in states() {
        for begin in begins() {
            law(&seen, &begin, decide(&seen, &begin));
        }
    }
}

#[test]
fn another_operation_is_refused_before_anything_else_is_looked_at() {
    every(|seen, begin, verdict| {
        let reused = matches!(verdict, Verdict::Answer(Begun::KeyReused { .. }));
        let other = seen
            .record
            .as_ref()
            .filter(|there| there.record.claim.operation != begin.claim.operation);
        assert_eq!(reused, other.is_some(), "{begin:?} on {seen:?}");
        if let (Some(there), Verdict::Answer(Begun::KeyReused { recorded })) = (other, verdict) {
            assert_eq!(recorded, there.record.claim.operation);
        }
    });
}

/// idempot-js#191: a mismatch comes before in-flight, whether held, in doubt or done.
#[test]
fn another_request_is_refused_before_it_is_said_how_far_the_first_one_is() {
    let mut mismatches = 0;
    every(|seen, begin, verdict| {
        let Some(there) = &seen.record else { return };
        if there.record.claim.operation != begin.claim.operation {
            return;
        }
        let differs = begin.claim.differs_from(&there.record.claim);
        let expected = (!differs.is_empty()).then_some(Begun::Mismatch { differs });
        let actual = match verdict {
            Verdict::Answer(answer @ Begun::Mismatch { .. }) => Some(answer),
            _ => None,
        };
        mismatches += usize::from(actual.is_some());
        assert_eq!(actual, expected, "{begin:?} on {seen:?}");
    });
    assert!(mismatches > 0);
}

#[test]
fn a_mismatch_names_the_parts_that_differ_and_no_values() {
    let print = |query: &[u8], body: &[u8]| {
        Some(Fingerprint::builder().part("query", query).part("body", body).build())
    };
    let mut recorded = claim(1);
    recorded.fingerprint = print(b"secret=1", b"x");
    let seen = seen(recorded, State::Held, lease());
    let mut ask = begin(2, InDoubt::Rerun);
    ask.claim.fingerprint = print(b"secret=2", b"x");
    let answer = decide(&seen, &ask);
    let differs = vec![PartName::new("query")];
    assert_eq!(answer, Verdict::Answer(Begun::Mismatch { differs }));
    assert!(!format!("{answer:?} {seen:?} {ask:?}").contains("secret"));
}

#[test]
fn without_a_fingerprint_on_one_side_there_is_no_mismatch() {
    for (asked, recorded) in [(None, Some(body(b"x"))), (Some(body(b"x")), None), (None, None)] {
        let mut there = claim(1);
        there.fingerprint = recorded;
        let mut ask = begin(2, InDoubt::Rerun);
        ask.claim.fingerprint = asked;
        let verdict = decide(&seen(there, State::Held, lease()), &ask);
        assert!(matches!(verdict, Verdict::Answer(Begun::InFlight { .. })), "{verdict:?}");
    }
}

#[test]
fn what_is_done_is_replayed_as_it_was_recorded() {
    every(|seen, begin, verdict| {
        let Some(there) = &seen.record else { return };
        let State::Done(outcome) = &there.record.state else { return };
        if there.record.claim.is_same_request(&begin.claim) {
            assert_eq!(verdict, Verdict::Answer(Begun::Replay(outcome.clone())));
        }
    });
}

#[test]
fn a_claim_of_somebody_else_is_taken_over_only_by_rerun_and_only_after_its_lease() {
    let mut taken = 0;
    every(|seen, begin, verdict| {
        let Some(there) = &seen.record else { return };
        let Verdict::Write { write: Write::Put { .. }, .. } = verdict else { return };
        taken += 1;
        assert_eq!(begin.in_doubt, InDoubt::Rerun, "{seen:?}");
        assert!(there.lease_left.is_zero(), "{seen:?}");
        assert!(!matches!(there.record.state, State::Done(_)), "{seen:?}");
    });
    assert!(taken > 0);
}

#[test]
fn the_last_attempt_is_the_last_number() {
    let mut recorded = claim(1);
    recorded.attempt = u32::MAX;
    let over = seen(recorded, State::Held, semel_core::Ttl::ZERO);
    let Verdict::Write { answer, .. } = decide(&over, &begin(2, InDoubt::Rerun)) else {
        panic!("not taken over")
    };
    assert_eq!(answer, Begun::Fresh { attempt: u32::MAX });
}
