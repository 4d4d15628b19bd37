//! The event loop around a command that runs.

use std::io;
use std::time::Duration;

use rustix::process::{Signal, WaitOptions, WaitStatus, waitpid};
use semel::timer;

use super::begin::{Control, Environment, Prepared};
use super::capture::Capture;
use super::ending::{Due, Ending};
use super::group::ProcessGroup;
use super::job::{self, InterruptKey, Stopped};
use super::moment::Moment;
use super::signals::Signals;
use super::status::{End, Ended, NotRun};
use super::tenure::{Gone, Tenure, Terms};
use super::terminal::Terminal;
use super::ward::Ward;
use crate::output;

/// How long the loop sleeps where nothing ends by itself.
const LONG: Duration = Duration::from_secs(3_600);
/// How often it looks whether what a command left behind is gone.
const LOOK: Duration = Duration::from_millis(5);

/// Runs a command under a tenure.
#[derive(Debug)]
pub(crate) struct Supervisor<'a, T> {
    tenure: &'a T,
    signals: &'a mut Signals,
    terms: Terms,
    group: ProcessGroup,
    ward: Ward,
    control: Control,
    terminal: Option<Terminal>,
    capture: Option<Capture>,
    ending: Ending,
    not_run: Option<NotRun>,
    /// Whether a CONT is on its way to us that has been acted on.
    has_gone_on: bool,
    begun: Moment,
}

impl<'a, T: Tenure> Supervisor<'a, T> {
    /// Lets the command begin; what it prints is kept up to `limit` bytes where it goes through us.
    pub(crate) fn start(
        Prepared { mut ward, waiting }: Prepared,
        environment: Environment,
        terms: Terms,
        limit: usize,
        tenure: &'a T,
        signals: &'a mut Signals,
    ) -> io::Result<Self> {
        let group = ProcessGroup::new(waiting.pid);
        let mut ending = Ending::new(terms);
        let deadline = ending.deadline(tenure.remaining(), Moment::now());
        if let Some(deadline) = deadline {
            ward.until(deadline);
        }
        let terminal = Terminal::ours();
        if let Some(terminal) = &terminal {
            terminal.give_to(group);
        }
        let (control, pipes) = waiting.go(deadline, environment)?;
        let capture = pipes.map(|pipes| pipes.capture(limit));
        Ok(Self {
            tenure,
            signals,
            terms,
            group,
            ward,
            control,
            terminal,
            capture,
            ending,
            not_run: None,
            has_gone_on: false,
            begun: Moment::now(),
        })
    }

    /// Runs it to its end. When this returns, nothing of its group runs any more.
    pub(crate) async fn run(mut self) -> io::Result<Ended> {
        let end = self.until_reaped().await?;
        let key = self.key(end);
        if self.control.is_untold() {
            self.not_run = self.control.told().await;
        }
        self.end_the_rest().await;
        self.ward.dismiss();
        let ran = self.begun.passed();
        let printed = match self.capture {
            Some(capture) => Some(capture.end().await),
            None => None,
        };
        Ok(Ended { end, not_run: self.not_run, key, gone: self.ending.gone, ran, printed })
    }

    /// The key that ended the command, if one did. The foreground is ours again after that.
    fn key(&self, end: End) -> Option<InterruptKey> {
        let terminal = self.terminal.as_ref()?;
        let key = match terminal.take_back_from(self.group) {
            true => InterruptKey::ForTheCommand,
            false if terminal.is_ours() => InterruptKey::ForAll,
            false => return None,
        };
        end.is_by(Signal::INT).then_some(key)
    }

    async fn until_reaped(&mut self) -> io::Result<End> {
        loop {
            let wake = self.ending.wake(Moment::now()).map_or(LONG, Moment::left);
            tokio::select! {
                biased;
                signal = self.signals.any() => match signal {
                    Some(signal) => self.pass_on(signal),
                    None => if let Some(end) = self.look()? { return Ok(end) },
                },
                gone = self.tenure.lost(), if self.ending.may_be_lost() => self.lost(gone),
                () = timer::sleep(wake) => self.on_time(),
                not_run = self.control.told() => self.not_run = not_run,
            }
        }
    }

    /// Looks what became of our children.
    fn look(&mut self) -> io::Result<Option<End>> {
        self.ward.look()?;
        let options = WaitOptions::NOHANG | WaitOptions::UNTRACED;
        while let Some((_, status)) = waitpid(Some(self.group.id()), options)? {
            if let Some(end) = End::of(status) {
                self.ending.ended(end, Moment::now());
                return Ok(Some(end));
            }
            self.on_stop(status);
        }
        Ok(None)
    }

    /// The command was stopped. From a shell's job all of it stops, as if the command were the
    /// job; elsewhere that is between whoever stopped it and the command.
    fn on_stop(&mut self, status: WaitStatus) {
        let Some(terminal) = self.terminal.as_mut().filter(|_| status.stopped()) else { return };
        let asks = [Signal::TTIN, Signal::TTOU].map(|signal| Some(signal.as_raw()));
        let asks = asks.contains(&status.stopping_signal());
        if asks && terminal.give_on_demand(self.group) {
            // It was not to have it, or a shell's `fg` put us into the foreground without a word.
            return self.go_on();
        }
        let had_it = terminal.take_back_from(self.group);
        // The CONT that woke us is not waited for: a TSTP on its heels takes it back, and would
        // leave us running and the command stopped; if both come, nobody knows in which order.
        self.has_gone_on = job::stop() == Stopped::AndContinued;
        if asks && !had_it && !self.has_gone_on {
            return self.on_nobody_at_the_terminal();
        }
        self.go_on();
    }

    /// Continued, the command would ask again, and again. The system lets such a one fail; here it
    /// can't know. One that asks once more while it ends stays stopped until it is killed.
    fn on_nobody_at_the_terminal(&mut self) {
        if self.ending.is_asked_to_end() {
            return;
        }
        output::prose(
            "semel: the command waits for a terminal to which nobody can bring it back; it is told to end",
        );
        self.pass_on(Signal::TERM);
    }

    /// The command goes on, unless its time is over: it slept, and its tenure did not.
    fn go_on(&mut self) {
        self.on_time();
        if let Some(terminal) = &self.terminal {
            terminal.give_to(self.group);
        }
        self.group.signal(Signal::CONT);
    }

    fn pass_on(&mut self, signal: Signal) {
        match signal {
            Signal::CONT if std::mem::take(&mut self.has_gone_on) => return,
            Signal::CONT => return self.go_on(),
            Signal::TERM => self.ending.asked_to_end(Moment::now()),
            _ => {}
        }
        self.group.signal(signal);
        if signal == Signal::TERM {
            // What is stopped can't end.
            self.group.signal(Signal::CONT);
        }
    }

    /// Looks what is left of the tenure, and does what is due.
    fn on_time(&mut self) {
        let now = Moment::now();
        if let Some(deadline) = self.ending.deadline(self.tenure.remaining(), now) {
            self.ward.until(deadline);
        }
        self.act(now);
    }

    fn lost(&mut self, gone: Gone) {
        let now = Moment::now();
        self.ending.lost(gone, now);
        self.act(now);
    }

    fn act(&mut self, now: Moment) {
        match self.ending.due(now) {
            Due::Nothing => {}
            Due::Terminate => self.group.terminate(),
            Due::Kill => self.group.kill(),
        }
    }

    /// Ends what the command left behind in its group: it would work on when another has the lock.
    async fn end_the_rest(&mut self) {
        if !self.group.is_alive() {
            return;
        }
        output::prose("semel: the command left processes behind; they are ended with it");
        self.group.terminate();
        let kill_at = Moment::now().after(self.terms.grace);
        while self.group.is_alive() {
            self.on_time();
            if kill_at.is_past() {
                self.group.kill();
            }
            timer::sleep(LOOK).await;
        }
    }
}
