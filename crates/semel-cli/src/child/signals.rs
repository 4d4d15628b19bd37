//! The signals that are passed on to the command.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use rustix::process::Signal;
use tokio::signal::unix::{self, SignalKind};

use super::job::InterruptKey;
use super::terminal::Terminal;

/// What is passed on. Any other deadly signal ends us, and the command with us.
const PASSED_ON: [Signal; 10] = [
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::TERM,
    Signal::USR1,
    Signal::USR2,
    Signal::ALARM,
    Signal::WINCH,
    Signal::TSTP,
    Signal::CONT,
];

/// Signals to us, from the moment of [`Signals::register`].
#[derive(Debug)]
pub(crate) struct Signals {
    taken: Vec<(Signal, unix::Signal)>,
    child: unix::Signal,
}

impl Signals {
    /// Takes them over from the system's defaults. One that was ignored when we were started
    /// (`nohup`) stays ignored, for the command too.
    pub(crate) fn register() -> io::Result<Self> {
        let ignored = Ignored::read();
        let taken = PASSED_ON.into_iter().filter(|signal| !ignored.has(*signal));
        let take =
            |signal: Signal| Ok((signal, unix::signal(SignalKind::from_raw(signal.as_raw()))?));
        Ok(Self {
            taken: taken.map(take).collect::<io::Result<_>>()?,
            child: unix::signal(SignalKind::child())?,
        })
    }

    /// The next signal to pass on. Cancel safe.
    pub(crate) async fn next(&mut self) -> Signal {
        poll_fn(|cx| {
            for (signal, stream) in &mut self.taken {
                if let Poll::Ready(Some(())) = stream.poll_recv(cx) {
                    return Poll::Ready(*signal);
                }
            }
            Poll::Pending
        })
        .await
    }

    /// The next signal that would have ended us. Cancel safe; others that come are dropped.
    pub(crate) async fn deadly(&mut self) -> Signal {
        loop {
            let signal = self.next().await;
            if !matches!(signal, Signal::WINCH | Signal::TSTP | Signal::CONT) {
                return signal;
            }
        }
    }

    /// The key that a deadly signal came from, if it did.
    pub(crate) fn key(signal: Signal) -> Option<InterruptKey> {
        let at_a_terminal = || Terminal::ours().is_some_and(|terminal| terminal.is_ours());
        (signal == Signal::INT && at_a_terminal()).then_some(InterruptKey::ForAll)
    }

    /// The next signal to pass on, or none for news of a child. Cancel safe.
    pub(super) async fn any(&mut self) -> Option<Signal> {
        let Self { taken, child } = self;
        poll_fn(|cx| {
            if child.poll_recv(cx).is_ready() {
                return Poll::Ready(None);
            }
            for (signal, stream) in &mut *taken {
                if stream.poll_recv(cx).is_ready() {
                    return Poll::Ready(Some(*signal));
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// The signals that this process was started to ignore.
#[derive(Debug, Clone, Copy)]
struct Ignored(u64);

impl Ignored {
    /// From what the system tells of us; where it does not (outside Linux), none.
    fn read() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        Self(mask.unwrap_or_default())
    }

    fn has(self, signal: Signal) -> bool {
        let bit = u32::try_from(signal.as_raw() - 1).unwrap_or(63);
        self.0 >> bit & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_signal_is_the_lowest_bit() {
        let ignored = Ignored(0b1001);
        assert!(ignored.has(Signal::HUP) && ignored.has(Signal::ILL));
        assert!(!ignored.has(Signal::INT) && !ignored.has(Signal::TERM));
    }
}
