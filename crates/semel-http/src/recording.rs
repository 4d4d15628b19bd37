//! Recording a body of unknown length while it passes.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, response};
use http_body::Frame;
use semel::{Claim, Extent, Outcome};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::collect::Pieces;
use crate::door::Door;
use crate::media::is_event_stream;
use crate::settings::OnDisconnect;
use crate::stored;

/// Follows a body and records all of it at its end, if it fits. Until then it is recorded as one
/// that was not kept.
#[derive(Debug)]
pub(crate) struct Recording {
    tasks: TaskTracker,
    patience: Duration,
    state: State,
}

#[derive(Debug)]
enum State {
    // (Following) => (Passing | Writing).
    Following(Box<Following>),
    // Too much, or broken: it is not recorded.
    Passing,
    // (Writing) => (Over).
    Writing(JoinHandle<()>),
    Over,
}

#[derive(Debug)]
struct Following {
    door: Door,
    claim: Claim,
    status: StatusCode,
    headers: HeaderMap,
    /// How long it said it is: what a server that was told stops at.
    said: Option<usize>,
    pieces: Pieces,
    trailers: Option<HeaderMap>,
}

impl Recording {
    pub(crate) fn new(
        door: Door,
        claim: Claim,
        head: &response::Parts,
        said: Option<usize>,
    ) -> Self {
        let tasks = door.once.tasks().clone();
        let patience = claim.policy().in_progress_time_to_live();
        let following = Following {
            door,
            claim,
            status: head.status,
            headers: head.headers.clone(),
            said,
            pieces: Pieces::default(),
            trailers: None,
        };
        Self { tasks, patience, state: State::Following(Box::new(following)) }
    }

    /// A piece passes.
    pub(crate) fn saw(&mut self, frame: &Frame<Bytes>) {
        let State::Following(following) = &mut self.state else { return };
        if let Some(trailers) = frame.trailers_ref() {
            following.trailers = Some(trailers.clone());
        }
        let Some(piece) = frame.data_ref() else { return };
        let limit = following.door.settings.max_cached_response;
        if piece.len() > limit.saturating_sub(following.pieces.len()) {
            self.state = State::Passing;
        } else {
            following.pieces.push(piece.clone());
        }
    }

    /// Whether as much was seen as the body said it has.
    pub(crate) fn saw_all_that_was_said(&self) -> bool {
        match &self.state {
            State::Following(following) => following.said == Some(following.pieces.len()),
            State::Passing | State::Writing(_) | State::Over => false,
        }
    }

    /// The body failed.
    pub(crate) fn broke_off(&mut self) {
        self.state = State::Passing;
    }

    /// Whether the rest of the body is to be read although its reader is gone. A stream of events
    /// is not: its next event may be a day away.
    pub(crate) fn wants_the_rest(&self) -> bool {
        match &self.state {
            State::Following(following) => {
                following.door.settings.on_disconnect == OnDisconnect::Finish
                    && !is_event_stream(&following.headers)
            }
            State::Passing | State::Writing(_) | State::Over => false,
        }
    }

    /// How long the rest may take: as long as the key of a crashed call stays blocked.
    pub(crate) const fn patience(&self) -> Duration {
        self.patience
    }

    /// Where the rest is read: what a graceful shutdown waits for.
    pub(crate) fn tasks(&self) -> TaskTracker {
        self.tasks.clone()
    }

    /// Leaves nothing to record behind.
    pub(crate) fn take(&mut self) -> Self {
        let state = std::mem::replace(&mut self.state, State::Over);
        Self { tasks: self.tasks.clone(), patience: self.patience, state }
    }

    /// The body ended: it is recorded, whether or not somebody waits for that.
    pub(crate) fn end(&mut self) {
        self.state = match std::mem::replace(&mut self.state, State::Over) {
            State::Following(following) => match Handle::try_current() {
                Ok(runtime) => State::Writing(self.tasks.spawn_on(following.write(), &runtime)),
                Err(_) => State::Over,
            },
            State::Writing(writing) => State::Writing(writing),
            State::Passing | State::Over => State::Over,
        };
    }

    /// Ends once what is to be recorded is.
    pub(crate) fn poll_written(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let State::Writing(writing) = &mut self.state {
            // A task that was lost with its runtime leaves the record without a body.
            ready!(Pin::new(writing).poll(cx)).ok();
            self.state = State::Over;
        }
        Poll::Ready(())
    }

    /// Whether nothing is left to be written.
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.state, State::Passing | State::Over)
    }

    /// The body ended where nobody reads it any more.
    pub(crate) async fn write(self) {
        if let State::Following(following) = self.state {
            following.write().await;
        }
    }
}

impl Following {
    async fn write(mut self: Box<Self>) {
        let body = std::mem::take(&mut self.pieces).joined();
        let payload = stored::payload(
            &self.door.settings,
            self.status,
            &self.headers,
            &body,
            self.trailers.as_ref(),
        );
        let form = self.door.settings.form;
        let outcome = Outcome { form, extent: Extent::Whole, payload };
        // If it fails the record stays as it is: done, without a body.
        drop(self.claim.record(outcome).await);
    }
}
