//! What a command runs under: something that is renewed, that ends, and that can be lost.

use std::time::Duration;

/// A lock, or a claim on a key, as the supervisor sees it.
pub(crate) trait Tenure {
    /// What is left of it by our own clock; none for what does not end by itself. It must be
    /// shorter than what the store would say, never longer.
    fn remaining(&self) -> Option<Duration>;

    /// Ends when it is lost, and says why. Cancel safe; asked again, it answers again.
    fn lost(&self) -> impl Future<Output = Gone>;
}

/// Why the command was ended for what it ran under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Gone {
    /// It could not be renewed in time.
    Expiring,
    /// It is lost: why, and whether another may have it already.
    Lost { why: String, now: bool },
}

/// What happens to the command when that goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnLost {
    /// SIGTERM, and SIGKILL in time.
    Term,
    /// SIGKILL.
    Kill,
    /// Nothing.
    Ignore,
}

/// How much time there is for what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) on_lost: OnLost,
    /// From SIGTERM to SIGKILL when the tenure ends.
    pub(crate) grace: Duration,
    /// From SIGKILL to the end of the tenure: what dying takes.
    pub(crate) margin: Duration,
    /// From a SIGTERM that was passed on to SIGKILL.
    pub(crate) patience: Duration,
}

impl Terms {
    /// Nothing is ended for time: for a tenure that doesn't end by itself.
    pub(crate) const fn without_end(patience: Duration) -> Self {
        Self { on_lost: OnLost::Ignore, grace: patience, margin: Duration::ZERO, patience }
    }
}
