//! What a door with a gate knows.

use std::fmt;
use std::sync::Arc;

use semel::Gate;

use super::source::FenceResource;

/// What a service needs to know.
#[derive(Clone)]
pub(super) struct FenceDoor {
    pub(super) gate: Arc<dyn Gate>,
    pub(super) resource: FenceResource,
    pub(super) missing: MissingFence,
}

impl fmt::Debug for FenceDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FenceDoor")
            .field("resource", &self.resource)
            .field("missing", &self.missing)
            .finish_non_exhaustive()
    }
}

/// What becomes of a request that shows no fence, or has no resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MissingFence {
    /// 400, unless its method is safe (RFC 9110, section 9.2.1).
    #[default]
    Require,
    /// It passes, unchecked.
    Pass,
}
