//! What holds for every state and every question: each law is tried on every pair.

use semel_core::protocol::{Begun, Completed, Seen, SeenRecord, Write};
use semel_core::{Expect, Extent, Record, State};

use crate::asks::{Decided, Question, Reply, applied, questions, states};

/// Calls `law` with every state, question and decision, and says how often that was.
fn every(mut law: impl FnMut(&Seen, &Question, &Decided)) -> usize {
    let questions = questions();
    let states = states();
    for seen in &states {
        for question in &questions {
            law(seen, question, &question.on(seen));
        }
    }
    states.len() * questions.len()
}

/// As [`every`], with writes to what is there only.
fn every_change(mut law: impl FnMut(&SeenRecord, &Question, &Write)) {
    let mut changes = 0;
    every(|seen, question, decided| {
        if let (Some(there), Some((_, write))) = (&seen.record, &decided.write) {
            changes += 1;
            law(there, question, write);
        }
    });
    assert!(changes > 500, "only {changes} changes were looked at");
}

#[test]
fn the_alphabet_is_as_large_as_it_should_be() {
    let pairs = every(|_, _, _| {});
    assert!(pairs > 19_000, "{pairs} pairs");
}

#[test]
fn the_same_question_on_the_same_state_has_one_answer() {
    every(|seen, question, decided| assert_eq!(&question.on(seen), decided));
}

#[test]
fn a_write_names_what_was_looked_at_and_never_takes_just_anything() {
    every(|seen, question, decided| {
        let Some((expect, write)) = &decided.write else { return };
        let looked_at = match &seen.record {
            None => Expect::Absent,
            Some(there) => Expect::Version(there.version),
        };
        assert_eq!(*expect, looked_at, "{question:?}");
        let needs_entry = !matches!(write, Write::Put { .. });
        assert!(!needs_entry || seen.record.is_some(), "{question:?}");
    });
}

#[test]
fn only_the_holder_of_the_token_changes_a_claim_by_an_owners_question() {
    every_change(|there, question, _| {
        let Some(owner) = question.owner() else { return };
        assert_eq!(owner, there.record.claim.token, "{question:?}");
    });
}

/// I5 and I9: what is held or in doubt leaves that state by its holder, by a take-over after the
/// lease where the policy says so, or by a resolution after the lease.
#[test]
fn a_live_lease_is_ended_by_its_holder_only() {
    every_change(|there, question, _| {
        if there.record.state == State::Held && !there.lease_left.is_zero() {
            assert_eq!(question.token(), Some(there.record.claim.token), "{question:?}");
            assert_eq!(question.owner(), Some(there.record.claim.token), "{question:?}");
        }
    });
}

/// P2: whatever is recorded of the request survives every change of state.
#[test]
fn operation_and_fingerprint_survive_every_transition() {
    every_change(|there, question, write| {
        let Write::Put { record: Record { claim, .. }, .. } = write else { return };
        let was = &there.record.claim;
        if let Question::Begin(begin) = question {
            assert!(begin.claim.is_same_request(was), "{question:?}");
            assert_eq!(claim.fingerprint, begin.claim.fingerprint);
            assert_eq!(claim.attempt, was.attempt + 1);
            assert_eq!(claim.operation, was.operation);
            return;
        }
        let resolved = matches!(question, Question::Resolve(_));
        assert_eq!(claim.token == was.token, !resolved, "{question:?}");
        let kept = semel_core::Claim { token: was.token, ..claim.clone() };
        assert_eq!(&kept, was, "{question:?}");
    });
}

/// I2: an outcome is final until its keep ends. All that may still happen to it is that its own
/// owner adds the rest of what was recorded in part.
#[test]
fn done_is_final() {
    let mut completed = 0;
    every_change(|there, question, write| {
        let State::Done(outcome) = &there.record.state else { return };
        let Question::Complete(complete) = question else { panic!("{question:?} on {there:?}") };
        assert_eq!(complete.claim.token, there.record.claim.token);
        let Write::Put { record, .. } = write else { panic!("{question:?} writes {write:?}") };
        let State::Done(after) = &record.state else { panic!("{question:?} writes {write:?}") };
        assert_eq!((outcome.extent, after.extent), (Extent::Partial, Extent::Whole));
        completed += 1;
    });
    assert!(completed > 0);
}

#[test]
fn nothing_is_freed_but_by_its_holder_before_an_outcome_or_by_a_resolution_after_the_lease() {
    let mut freed = 0;
    every_change(|there, question, write| {
        if *write != Write::Delete {
            return;
        }
        freed += 1;
        match question {
            Question::Release(_) => assert_eq!(there.record.state, State::Held),
            Question::Resolve(_) => assert!(there.lease_left.is_zero()),
            _ => panic!("{question:?} frees {there:?}"),
        }
    });
    assert!(freed > 0);
}

/// D8: to be superseded is an answer to an owner, never something that is recorded.
#[test]
fn what_supersedes_an_owner_is_never_written() {
    every(|_, question, decided| {
        let superseded = matches!(decided.reply, Reply::Completed(Completed::Superseded(_)));
        assert!(!superseded || decided.write.is_none(), "{question:?}");
    });
}

#[test]
fn recorded_is_said_only_where_the_outcome_is_there_afterwards() {
    every(|seen, question, decided| {
        let Question::Complete(complete) = question else { return };
        let said = decided.reply == Reply::Completed(Completed::Recorded);
        let after = decided.write.as_ref().map(|(_, write)| applied(seen, write));
        let after = after.as_ref().unwrap_or(seen).record.as_ref();
        let there = after.is_some_and(|there| match &there.record.state {
            State::Done(outcome) => {
                let more =
                    outcome.extent == Extent::Whole && complete.outcome.extent == Extent::Partial;
                there.record.claim.token == complete.claim.token
                    && (*outcome == complete.outcome || more)
            }
            State::Held | State::Doubt(_) => false,
        });
        assert_eq!(said, there, "{question:?} on {seen:?}");
    });
}

/// I8: work begins only under a lease that has not ended.
#[test]
fn fresh_is_said_only_where_a_live_lease_of_ours_is_there_afterwards() {
    let mut fresh = 0;
    every(|seen, question, decided| {
        let Question::Begin(begin) = question else { return };
        let said = matches!(decided.reply, Reply::Begun(Begun::Fresh { .. }));
        let after = decided.write.as_ref().map(|(_, write)| applied(seen, write));
        let after = after.as_ref().unwrap_or(seen).record.as_ref();
        let ours = after.is_some_and(|there| {
            there.record.state == State::Held
                && there.record.claim.token == begin.claim.token
                && !there.lease_left.is_zero()
        });
        // It may be ours by another request of the same token: that is a misuse, and refused.
        assert!(!said || ours, "{question:?} on {seen:?}");
        assert!(decided.write.is_none() || said, "{question:?} on {seen:?}");
        fresh += usize::from(said);
    });
    assert!(fresh > 0);
}

#[test]
fn a_claim_is_never_forgotten_before_its_lease_ends() {
    let long = crate::fixtures::keep();
    let short = crate::fixtures::ttl(1);
    for seen in states() {
        for question in questions() {
            let question = match question {
                Question::Begin(ask) => {
                    Question::Begin(semel_core::protocol::Begin { lease: long, keep: short, ..ask })
                }
                Question::Renew(ask) => {
                    Question::Renew(semel_core::protocol::Renew { lease: long, keep: short, ..ask })
                }
                _ => continue,
            };
            match question.on(&seen).write {
                Some((_, Write::Put { lease, keep, .. } | Write::Renew { lease, keep })) => {
                    assert_eq!(lease, long);
                    assert!(keep >= lease, "{question:?}");
                }
                Some((_, Write::Delete)) => panic!("{question:?} deletes"),
                None => {}
            }
        }
    }
}

#[test]
fn what_is_over_has_no_lease() {
    every(|_, question, decided| {
        let Some((_, Write::Put { record, lease, .. })) = &decided.write else { return };
        assert_eq!(lease.is_zero(), record.state != State::Held, "{question:?}");
    });
}
