//! Recorded answers: how they are written down, and how they are given again.
//!
//! ```text
//! +---+--------+-------------+------+
//! | 1 | length | head (CBOR) | body |
//! +---+--------+-------------+------+
//! ```
//!
//! The body stands outside the head so that a replay shares the record's bytes.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use http_body::Body;
use minicbor::bytes::ByteSlice;
use minicbor::{Decode, Encode};
use semel::{Extent, Form, Language, Outcome, ProblemKind};

use crate::body::ResponseBody;
use crate::layer::Door;
use crate::problem;
use crate::settings::{Oversized, is_never_replayed};

const FORM: u8 = 1;
const HEAD_AT: usize = 5;

/// In the extensions of every answer that is a replay, for the layers further out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Replayed;

/// The head of an answer as it is recorded. Numbers are for good.
#[derive(Encode, Decode)]
struct Head<'b> {
    #[n(0)]
    status: u16,
    #[b(1)]
    headers: Vec<Field<'b>>,
    #[b(2)]
    trailers: Option<Vec<Field<'b>>>,
}

#[derive(Encode, Decode)]
struct Field<'b> {
    #[b(0)]
    name: &'b str,
    #[b(1)]
    value: &'b ByteSlice,
}

/// The bytes of an answer: its status, its headers on the allow-list, its body and trailers.
pub(crate) fn payload(
    door: &Door,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    trailers: Option<&HeaderMap>,
) -> Bytes {
    let allowed =
        |name: &HeaderName| door.settings.replayed_headers.contains(name) && !names(headers, name);
    let head = Head {
        status: status.as_u16(),
        headers: fields(headers, allowed),
        trailers: trailers.map(|trailers| fields(trailers, |name| !is_never_replayed(name))),
    };
    let mut out = Vec::with_capacity(256 + body.len());
    out.push(FORM);
    out.extend_from_slice(&[0; 4]);
    minicbor::encode(&head, &mut out).expect("a Vec takes every byte and every field encodes");
    let length = u32::try_from(out.len() - HEAD_AT).unwrap_or(u32::MAX);
    out[1..HEAD_AT].copy_from_slice(&length.to_le_bytes());
    out.extend_from_slice(body);
    Bytes::from(out)
}

fn fields(headers: &HeaderMap, allowed: impl Fn(&HeaderName) -> bool) -> Vec<Field<'_>> {
    headers
        .iter()
        .filter(|(name, _)| allowed(name))
        .map(|(name, value)| Field { name: name.as_str(), value: value.as_bytes().into() })
        .collect()
}

/// Whether `Connection` names this header, which makes it one of this connection only.
fn names(headers: &HeaderMap, name: &HeaderName) -> bool {
    headers
        .get_all(header::CONNECTION)
        .iter()
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .any(|named| named.trim_ascii().eq_ignore_ascii_case(name.as_str().as_bytes()))
}

/// A recorded outcome as an answer.
pub(crate) fn answer<B: Body>(
    door: &Door,
    outcome: &Outcome,
    language: Language,
) -> Response<ResponseBody<B>> {
    match replayed(door, outcome) {
        Some(response) => response,
        None => problem::response(&ProblemKind::ResponseUnavailable.into(), language),
    }
}

fn replayed<B: Body>(door: &Door, outcome: &Outcome) -> Option<Response<ResponseBody<B>>> {
    if outcome.form != Form::Http {
        return None;
    }
    if outcome.extent == Extent::Partial && door.settings.oversized == Oversized::Unavailable {
        return None;
    }
    let mut response = decoded(&outcome.payload)?;
    response.extensions_mut().insert(Replayed);
    if let Some(marker) = &door.settings.replay_marker {
        response.headers_mut().insert(marker.clone(), HeaderValue::from_static("true"));
    }
    Some(response)
}

/// None where the bytes are of a form that this version does not read.
fn decoded<B: Body>(payload: &Bytes) -> Option<Response<ResponseBody<B>>> {
    let (prefix, _) = payload.split_at_checked(HEAD_AT)?;
    if prefix[0] != FORM {
        return None;
    }
    let length = u32::from_le_bytes(prefix[1..].try_into().ok()?);
    let body_at = HEAD_AT.checked_add(usize::try_from(length).ok()?)?;
    let head: Head<'_> = minicbor::decode(payload.get(HEAD_AT..body_at)?).ok()?;
    let trailers = match &head.trailers {
        Some(fields) => Some(header_map(fields)?),
        None => None,
    };
    let announced = trailers.as_ref().and_then(names_of);
    let mut response = Response::new(ResponseBody::buffered(payload.slice(body_at..), trailers));
    *response.status_mut() = StatusCode::from_u16(head.status).ok()?;
    *response.headers_mut() = header_map(&head.headers)?;
    if let Some(names) = announced {
        // Under HTTP/1.1 a server sends only those trailers that it announced.
        response.headers_mut().insert(header::TRAILER, names);
    }
    Some(response)
}

fn names_of(trailers: &HeaderMap) -> Option<HeaderValue> {
    let names: Vec<&str> = trailers.keys().map(HeaderName::as_str).collect();
    if names.is_empty() { None } else { HeaderValue::from_str(&names.join(", ")).ok() }
}

fn header_map(fields: &[Field<'_>]) -> Option<HeaderMap> {
    let mut map = HeaderMap::with_capacity(fields.len());
    for field in fields {
        let name = HeaderName::from_bytes(field.name.as_bytes()).ok()?;
        map.append(name, HeaderValue::from_bytes(field.value).ok()?);
    }
    Some(map)
}
