//! Parts of a JSON body, selected by JSONPath (RFC 9535).

use std::sync::Arc;

use bytes::Bytes;
use semel::{Fingerprint as Digests, KeyFault, PartHasher};
use serde_json::Value;
use serde_json_path::JsonPath;

use super::canonical::write_json;

/// JSONPath expressions, parsed.
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

    /// A digest for each expression.
    ///
    /// # Errors
    ///
    /// [`KeyFault`] when the body is no JSON, or an expression selects nothing but `null`s:
    /// requests without the selected fields have nothing in common.
    pub(super) fn digests(&self, body: &Bytes) -> Result<Digests, KeyFault> {
        let json: Value = serde_json::from_slice(body).map_err(|_| KeyFault::SelectionNotJson)?;
        let mut builder = Digests::builder();
        for (path, parsed) in self.0.iter() {
            let nodes = parsed.query(&json);
            if nodes.iter().all(|node| node.is_null()) {
                return Err(KeyFault::SelectionEmpty);
            }
            let mut hasher = PartHasher::new();
            for node in nodes.iter() {
                let mut canonical = Vec::new();
                write_json(node, &mut canonical);
                hasher.field(&canonical);
            }
            builder = builder.digest(path.to_string(), hasher.finish());
        }
        Ok(builder.build())
    }
}
