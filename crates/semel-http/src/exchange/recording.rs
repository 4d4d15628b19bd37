//! Recording a body of unknown length while it passes.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderMap, StatusCode, response};
use http_body::Frame;
use semel::{Claim, Extent, Form, Outcome};
use tokio::task::JoinHandle;

use crate::collect::Pieces;
use crate::layer::Door;
use crate::replay;

/// Follows a body and records all of it at its end, if it fits. It is dropped with the body: a
/// stream that is cut short stays recorded as one whose answer was not kept.
#[derive(Debug)]
pub(crate) struct Recording {
    state: State,
}

#[derive(Debug)]
enum State {
    // (Following) => (Passing | Writing).
    Following(Box<Following>),
    // Too much, or broken: it is not recorded. (Passing) => (Over).
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
    pieces: Pieces,
    trailers: Option<HeaderMap>,
}

impl Recording {
    pub(super) fn new(door: Door, claim: Claim, head: &response::Parts) -> Self {
        let following = Following {
            door,
            claim,
            status: head.status,
            headers: head.headers.clone(),
            pieces: Pieces::default(),
            trailers: None,
        };
        Self { state: State::Following(Box::new(following)) }
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

    /// The body failed.
    pub(crate) fn broke_off(&mut self) {
        self.state = State::Passing;
    }

    /// Whether the body's end was seen.
    pub(crate) const fn has_ended(&self) -> bool {
        matches!(self.state, State::Writing(_) | State::Over)
    }

    /// The body ended: it is recorded, whether or not somebody waits for that.
    pub(crate) fn end(&mut self) {
        self.state = match std::mem::replace(&mut self.state, State::Over) {
            State::Following(following) => {
                let tasks = following.door.once.tasks().clone();
                State::Writing(tasks.spawn(following.write()))
            }
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
}

impl Following {
    async fn write(mut self: Box<Self>) {
        let body = std::mem::take(&mut self.pieces).joined();
        let payload =
            replay::payload(&self.door, self.status, &self.headers, &body, self.trailers.as_ref());
        let outcome = Outcome { form: Form::Http, extent: Extent::Whole, payload };
        // If it fails the record stays as it is: done, without a body.
        drop(self.claim.record(outcome).await);
    }
}
