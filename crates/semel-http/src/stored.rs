//! Recorded answers as bytes.
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
use minicbor::bytes::ByteSlice;
use minicbor::{Decode, Encode};
use semel::{Extent, Form, Outcome};

use crate::settings::{HttpSettings, is_never_replayed};

const FORM: u8 = 1;
const HEAD_AT: usize = 5;

/// A recorded answer, read.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) trailers: Option<HeaderMap>,
}

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

/// The outcome that is replayed as this response, under these settings: for a
/// [`Reconcile`](semel::Reconcile) hook that knows how a call in doubt ended, and for whoever
/// resolves one by hand.
///
/// ```
/// use bytes::Bytes;
/// use http::Response;
/// use semel::Reconciled;
/// use semel_http::{HttpSettings, outcome_of};
///
/// // The hook has found the order that the call made before its owner died.
/// let response = Response::builder()
///     .status(201)
///     .header("location", "/orders/7")
///     .body(Bytes::from_static(b"{\"order\":7}"))?;
/// let known = Reconciled::Done(outcome_of(&HttpSettings::default(), &response));
/// # let _ = known;
/// # Ok::<(), http::Error>(())
/// ```
#[must_use]
pub fn outcome_of(settings: &HttpSettings, response: &Response<Bytes>) -> Outcome {
    let (status, headers) = (response.status(), response.headers());
    let payload = payload(settings, status, headers, response.body(), None);
    Outcome { form: settings.form, extent: Extent::Whole, payload }
}

/// An answer as it was recorded.
#[derive(Debug)]
#[non_exhaustive]
pub struct RecordedAnswer {
    /// Status, recorded headers and body.
    pub response: Response<Bytes>,
    /// Trailers, where there were any.
    pub trailers: Option<HeaderMap>,
}

impl RecordedAnswer {
    /// An answer as it would have been recorded.
    #[must_use]
    pub const fn new(response: Response<Bytes>, trailers: Option<HeaderMap>) -> Self {
        Self { response, trailers }
    }

    /// The answer in an outcome of this layer, or of another door that is built on it; none where
    /// it was not kept, or is in another form.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Option<Self> {
        if outcome.extent != Extent::Whole {
            return None;
        }
        let stored = read(&outcome.payload)?;
        let mut response = Response::new(stored.body);
        *response.status_mut() = stored.status;
        *response.headers_mut() = stored.headers;
        Some(Self { response, trailers: stored.trailers })
    }
}

/// The status with which a recorded HTTP answer is replayed, for tools that show records. None for
/// an outcome of another form, or in a form that this version does not read.
#[must_use]
pub fn status_of(outcome: &Outcome) -> Option<StatusCode> {
    (outcome.form == Form::Http).then(|| read(&outcome.payload)).flatten().map(|read| read.status)
}

/// The bytes of an answer: its status, its headers on the allow-list, its body and trailers.
pub(crate) fn payload(
    settings: &HttpSettings,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    trailers: Option<&HeaderMap>,
) -> Bytes {
    let allowed =
        |name: &HeaderName| settings.replayed_headers.contains(name) && !names(headers, name);
    let kept = |name: &HeaderName| {
        let listed = settings.replayed_trailers.as_ref().is_none_or(|list| list.contains(name));
        listed && !is_never_replayed(name)
    };
    let head = Head {
        status: status.as_u16(),
        headers: fields(headers, allowed),
        trailers: trailers.map(|trailers| fields(trailers, kept)),
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

/// The answer in these bytes; none where they are of a form that this version does not read.
pub(crate) fn read(payload: &Bytes) -> Option<Stored> {
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
    Some(Stored {
        status: StatusCode::from_u16(head.status).ok()?,
        headers: header_map(&head.headers)?,
        body: payload.slice(body_at..),
        trailers,
    })
}

fn header_map(fields: &[Field<'_>]) -> Option<HeaderMap> {
    let mut map = HeaderMap::with_capacity(fields.len());
    for field in fields {
        let name = HeaderName::from_bytes(field.name.as_bytes()).ok()?;
        map.append(name, HeaderValue::from_bytes(field.value).ok()?);
    }
    Some(map)
}
