//! What the proxy does at the moment, for all its connections.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{broadcast, watch};

use super::{Cut, Direction};

/// The rules, and the means to tell pumps of their changes.
#[derive(Debug)]
pub(super) struct Rules {
    state: Mutex<State>,
    changed: watch::Sender<()>,
    severed: broadcast::Sender<Cut>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    to_server: Way,
    to_client: Way,
    pub(super) refusing: bool,
    pub(super) accepted: u64,
}

/// The rules for one direction.
#[derive(Debug, Default)]
pub(super) struct Way {
    pub(super) delay: Duration,
    pub(super) held: bool,
    pub(super) dropped: bool,
    pub(super) passed: u64,
    pub(super) cut: Option<(u64, Cut)>,
    pub(super) substitute: Option<Vec<u8>>,
}

/// What is to be done with some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Wait for another rule.
    Hold,
    /// Pass this many on, after a delay.
    Pass { bytes: usize, delay: Duration },
    /// Swallow all.
    Drop,
    /// Pass this on in place of all.
    Substitute(Vec<u8>),
    /// End the connection.
    Cut(Cut),
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            changed: watch::Sender::new(()),
            severed: broadcast::Sender::new(16),
        }
    }
}

impl State {
    pub(super) const fn way(&mut self, direction: Direction) -> &mut Way {
        match direction {
            Direction::ToServer => &mut self.to_server,
            Direction::ToClient => &mut self.to_client,
        }
    }
}

impl Rules {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let result = change(&mut self.lock());
        self.changed.send_replace(());
        result
    }

    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    pub(super) fn sever(&self, cut: Cut) {
        // Nobody may be there to hear it.
        let _ = self.severed.send(cut);
    }

    pub(super) fn severing(&self) -> broadcast::Receiver<Cut> {
        self.severed.subscribe()
    }

    pub(super) fn passed(&self, direction: Direction) -> u64 {
        self.lock().way(direction).passed
    }

    pub(super) fn accepted(&self) -> u64 {
        self.lock().accepted
    }

    /// What to do with `bytes` that would go this way now. What is let pass is counted at once.
    pub(super) fn order(&self, direction: Direction, bytes: usize) -> Order {
        let mut state = self.lock();
        let way = state.way(direction);
        if way.held {
            return Order::Hold;
        }
        if way.dropped {
            return Order::Drop;
        }
        if let Some(other) = way.substitute.take() {
            return Order::Substitute(other);
        }
        let mut bytes = bytes;
        if let Some((at, cut)) = way.cut {
            let left = usize::try_from(at - way.passed).unwrap_or(usize::MAX);
            if left == 0 {
                way.cut = None;
                return Order::Cut(cut);
            }
            bytes = bytes.min(left);
        }
        way.passed += bytes as u64;
        Order::Pass { bytes, delay: way.delay }
    }
}
