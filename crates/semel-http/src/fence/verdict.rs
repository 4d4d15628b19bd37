//! What a request shows, and what is made of the gate's answer.

use std::sync::Arc;

use http::{HeaderMap, Response, StatusCode, request};
use http_body::Body;
use semel::core::{Refusal, StoreErrorKind};
use semel::{Fence, GateAnswer, GateError, Problem, ProblemKind};

use super::door::{FenceDoor, MissingFence};
use super::headers;
use crate::body::ResponseBody;
use crate::problem;

/// In the extensions of a request that passed a [`FenceLayer`](crate::FenceLayer): what it passed with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShownFence {
    /// The resource.
    pub resource: Arc<str>,
    /// The fence: the highest so far, when it was looked at.
    pub fence: Fence,
}

/// Why a request does not pass.
#[derive(Debug)]
pub(super) enum Stop {
    Problem(Problem),
    Plain(&'static str),
}

impl FenceDoor {
    /// What a request shows; none when it passes without.
    pub(super) fn shown(&self, head: &request::Parts) -> Result<Option<ShownFence>, Stop> {
        let fence = headers::fence(&head.headers).map_err(|_| {
            Stop::Plain(
                "The header Lock-Fence must be there once, with a number in decimal digits.",
            )
        })?;
        let resource = self.resource.of(head).map_err(|_| {
            Stop::Plain("The header Lock-Resource must be there once, percent-encoded.")
        })?;
        let says = match (fence, resource) {
            (Some(fence), Some(resource)) => return Ok(Some(ShownFence { resource, fence })),
            (None, _) => "The header Lock-Fence is missing: the fence of the caller's lock.",
            (Some(_), None) => "The request does not say what resource its fence is of.",
        };
        if self.missing == MissingFence::Pass || head.method.is_safe() {
            return Ok(None);
        }
        Err(Stop::Plain(says))
    }
}

/// What the gate's answer means for the request.
pub(super) fn judged(
    answer: Result<GateAnswer, GateError>,
    shown: &ShownFence,
) -> Result<(), Stop> {
    match answer {
        Ok(GateAnswer::Passed) => Ok(()),
        Ok(GateAnswer::Refused { seen }) => {
            tracing::info!(shown = %shown.fence, %seen, "a request under a lost lock was refused");
            Err(stop(ProblemKind::LockHeld { resource: Arc::clone(&shown.resource) }))
        }
        Err(GateError::Store(error)) => {
            tracing::error!(%error, "a gate failed, and a request was turned away");
            Err(stop(match error.kind() {
                StoreErrorKind::Refused(Refusal::Full) => ProblemKind::StoreFull,
                _ => ProblemKind::StoreUnavailable,
            }))
        }
        Err(GateError::FenceTooLarge { .. }) => {
            Err(Stop::Plain("The number in Lock-Fence is too large for this service."))
        }
        Err(_) => Err(Stop::Plain("No lock can have the resource of this request.")),
    }
}

fn stop(kind: ProblemKind) -> Stop {
    Stop::Problem(kind.into())
}

impl Stop {
    pub(super) fn response<B: Body>(&self, headers: &HeaderMap) -> Response<ResponseBody<B>> {
        match self {
            Self::Problem(problem) => {
                let code = problem.code().code();
                metrics::counter!("semel_http_refused_total", "code" => code).increment(1);
                problem::response(problem, problem::language(headers))
            }
            Self::Plain(says) => problem::plain(StatusCode::BAD_REQUEST, says),
        }
    }
}
