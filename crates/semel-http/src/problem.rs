//! Problems as HTTP answers: `application/problem+json` (RFC 9457).

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use http_body::Body;
use semel::{Language, ParamValue, Problem};
use serde_json::{Map, Value, json};

use crate::body::ResponseBody;
use crate::key;

/// Tells the layer's own answers from the handler's.
pub(crate) const IDEMPOTENCY_ERROR: HeaderName = HeaderName::from_static("idempotency-error");

const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// The language that the request asks for.
pub(crate) fn language(headers: &HeaderMap) -> Language {
    let values = headers.get_all(header::ACCEPT_LANGUAGE).iter();
    let texts: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    Language::negotiate(&texts.join(","))
}

/// The answer that tells of a problem.
pub(crate) fn response<B: Body>(
    problem: &Problem,
    language: Language,
) -> Response<ResponseBody<B>> {
    let body = Bytes::from(json(problem, language).to_string());
    let mut response = answer(status(problem), body);
    let headers = response.headers_mut();
    headers.insert(IDEMPOTENCY_ERROR, HeaderValue::from_static(problem.code().code()));
    headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static(language.tag()));
    if let Some(after) = problem.retry_after() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(after.as_secs()));
    }
    response
}

/// An answer for what has no code: a fault of the service or of the connection, not of the call.
pub(crate) fn plain<B: Body>(status: StatusCode, detail: &str) -> Response<ResponseBody<B>> {
    answer(status, plain_body(status, detail))
}

/// The body of [`plain`].
pub(crate) fn plain_body(status: StatusCode, detail: &str) -> Bytes {
    let title = status.canonical_reason().unwrap_or("Error");
    let json = json!({
        "type": "about:blank", "title": title, "status": status.as_u16(), "detail": detail,
    });
    Bytes::from(json.to_string())
}

fn answer<B: Body>(status: StatusCode, body: Bytes) -> Response<ResponseBody<B>> {
    let mut response = Response::new(ResponseBody::full(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, PROBLEM_JSON);
    response
}

fn status(problem: &Problem) -> StatusCode {
    StatusCode::from_u16(problem.status().as_u16()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn json(problem: &Problem, language: Language) -> Value {
    let params: Map<String, Value> = problem
        .params()
        .into_iter()
        .map(|param| (param.name.to_owned(), value(param.value)))
        .collect();
    json!({
        "type": problem.type_uri(),
        "title": problem.title(language),
        "status": problem.status().as_u16(),
        "detail": problem.detail(language),
        "code": problem.code().code(),
        "messageKey": problem.message_key(),
        "params": params,
        "sameKey": problem.same_key().as_bool(),
    })
}

fn value(value: ParamValue) -> Value {
    match value {
        ParamValue::Text(text) => Value::from(&*text),
        ParamValue::Number(number) => Value::from(number),
        ParamValue::List(texts) => texts.iter().map(|text| Value::from(&**text)).collect(),
        _ => Value::Null,
    }
}

/// What is wrong with the place of a key, as a problem says it.
pub(crate) const fn key_fault(fault: &key::KeyFault) -> semel::KeyFault {
    use key::{BaggageFault, HeaderFault, KeyFault};
    match fault {
        KeyFault::Disagree { .. } => semel::KeyFault::SourcesDisagree,
        KeyFault::Header { fault, .. } => match fault {
            HeaderFault::Several { .. } | HeaderFault::List => semel::KeyFault::SeveralKeys,
            HeaderFault::TooLong { .. } => semel::KeyFault::TooLong { max_chars: 255 },
            HeaderFault::Empty => semel::KeyFault::Empty,
            HeaderFault::NotVisibleAscii { .. } => semel::KeyFault::NotVisibleAscii,
            HeaderFault::NotAString(_) => semel::KeyFault::NotQuoted,
            HeaderFault::Malformed | HeaderFault::NeedsQuotes { .. } => {
                semel::KeyFault::MalformedHeader
            }
        },
        KeyFault::Baggage { fault, .. } => match fault {
            BaggageFault::TooLarge { .. } | BaggageFault::TooManyMembers => {
                semel::KeyFault::BaggageTooLarge
            }
            BaggageFault::Twice => semel::KeyFault::BaggageMemberTwice,
            _ => semel::KeyFault::MalformedBaggage,
        },
        KeyFault::Rejected { rejected, .. } => rejected_fault(rejected),
    }
}

const fn rejected_fault(rejected: &semel::KeyRejected) -> semel::KeyFault {
    use semel::KeyRejected;
    match rejected {
        KeyRejected::Empty => semel::KeyFault::Empty,
        KeyRejected::Blank => semel::KeyFault::Blank,
        KeyRejected::NotVisibleAscii { .. } => semel::KeyFault::NotVisibleAscii,
        KeyRejected::NotAUuid => semel::KeyFault::NotAUuid,
        KeyRejected::NotAUuidV7 => semel::KeyFault::NotAUuidV7,
        KeyRejected::NotAUlid => semel::KeyFault::NotAUlid,
        KeyRejected::PatternMismatch { .. } => semel::KeyFault::PatternMismatch,
        KeyRejected::TooLong { max } => semel::KeyFault::TooLong { max_chars: max.get() },
        _ => semel::KeyFault::Other,
    }
}
