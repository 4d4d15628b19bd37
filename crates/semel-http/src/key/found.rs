//! A key that was read and not yet checked, with the place it was read from.

use std::fmt;

use semel::{ClientKey, KeyRejected, KeyRule};

use super::fault::KeyFault;
use super::place::KeySource;

/// The text of a key, decoded and not yet checked by a [`KeyRule`]. It may be empty, blank or of
/// any length. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct UncheckedKey(String);

impl UncheckedKey {
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks the text and makes it a key.
    ///
    /// # Errors
    ///
    /// [`KeyRejected`] as the rule says.
    pub fn check(&self, rule: &KeyRule) -> Result<ClientKey, KeyRejected> {
        rule.check(&self.0)
    }
}

impl fmt::Debug for UncheckedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UncheckedKey(..)")
    }
}

// ===== Found =====

/// The one key that a request carries, and the first place that it was found in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub(super) key: UncheckedKey,
    pub(super) source: KeySource,
}

impl Found {
    /// The key.
    #[must_use]
    pub const fn key(&self) -> &UncheckedKey {
        &self.key
    }

    /// The first place, in the configured order, that carries it.
    #[must_use]
    pub const fn source(&self) -> &KeySource {
        &self.source
    }

    /// Checks the key by the rule of the door or route.
    ///
    /// # Errors
    ///
    /// [`KeyFault::Rejected`] with the place and the rule's reason.
    pub fn check(&self, rule: &KeyRule) -> Result<ClientKey, KeyFault> {
        self.key
            .check(rule)
            .map_err(|rejected| KeyFault::Rejected { place: self.source.clone(), rejected })
    }
}
