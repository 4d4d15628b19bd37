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

    /// Whether somebody did.
    pub(super) const fn is_asked_to_end(&self) -> bool {
        self.patience_ends.is_some()
    }

    /// It ended. If it was killed past its time, the guardian did that: we were stopped, or slow.
    pub(super) fn ended(&mut self, end: End, now: Moment) {
        if end.is_by(Signal::KILL) && self.kill_at.is_some_and(|kill_at| kill_at <= now) {
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

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn ending(on_lost: OnLost) -> (Ending, Moment) {
        let terms =
            Terms { on_lost, grace: millis(200), margin: millis(50), patience: millis(400) };
        (Ending::new(terms), Moment::now())
    }

    /// What is due at each of these milliseconds.
    fn due(ending: &mut Ending, start: Moment, times: &[u64]) -> Vec<Due> {
        times.iter().map(|time| ending.due(start.after(millis(*time)))).collect()
    }

    #[test]
    fn term_comes_a_grace_before_the_kill_and_the_kill_a_margin_before_the_end_each_once() {
        let (mut ending, start) = ending(OnLost::Term);
        let kill_at = ending.deadline(Some(millis(1_000)), start);
        assert_eq!(kill_at, Some(start.after(millis(950))));
        let came = due(&mut ending, start, &[0, 749, 750, 949, 950, 2_000]);
        let (none, term, kill) = (Due::Nothing, Due::Terminate, Due::Kill);
        assert_eq!(came, [none, none, term, none, kill, none]);
        assert_eq!(ending.gone, Some(Gone::Expiring));
    }

    #[test]
    fn a_renewal_puts_both_off_and_none_does_once_the_command_was_told() {
        let (mut ending, start) = ending(OnLost::Term);
        ending.deadline(Some(millis(1_000)), start);
        ending.deadline(Some(millis(2_000)), start);
        assert_eq!(due(&mut ending, start, &[1_749, 1_750]), [Due::Nothing, Due::Terminate]);
        assert_eq!(ending.deadline(Some(millis(9_000)), start), None);
        assert_eq!(due(&mut ending, start, &[1_950]), [Due::Kill]);
    }

    #[test]
    fn what_is_anothers_already_is_killed_at_once_and_what_is_merely_revoked_has_its_lease() {
        for (now, came) in [(true, Due::Kill), (false, Due::Terminate)] {
            let (mut ending, start) = ending(OnLost::Term);
            ending.deadline(Some(millis(1_000)), start);
            ending.lost(Gone::Lost { why: String::new(), now }, start);
            assert_eq!(due(&mut ending, start, &[0]), [came], "{now}");
            assert!(!ending.may_be_lost());
        }
    }

    #[test]
    fn kill_sends_no_term_and_ignore_nothing_at_all() {
        let (mut killed, start) = ending(OnLost::Kill);
        killed.deadline(Some(millis(1_000)), start);
        assert_eq!(due(&mut killed, start, &[949, 950]), [Due::Nothing, Due::Kill]);
        let (mut ignored, start) = ending(OnLost::Ignore);
        assert_eq!(ignored.deadline(Some(millis(1_000)), start), None);
        ignored.lost(Gone::Lost { why: String::new(), now: true }, start);
        assert_eq!(due(&mut ignored, start, &[5_000]), [Due::Nothing]);
        assert!(matches!(ignored.gone, Some(Gone::Lost { .. })));
    }

    #[test]
    fn who_was_asked_to_end_is_killed_after_its_time_and_lost_nothing() {
        let (mut ending, start) = ending(OnLost::Term);
        ending.deadline(Some(millis(60_000)), start);
        ending.asked_to_end(start);
        ending.asked_to_end(start.after(millis(300)));
        assert_eq!(due(&mut ending, start, &[399, 400]), [Due::Nothing, Due::Kill]);
        assert_eq!(ending.gone, None);
    }

    #[test]
    fn who_was_killed_past_its_time_was_killed_by_the_guardian() {
        let (mut late, start) = ending(OnLost::Term);
        late.deadline(Some(millis(1_000)), start);
        late.ended(End::Signaled(9), start.after(millis(900)));
        assert_eq!(late.gone, None);
        late.ended(End::Exited(0), start.after(millis(1_000)));
        assert_eq!(late.gone, None);
        late.ended(End::Signaled(9), start.after(millis(1_000)));
        assert_eq!(late.gone, Some(Gone::Expiring));
    }
}
