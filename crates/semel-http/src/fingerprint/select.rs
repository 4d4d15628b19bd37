//! Parts of a JSON body, selected by JSONPath (RFC 9535).

use std::sync::Arc;

use semel::core::FingerprintBuilder;
use semel::{KeyFault, PartHasher};
use serde_json_path::JsonPath;

use super::canonical::canonical_json;
use super::json;

/// JSONPath expressions, parsed.
///
/// Each must find something in every request. The order of members and white space in the body
/// make no difference, the order of items and the spelling of numbers do (`1` is not `1.0`). A
/// body that has a member twice is refused like one that is no JSON: nobody can tell which of the
/// two a handler reads.
#[derive(Debug, Clone)]
pub struct Selection(Arc<[(Arc<str>, JsonPath)]>);

/// Why expressions make no selection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// No expression at all.
    #[error("a selection takes at least one JSONPath expression; to compare nothing, say `off`")]
    Empty,
    /// One that can't be parsed.
    #[error("`{path}` is no JSONPath expression (RFC 9535): {reason}")]
    NoJsonPath {
        /// The expression.
        path: String,
        /// Where the parser stopped.
        reason: String,
    },
}

impl Selection {
    pub(super) fn new<'a>(paths: impl IntoIterator<Item = &'a str>) -> Result<Self, SelectError> {
        let parsed: Result<Vec<_>, _> = paths
            .into_iter()
            .map(|path| match JsonPath::parse(path) {
                Ok(parsed) => Ok((Arc::from(path), parsed)),
                Err(error) => Err(SelectError::NoJsonPath {
                    path: path.to_owned(),
                    reason: error.to_string(),
                }),
            })
            .collect();
        let parsed = parsed?;
        if parsed.is_empty() { Err(SelectError::Empty) } else { Ok(Self(parsed.into())) }
    }

    /// Adds a digest for each expression.
    ///
    /// # Errors
    ///
    /// [`KeyFault`] when the body is no JSON, or an expression selects nothing but `null`s:
    /// requests without the selected fields have nothing in common.
    pub fn add_to(
        &self,
        mut builder: FingerprintBuilder,
        body: &[u8],
    ) -> Result<FingerprintBuilder, KeyFault> {
        let json = json::parse(body).ok_or(KeyFault::SelectionNotJson)?;
        for (path, parsed) in self.0.iter() {
            let nodes = parsed.query(&json);
            if nodes.iter().all(|node| node.is_null()) {
                return Err(KeyFault::SelectionEmpty);
            }
            let mut hasher = PartHasher::new();
            for node in nodes.iter() {
                hasher.field(&canonical_json(node));
            }
            builder = builder.digest(path.to_string(), hasher.finish());
        }
        Ok(builder)
    }
}
