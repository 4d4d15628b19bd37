//! The other half of fencing: gates refuse a fence that is smaller than one they have seen.

mod file;
mod file_form;
mod store;

#[cfg(test)]
mod file_tests;

use std::sync::Arc;

use async_trait::async_trait;
use semel_core::{Fence, GateAnswer, GateError};

pub use file::{FileGate, FilePass, FilePassage};
pub use store::StoreGate;

/// Something that remembers the highest fence that it was shown for each resource, and refuses a
/// smaller one. Doors, such as the `FenceLayer` of crate `semel-http`, ask it.
///
/// A gate that is asked apart from the write closes the gap up to the moment of the check. Those
/// that check in the same step as the write close it altogether: the `FenceGate` of crates
/// `semel-postgres`, `semel-sqlite` and `semel-redis`, and [`FileGate`].
#[async_trait]
pub trait Gate: Send + Sync {
    /// Shows a fence for a resource. One that passes as the highest is remembered before this
    /// returns; the same one again passes.
    ///
    /// # Errors
    ///
    /// [`GateError`]: there is no answer, and the fence has not passed.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the fence may be remembered or not; showing it again is right.
    async fn check(&self, resource: &str, fence: Fence) -> Result<GateAnswer, GateError>;
}

#[async_trait]
impl<G: Gate + ?Sized> Gate for Arc<G> {
    async fn check(&self, resource: &str, fence: Fence) -> Result<GateAnswer, GateError> {
        (**self).check(resource, fence).await
    }
}
