//! A connection that is made again whenever it is lost.

use std::time::Duration;

use tokio::sync::watch;
use tokio::task::AbortHandle;
use tracing::{debug, warn};

use super::backoff::Backoff;
use super::dial::Dialer;
use super::wire::Live;
use crate::timer::{Instant, by, now, pass};
use crate::trouble::Failure;

/// A connection that lasted this long was a good one. A server may close those that are idle.
const LASTING: Duration = Duration::from_secs(5);

/// A connection to one server, or to whoever is the primary. Dropped, it is closed.
#[derive(Debug)]
pub(crate) struct Link {
    state: watch::Receiver<State>,
    task: AbortHandle,
}

#[derive(Debug, Clone)]
enum State {
    Starting,
    Up(Live),
    Down { since: Instant, failure: Failure },
}

impl Link {
    /// Begins to connect, and does not stop.
    pub(crate) fn start(dialer: Dialer) -> Self {
        let (told, state) = watch::channel(State::Starting);
        let task = tokio::spawn(supervise(dialer, told)).abort_handle();
        Self { state, task }
    }

    /// Whether there is a connection, as far as is known.
    pub(crate) fn is_up(&self) -> bool {
        matches!(&*self.state.borrow(), State::Up(live) if !live.has_ended())
    }

    /// A connection that is up.
    ///
    /// Waits for one until `deadline`, but not once there has been none for as long as
    /// `patience`, nor for what waiting can't help.
    pub(crate) async fn ready(
        &self,
        deadline: Instant,
        patience: Duration,
    ) -> Result<Live, Failure> {
        if let State::Up(live) = &*self.state.borrow()
            && !live.has_ended()
        {
            return Ok(live.clone());
        }
        let mut state = self.state.clone();
        let mut last = Failure::not_applied("no connection");
        loop {
            match &*state.borrow_and_update() {
                State::Up(live) if !live.has_ended() => return Ok(live.clone()),
                State::Up(_) | State::Starting => {}
                State::Down { since, failure } => {
                    last = failure.clone();
                    if failure.is_for_good() || now() >= *since + patience {
                        return Err(last);
                    }
                }
            }
            match by(deadline, state.changed()).await {
                Some(Ok(())) => {}
                Some(Err(_)) => return Err(ended()),
                None => return Err(last),
            }
        }
    }

    /// The first outcome of connecting.
    pub(crate) async fn first(&self) -> Result<Live, Failure> {
        let mut state = self.state.clone();
        let began = |state: &State| !matches!(state, State::Starting);
        let outcome = state.wait_for(began).await.map_err(|_| ended())?;
        match &*outcome {
            State::Up(live) => Ok(live.clone()),
            State::Down { failure, .. } => Err(failure.clone()),
            State::Starting => Err(ended()),
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn ended() -> Failure {
    Failure::not_applied("the runtime that the store belongs to has ended")
}

async fn supervise(dialer: Dialer, told: watch::Sender<State>) {
    let mut backoff = Backoff::default();
    let mut since = now();
    let mut told_of = None;
    loop {
        match dialer.dial().await {
            Ok(live) => {
                debug!(server = %live.address, "connected");
                let up = now();
                told_of = None;
                told.send_replace(State::Up(live.clone()));
                dialer.attend(&live).await;
                since = now();
                debug!(server = %live.address, "the connection was lost or given up");
                // One that did not last, and on which nothing was ever answered, is a failed attempt
                // like any other.
                if live.has_been_of_use() || since >= up + LASTING {
                    backoff.reset();
                }
                let failure = Failure::not_applied("the connection was lost").at(&live.address);
                told.send_replace(State::Down { since, failure });
            }
            Err(failure) => {
                // Told once, and again when the reason is another.
                if told_of.replace(failure.clone()).as_ref() != Some(&failure) {
                    warn!(error = %failure.says, "no connection to the store");
                }
                told.send_replace(State::Down { since, failure });
            }
        }
        pass(backoff.next()).await;
    }
}
