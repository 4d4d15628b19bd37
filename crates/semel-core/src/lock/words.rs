//! What people say about a lock.

use std::sync::Arc;

/// Why a lock was released by force, in an operator's words.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Reason(Arc<str>);

impl Reason {
    /// A reason; what is over 200 characters is cut off, for it is only shown.
    #[must_use]
    pub fn new(text: &str) -> Self {
        const MOST: usize = 200;
        // So many bytes are never more characters.
        if text.len() <= MOST {
            return Self(text.into());
        }
        Self(text.chars().take(MOST).collect::<String>().into())
    }

    /// The words.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
