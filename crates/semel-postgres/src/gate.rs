//! Keeps calls from storming a server that can't be reached: after a connection could not be
//! made, none is tried for a while, and calls fail at once with what was wrong.

use std::time::Duration;

use parking_lot::Mutex;
use semel_core::{StoreError, StoreErrorKind, StoreResult};
use tokio::time::Instant;

use crate::timer;

/// The pause after the first failure, and the longest after many.
const PAUSE: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct Gate(Mutex<Option<Closed>>);

#[derive(Debug)]
struct Closed {
    until: Instant,
    pause: Duration,
    kind: StoreErrorKind,
    message: String,
}

impl Gate {
    /// Whether a connection may be tried now; else why not.
    pub(crate) fn check(&self) -> StoreResult<()> {
        match &*self.0.lock() {
            Some(closed) if timer::now() < closed.until => {
                Err(StoreError::of(closed.kind, closed.message.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Takes note of how a try ended.
    pub(crate) fn note<T>(&self, tried: &StoreResult<T>) {
        let mut state = self.0.lock();
        let Err(error) = tried else {
            *state = None;
            return;
        };
        let pause = state.as_ref().map_or(PAUSE, |closed| (closed.pause * 2).min(LONGEST));
        *state = Some(Closed {
            until: timer::now() + timer::jittered(pause),
            pause,
            kind: error.kind(),
            message: error.message().to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> StoreResult<()> {
        Err(StoreError::not_applied("nobody there"))
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_failure_nothing_is_tried_for_a_while_and_longer_each_time() {
        let gate = Gate::default();
        gate.check().expect("it is open at first");
        for (pause, least, most) in [(0, 10, 30), (1, 20, 60), (9, 500, 1_500)] {
            (0..pause).for_each(|_| gate.note(&failed()));
            gate.note(&failed());
            timer::sleep(Duration::from_millis(least - 1)).await;
            assert_eq!(gate.check().expect_err("too soon").message(), "nobody there");
            timer::sleep(Duration::from_millis(most - least + 1)).await;
            gate.check().expect("time is up");
            gate.note(&Ok(()));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_success_opens_it() {
        let gate = Gate::default();
        gate.note(&failed());
        gate.note(&Ok(()));
        gate.check().expect("it is open");
    }
}
