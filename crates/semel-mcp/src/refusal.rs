//! Calls that the door answers itself: JSON-RPC errors whose data is the problem.

use http::request;
use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData};
use rmcp::service::RequestContext;
use semel::{Code, Language, Problem, ProblemKind};
use semel_http::problem_document;
use serde_json::{Value, json};

/// The call is at odds with what is recorded or goes on under its key: HTTP's 409.
pub(crate) const CONFLICT: ErrorCode = ErrorCode(-32009);
/// Not now: HTTP's 503.
pub(crate) const UNAVAILABLE: ErrorCode = ErrorCode(-32003);

/// Why a call is not carried out.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// A problem with a code.
    Problem(Box<Problem>),
    /// A fault of the server's set-up.
    Fault(&'static str),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

impl From<ProblemKind> for Refusal {
    fn from(kind: ProblemKind) -> Self {
        Problem::from(kind).into()
    }
}

impl Refusal {
    pub(crate) fn into_error(self, language: Language) -> ErrorData {
        match self {
            Self::Problem(problem) => error(&problem, language),
            // Answered before the work began: the same key may be sent again.
            Self::Fault(message) => {
                ErrorData::internal_error(message, Some(json!({ "sameKey": true })))
            }
        }
    }
}

/// A problem as an error.
pub(crate) fn error(problem: &Problem, language: Language) -> ErrorData {
    let code = problem.code();
    metrics::counter!("semel_mcp_refused_total", "code" => code.code()).increment(1);
    // Texts, numbers and lists of texts are always read again.
    let mut data = serde_json::from_slice(&problem_document(problem, language)).unwrap_or_default();
    if let (Value::Object(members), Some(after)) = (&mut data, problem.retry_after()) {
        members.insert("retryAfter".to_owned(), Value::from(after.as_secs()));
    }
    ErrorData::new(error_code(code), problem.detail(language), Some(data))
}

const fn error_code(code: Code) -> ErrorCode {
    match code.status().as_u16() {
        409 => CONFLICT,
        503 => UNAVAILABLE,
        _ => ErrorCode::INVALID_PARAMS,
    }
}

/// The language that the HTTP request asks for, where one brought the call.
pub(crate) fn language(context: &RequestContext<RoleServer>) -> Language {
    let head = context.extensions.get::<request::Parts>();
    head.map_or(Language::English, |head| semel_http::language(&head.headers))
}
