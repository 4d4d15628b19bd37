//! What a lock is handed on with.

use std::fmt;
use std::sync::Arc;

use semel_core::{Fence, Token};

/// A lock that can be taken up again: [`Locks::resume`](crate::Locks::resume).
///
/// Whoever has it can release the lock. `Debug` does not show the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockTicket {
    resource: Arc<str>,
    token: Token,
    fence: Fence,
}

impl LockTicket {
    /// A ticket from its parts, as another process was handed them.
    #[must_use]
    pub fn new(resource: &str, token: Token, fence: Fence) -> Self {
        Self { resource: resource.into(), token, fence }
    }

    /// The resource.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// The token.
    #[must_use]
    pub const fn token(&self) -> Token {
        self.token
    }

    /// The fence.
    #[must_use]
    pub const fn fence(&self) -> Fence {
        self.fence
    }
}

impl fmt::Display for LockTicket {
    /// The resource and the fence, for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (fence {})", self.resource, self.fence)
    }
}
