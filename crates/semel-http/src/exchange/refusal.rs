//! Requests that the layer answers itself.

use http::{Response, StatusCode, request};
use http_body::Body;
use semel::{Language, Problem, ProblemKind};

use crate::body::ResponseBody;
use crate::door::Door;
use crate::problem;

/// Why a request is not carried out.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// A problem with a code.
    Problem(Problem),
    /// A fault of the service or the connection.
    Plain(StatusCode, &'static str),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<ProblemKind> for Refusal {
    fn from(kind: ProblemKind) -> Self {
        Self::Problem(kind.into())
    }
}

impl Refusal {
    pub(crate) fn into_response<B: Body>(
        self,
        door: &Door,
        head: &request::Parts,
    ) -> Response<ResponseBody<B>> {
        self.answer(door, problem::language(&head.headers))
    }

    pub(super) fn answer<B: Body>(
        self,
        door: &Door,
        language: Language,
    ) -> Response<ResponseBody<B>> {
        match self {
            Self::Problem(problem) => response(door, problem, language),
            Self::Plain(status, detail) => problem::plain(status, detail),
        }
    }
}

/// A problem under this door's settings.
pub(super) fn response<B: Body>(
    door: &Door,
    problem: Problem,
    language: Language,
) -> Response<ResponseBody<B>> {
    let problem = match door.settings.status_of(problem.code()) {
        Some(status) => problem.with_status(status),
        None => problem,
    };
    metrics::counter!("semel_http_refused_total", "code" => problem.code().code()).increment(1);
    problem::response(&problem, language)
}
