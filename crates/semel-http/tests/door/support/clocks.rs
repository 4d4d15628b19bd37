//! How long something took, by the clock that a test may pause and by the one that it can't.

use std::time::Duration;

/// The time of tokio's clock since it was made: none where a paused clock did not move.
pub(crate) struct Passed(tokio::time::Instant);

#[expect(clippy::disallowed_methods, reason = "how much time passed is what tests ask here")]
impl Passed {
    pub(crate) fn since_now() -> Self {
        Self(tokio::time::Instant::now())
    }

    pub(crate) fn time(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Real time, which a paused clock does not show.
pub(crate) struct Stopwatch(std::time::Instant);

#[expect(clippy::disallowed_methods, reason = "how long it really takes is what tests ask here")]
impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(std::time::Instant::now())
    }

    pub(crate) fn time(&self) -> Duration {
        self.0.elapsed()
    }
}
