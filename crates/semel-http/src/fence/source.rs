//! Where the resource of a request comes from.

use std::fmt;
use std::sync::Arc;

use http::request;

use super::headers::{self, Malformed};

/// How a [`FenceLayer`](crate::FenceLayer) finds the resource that a request is about. It must come
/// to the name under which the callers hold their lock, or at least to one name for each.
#[derive(Clone)]
#[non_exhaustive]
pub enum FenceResource {
    /// One for all requests.
    Named(Arc<str>),
    /// The request's path, without its query, in the spelling that it has: `/orders/42`. A caller
    /// that spells it another way (`/orders/%34%32`) is another's resource here, though a router
    /// may take both for one; where callers differ in that, use [`FenceResource::by`].
    Path,
    /// What the caller says in `Lock-Resource`. A caller that names another resource is judged by
    /// that one's fences: for callers that are trusted to name what they lock.
    Header,
    /// What this makes of the request's head; none is a request without a resource. See
    /// [`FenceResource::by`].
    By(ResourceOf),
}

/// A rule of one's own; it is made by [`FenceResource::by`].
#[derive(Clone)]
pub struct ResourceOf(Arc<Rule>);

type Rule = dyn Fn(&request::Parts) -> Option<String> + Send + Sync;

impl FenceResource {
    /// One for all requests.
    pub fn named(resource: impl Into<Arc<str>>) -> Self {
        Self::Named(resource.into())
    }

    /// By a rule of one's own: from extensions that an outer layer has filled, or a part of the
    /// path.
    pub fn by(rule: impl Fn(&request::Parts) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::By(ResourceOf(Arc::new(rule)))
    }

    pub(super) fn of(&self, head: &request::Parts) -> Result<Option<Arc<str>>, Malformed> {
        Ok(match self {
            Self::Named(resource) => Some(Arc::clone(resource)),
            Self::Path => Some(head.uri.path().into()),
            Self::Header => headers::resource(&head.headers)?.map(Into::into),
            Self::By(rule) => (rule.0)(head).map(Into::into),
        })
    }
}

impl fmt::Debug for FenceResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(resource) => f.debug_tuple("Named").field(resource).finish(),
            Self::Path => f.write_str("Path"),
            Self::Header => f.write_str("Header"),
            Self::By(rule) => rule.fmt(f),
        }
    }
}

impl fmt::Debug for ResourceOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("By(..)")
    }
}
