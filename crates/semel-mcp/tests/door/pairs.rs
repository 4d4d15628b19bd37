//! Every ordered pair of doors: what one recorded, asked for at the other.

use super::ways::{Doors, Heard, OPERATION, Way};

fn answer(number: usize) -> Heard {
    Heard::Answer(format!("order {number}"))
}

/// What is heard at the second door, after the first recorded an answer.
fn expected(first: Way, second: Way) -> Heard {
    if first == second {
        return answer(1);
    }
    // An error that stands is told to any function that has a rule for it.
    if Way::are_functions([first, second]) {
        let is_told = first == Way::Error || [first, second] == [Way::Value, Way::Error];
        return if is_told { answer(1) } else { unavailable() };
    }
    reused()
}

fn reused() -> Heard {
    Heard::Refused {
        message_key: "caching.idempotency.key_reused".to_owned(),
        operation: Some(OPERATION.to_owned()),
        recorded: Some(format!("{OPERATION} (through another door)")),
    }
}

fn unavailable() -> Heard {
    let message_key = "caching.idempotency.response_unavailable".to_owned();
    Heard::Refused { message_key, operation: None, recorded: None }
}

fn pairs() -> impl Iterator<Item = (Way, Way)> {
    Way::ALL.into_iter().flat_map(|first| Way::ALL.map(|second| (first, second)))
}

/// R3.
#[tokio::test]
async fn r3_what_one_door_recorded_is_key_reused_at_every_other_and_runs_once() {
    for (first, second) in pairs() {
        let doors = Doors::open().await;
        assert_eq!(doors.ask(first, "k").await, answer(1), "{first:?}");
        for _ in 0..2 {
            let heard = doors.ask(second, "k").await;
            assert_eq!(heard, expected(first, second), "{first:?}, then {second:?}");
        }
        // That somebody else asked changes nothing at the first.
        assert_eq!(doors.ask(first, "k").await, answer(1), "{first:?}, after {second:?}");
        assert_eq!(doors.runs(), 1, "{first:?}, then {second:?}");
    }
}

/// R3, where the second comes while the first is at work: it waits, and is told the same.
#[tokio::test]
async fn r3_two_doors_at_once_are_one_execution() {
    for (one, other) in pairs() {
        let doors = Doors::open().await;
        let (left, right) = tokio::join!(doors.ask(one, "k"), doors.ask(other, "k"));
        let is_either = (left == answer(1) && right == expected(one, other))
            || (right == answer(1) && left == expected(other, one));
        assert!(is_either, "{one:?}: {left:?}; {other:?}: {right:?}");
        assert_eq!(doors.runs(), 1, "{one:?} and {other:?}");
    }
}
