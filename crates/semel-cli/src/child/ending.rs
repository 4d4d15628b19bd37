//! When a command is told to end, and when it is ended.

use std::time::Duration;

use rustix::process::Signal;

use super::moment::Moment;
use super::status::End;
use super::tenure::{Gone, OnLost, Terms};

/// How often is looked what is left, at most.
const LOOK: Duration = Duration::from_millis(100);

/// The deadlines of a command that runs. Pure: it is given the time.
///
/// ```text
///   begun ............ terminate ---- grace ---- kill -- margin -- the tenure ends
/// ```
#[derive(Debug)]
pub(super) struct Ending {
    terms: Terms,
    /// When it must be gone for the tenure's sake.
    kill_at: Option<Moment>,
    /// When it must be gone because somebody asked it to end.
    patience_ends: Option<Moment>,
    stage: Stage,
    pub(super) gone: Option<Gone>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    Terminated,
    Killed,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    Nothing,
    Terminate,
    Kill,
}

impl Ending {
    pub(super) const fn new(terms: Terms) -> Self {
        Self { terms, kill_at: None, patience_ends: None, stage: Stage::Running, gone: None }
    }

    /// Takes note of what is left of the tenure. The new moment at which the command must be gone,
    /// if there is one: a tenure that was lost has no new one.
    pub(super) fn deadline(&mut self, left: Option<Duration>, now: Moment) -> Option<Moment> {
        if self.terms.on_lost == OnLost::Ignore || self.gone.is_some() {
            return None;
        }
        let kill_at = now.after(left?).before(self.terms.margin);
        self.kill_at = Some(kill_at);
        Some(kill_at)
    }

    /// Whether a loss would be news.
    pub(super) const fn may_be_lost(&self) -> bool {
        !matches!(self.gone, Some(Gone::Lost { .. }))
    }

    /// It is lost. Where another may have it already there is no time to be kind.
    pub(super) fn lost(&mut self, gone: Gone, now: Moment) {
        if self.terms.on_lost != OnLost::Ignore && matches!(gone, Gone::Lost { now: true, .. }) {
            self.kill_at = Some(now);
        }
        self.gone = Some(gone);
    }

    /// Somebody sent SIGTERM, and it was passed on.
    pub(super) fn asked_to_end(&mut self, now: Moment) {
        self.patience_ends.get_or_insert(now.after(self.terms.patience));
    }

    /// It ended. If it was killed past its time, the guardian did that: we were stopped, or slow.
    pub(super) fn ended(&mut self, end: End, now: Moment) {
        let killed = u8::try_from(Signal::KILL.as_raw()).map(End::Signaled) == Ok(end);
        if killed && self.kill_at.is_some_and(|kill_at| kill_at <= now) {
            self.gone.get_or_insert(Gone::Expiring);
        }
    }

    /// When to look again: at what is due, and so often that the guardian soon knows of a renewal.
    pub(super) fn wake(&self, now: Moment) -> Option<Moment> {
        let due = match self.stage {
            Stage::Running => {
                self.terminate_at().map(|at| at.min(now.after(self.terms.grace.max(LOOK))))
            }
            Stage::Terminated => self.kill_at,
            Stage::Killed => return None,
        };
        [due, self.patience_ends].into_iter().flatten().min()
    }

    fn terminate_at(&self) -> Option<Moment> {
        let grace = match self.terms.on_lost {
            OnLost::Kill => Duration::ZERO,
            OnLost::Term | OnLost::Ignore => self.terms.grace,
        };
        Some(self.kill_at?.before(grace))
    }

    /// What is to be done now. Each thing is due once.
    pub(super) fn due(&mut self, now: Moment) -> Due {
        let past = |moment: Option<Moment>| moment.is_some_and(|moment| moment <= now);
        if self.stage == Stage::Killed {
            return Due::Nothing;
        }
        if past(self.kill_at) || past(self.patience_ends) {
            self.stage = Stage::Killed;
            if past(self.kill_at) {
                self.gone.get_or_insert(Gone::Expiring);
            }
            return Due::Kill;
        }
        let is_lost = self.gone.is_some() && self.terms.on_lost != OnLost::Ignore;
        if self.stage == Stage::Running && (is_lost || past(self.terminate_at())) {
            self.gone.get_or_insert(Gone::Expiring);
            self.stage = Stage::Terminated;
            return if self.terms.on_lost == OnLost::Kill { self.kill() } else { Due::Terminate };
        }
        Due::Nothing
    }

    fn kill(&mut self) -> Due {
        self.stage = Stage::Killed;
        Due::Kill
    }
}
