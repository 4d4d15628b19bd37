//! Whose key it is.

use std::fmt;
use std::sync::Arc;

/// The tenant and the subject that a client key belongs to.
///
/// Two callers with different scopes never share a record, whatever keys they send. A scope comes
/// from the application's own authentication: never from a raw credential (a refreshed token
/// would be a new caller) and never from an address (many callers share one).
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Scope {
    tenant: Option<Arc<str>>,
    subject: Option<Arc<str>>,
}

impl Scope {
    /// Nobody in particular: every caller with this scope shares its keys. Choose it knowingly.
    #[must_use]
    pub const fn anonymous() -> Self {
        Self { tenant: None, subject: None }
    }

    /// A subject in a tenant.
    ///
    /// # Errors
    ///
    /// [`ScopeError`] when either is empty: an empty name is a missing one, not a name.
    pub fn new(
        tenant: impl Into<Arc<str>>,
        subject: impl Into<Arc<str>>,
    ) -> Result<Self, ScopeError> {
        Self::anonymous().with_tenant(tenant)?.with_subject(subject)
    }

    /// The same scope in a tenant.
    ///
    /// # Errors
    ///
    /// [`ScopeError`] when it is empty.
    pub fn with_tenant(self, tenant: impl Into<Arc<str>>) -> Result<Self, ScopeError> {
        Ok(Self { tenant: Some(named(tenant.into(), "tenant")?), ..self })
    }

    /// The same scope for a subject.
    ///
    /// # Errors
    ///
    /// [`ScopeError`] when it is empty.
    pub fn with_subject(self, subject: impl Into<Arc<str>>) -> Result<Self, ScopeError> {
        Ok(Self { subject: Some(named(subject.into(), "subject")?), ..self })
    }

    /// The tenant, if there is one.
    #[must_use]
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// The subject, if it is known.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }
}

fn named(text: Arc<str>, which: &'static str) -> Result<Arc<str>, ScopeError> {
    if text.is_empty() { Err(ScopeError { which }) } else { Ok(text) }
}

impl fmt::Debug for Scope {
    /// Says which parts are there, not what they are: scopes name people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("tenant", &self.tenant.as_ref().map(|_| "…"))
            .field("subject", &self.subject.as_ref().map(|_| "…"))
            .finish()
    }
}

/// A scope part that is there but empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the {which} of a scope is empty; leave it out where there is none")]
pub struct ScopeError {
    which: &'static str,
}
