//! Lost replies, for every state and question: the write was applied, nobody said so, and the
//! same question is asked again of what is there now. The answer is the one that got lost.

use semel_core::protocol::{Released, Seen, Write};

use crate::asks::{Question, Reply, applied, questions, states};

/// Every state and question that ends in a write, with the write and the answer that goes with it.
fn every_write(mut law: impl FnMut(&Seen, &Question, &Write, &Reply)) {
    let questions = questions();
    let mut writes = 0;
    for seen in states() {
        for question in &questions {
            let decided = question.on(&seen);
            if let Some((_, write)) = &decided.write {
                writes += 1;
                law(&seen, question, write, &decided.reply);
            }
        }
    }
    assert!(writes > 500, "only {writes} writes were looked at");
}

/// The answer to a question that is asked again and again, each write of which is applied.
fn asked_again(question: &Question, seen: &Seen) -> Reply {
    let mut seen = seen.clone();
    for _ in 0..3 {
        let decided = question.on(&seen);
        match decided.write {
            None => return decided.reply,
            Some((_, write)) => seen = applied(&seen, &write),
        }
    }
    question.on(&seen).reply
}

/// A release that was applied finds nothing left to release: that is what it says.
fn same(first: &Reply, again: &Reply) -> bool {
    let released = Reply::Released(Released::Released);
    first == again || (*first == released && *again == Reply::Released(Released::AlreadyGone))
}

#[test]
fn a_write_whose_reply_was_lost_is_settled_by_asking_again() {
    every_write(|seen, question, write, lost| {
        let again = asked_again(question, &applied(seen, write));
        assert!(same(lost, &again), "{question:?} on {seen:?}: {lost:?}, then {again:?}");
    });
}

#[test]
fn a_write_that_was_applied_is_not_made_a_second_time_unless_it_renews() {
    every_write(|seen, question, write, _| {
        let again = question.on(&applied(seen, write)).write;
        let renews = matches!(question, Question::Renew(_));
        assert_eq!(again.is_some(), renews, "{question:?} on {seen:?}");
    });
}

#[test]
fn a_write_that_was_not_applied_is_tried_again_on_what_is_there() {
    every_write(|seen, question, write, lost| {
        let again = question.on(seen);
        assert_eq!(again.write.as_ref().map(|(_, write)| write), Some(write));
        assert_eq!(&again.reply, lost);
    });
}

/// Whatever one other party asks in between, an applied completion is there to be found.
#[test]
fn a_completion_whose_reply_was_lost_stays_whatever_others_ask_in_between() {
    let others = questions();
    every_write(|seen, question, write, _| {
        let Question::Complete(complete) = question else { return };
        let done = applied(seen, write);
        let of_others = |other: &&Question| other.owner() != Some(complete.claim.token);
        let changes = |other: &&Question| other.on(&done).write.is_some();
        let changed = others.iter().filter(of_others).find(changes);
        assert!(changed.is_none(), "{changed:?} changes {done:?}");
    });
}
