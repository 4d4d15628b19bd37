//! Problems as HTTP answers: `application/problem+json` (RFC 9457).

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use http_body::Body;
use semel::{KeyRule, Language, Param, ParamValue, Problem};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::body::ResponseBody;
use crate::key;
use crate::marks::{self, OwnAnswer};

const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// The language that a request asks for (`Accept-Language`).
#[must_use]
pub fn language(headers: &HeaderMap) -> Language {
    let values = headers.get_all(header::ACCEPT_LANGUAGE).iter();
    let texts: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    Language::negotiate(&texts.join(","))
}

/// The answer that tells of a problem.
pub(crate) fn response<B: Body>(
    problem: &Problem,
    language: Language,
) -> Response<ResponseBody<B>> {
    let own = OwnAnswer::Problem(problem.clone(), language);
    let mut response = answer(status(problem), problem_document(problem, language), own);
    let headers = response.headers_mut();
    headers.insert(marks::ERROR, HeaderValue::from_static(problem.code().code()));
    headers.insert(header::CONTENT_LANGUAGE, HeaderValue::from_static(language.tag()));
    if let Some(after) = problem.retry_after() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(after.as_secs()));
    }
    response
}

/// An answer for what has no code: a fault of the service or of the connection, not of the call.
/// It is answered before the work begins, so the same key may be sent again.
pub(crate) fn plain<B: Body>(
    status: StatusCode,
    detail: &'static str,
) -> Response<ResponseBody<B>> {
    let body = plain_body(status, detail, json!({ "sameKey": true }));
    answer(status, body, OwnAnswer::Fault(detail))
}

/// The answer that stands for work that gave none, where that is to be recorded.
pub(crate) fn failed() -> Response<Bytes> {
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    let detail = "The request could not be carried out.";
    with_type(status, plain_body(status, detail, json!({ "sameKey": false })))
}

fn plain_body(status: StatusCode, detail: &str, mut json: Value) -> Bytes {
    json["type"] = Value::from("about:blank");
    json["title"] = Value::from(status.canonical_reason().unwrap_or("Error"));
    json["status"] = Value::from(status.as_u16());
    json["detail"] = Value::from(detail);
    Bytes::from(json.to_string())
}

fn answer<B: Body>(status: StatusCode, body: Bytes, own: OwnAnswer) -> Response<ResponseBody<B>> {
    let mut response = with_type(status, body).map(ResponseBody::full);
    response.extensions_mut().insert(own);
    response
}

fn with_type(status: StatusCode, body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, PROBLEM_JSON);
    response
}

fn status(problem: &Problem) -> StatusCode {
    StatusCode::from_u16(problem.status().as_u16()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// The members in the order in which a person reads them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Members<'a> {
    #[serde(rename = "type")]
    type_uri: &'a str,
    title: &'a str,
    status: u16,
    detail: String,
    code: &'a str,
    message_key: &'a str,
    #[serde(serialize_with = "params")]
    params: Vec<Param>,
    same_key: bool,
}

/// The document that tells of a problem (RFC 9457), as JSON: for doors that carry it elsewhere than
/// in a body, too.
#[must_use]
pub fn problem_document(problem: &Problem, language: Language) -> Bytes {
    let members = Members {
        type_uri: problem.type_uri(),
        title: problem.title(language),
        status: problem.status().as_u16(),
        detail: problem.detail(language),
        code: problem.code().code(),
        message_key: problem.message_key(),
        params: problem.params(),
        same_key: problem.same_key().as_bool(),
    };
    // Texts, numbers and lists of texts always serialize.
    serde_json::to_vec(&members).unwrap_or_default().into()
}

#[expect(clippy::ptr_arg, reason = "serde hands over the field as it is declared")]
fn params<S: Serializer>(params: &Vec<Param>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(params.iter().map(|param| (param.name, value(&param.value))))
}

fn value(value: &ParamValue) -> Value {
    match value {
        ParamValue::Text(text) => Value::from(&**text),
        ParamValue::Number(number) => Value::from(*number),
        ParamValue::List(texts) => texts.iter().map(|text| Value::from(&**text)).collect(),
        _ => Value::Null,
    }
}

/// What is wrong with the place of a key, as a problem says it.
pub(crate) fn key_fault(fault: &key::KeyFault, rule: &KeyRule) -> semel::KeyFault {
    use key::{BaggageFault, HeaderFault, KeyFault};
    match fault {
        KeyFault::Disagree { .. } => semel::KeyFault::SourcesDisagree,
        KeyFault::Header { fault, .. } => match fault {
            HeaderFault::Several { .. } | HeaderFault::List => semel::KeyFault::SeveralKeys,
            HeaderFault::TooLong { .. } => {
                semel::KeyFault::TooLong { max_chars: rule.max_chars().get() }
            }
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
            BaggageFault::Empty => semel::KeyFault::Empty,
            BaggageFault::Twice => semel::KeyFault::BaggageMemberTwice,
            _ => semel::KeyFault::MalformedBaggage,
        },
        KeyFault::Rejected { rejected, .. } => rejected.into(),
    }
}
