//! What tells a repeat from another request under the same key.

mod canonical;
mod json;
mod query;
mod select;

pub use canonical::canonical_json;
pub use select::{SelectError, Selection};

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::request;
use semel::core::FingerprintBuilder;
use semel::{Fingerprint as Digests, KeyFault, PartDigest};

/// The digests of a request's head and body.
pub type DigestsOf = dyn Fn(&request::Parts, &Bytes) -> Digests + Send + Sync;

/// What of a request is compared with the one that was first sent under its key.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Fingerprint {
    /// Method, path, query, content type and encoding, and body. Default.
    #[default]
    Request,
    /// The body alone. Where a path has parameters, they are not compared.
    Body,
    /// Path, query, and these parts of a JSON body, so that what changes from try to try (a
    /// timestamp, a trace id) does not count.
    Selected(Selection),
    /// What a function of the request's head and body makes of it, part by part.
    Custom(Arc<DigestsOf>),
    /// Nothing: the first answer is given to any request.
    Off,
}

impl Fingerprint {
    /// The parts of a JSON body that these JSONPath expressions (RFC 9535) select.
    ///
    /// # Errors
    ///
    /// [`SelectError`] when there is none, or one of them is no JSONPath.
    pub fn select<'a>(paths: impl IntoIterator<Item = &'a str>) -> Result<Self, SelectError> {
        Selection::new(paths).map(Self::Selected)
    }

    /// The digests of a request; none where nothing is compared.
    ///
    /// # Errors
    ///
    /// [`KeyFault`] when a selection finds nothing: "nothing" must not equal "nothing".
    pub(crate) fn of(
        &self,
        head: &request::Parts,
        body: &Bytes,
    ) -> Result<Option<Digests>, KeyFault> {
        match self {
            Self::Request => Ok(Some(whole(head, body))),
            Self::Body => Ok(Some(Digests::builder().part("body", body).build())),
            Self::Selected(selection) => {
                let place = Digests::builder()
                    .part("path", head.uri.path().as_bytes())
                    .digest("query", query::digest(head.uri.query().unwrap_or_default()));
                selection.add_to(place, body).map(|all| Some(all.build()))
            }
            Self::Custom(of) => Ok(Some(of(head, body))),
            Self::Off => Ok(None),
        }
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request => f.write_str("Request"),
            Self::Body => f.write_str("Body"),
            Self::Selected(selection) => f.debug_tuple("Selected").field(selection).finish(),
            Self::Custom(_) => f.write_str("Custom(..)"),
            Self::Off => f.write_str("Off"),
        }
    }
}

fn whole(head: &request::Parts, body: &Bytes) -> Digests {
    let builder = Digests::builder()
        .part("method", head.method.as_str().as_bytes())
        .part("path", head.uri.path().as_bytes())
        .digest("query", query::digest(head.uri.query().unwrap_or_default()));
    let builder = header_part(builder, head, "content-type");
    let builder = header_part(builder, head, "content-encoding");
    builder.digest("body", PartDigest::of(body)).build()
}

/// All values of a header. The type of a body is compared without regard to letter case and to
/// white space around its parameters; their values are compared as they are.
fn header_part(
    builder: FingerprintBuilder,
    head: &request::Parts,
    name: &'static str,
) -> FingerprintBuilder {
    if !head.headers.contains_key(name) {
        return builder.digest(name, PartDigest::empty());
    }
    let mut hasher = semel::PartHasher::new();
    for value in head.headers.get_all(name) {
        hasher.field(&canonical::header_value(value.as_bytes()));
    }
    builder.digest(name, hasher.finish())
}
