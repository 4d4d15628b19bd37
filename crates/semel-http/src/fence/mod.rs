//! The other half of fencing over HTTP: a header with the fence, and a layer that refuses older ones.

mod door;
mod headers;
mod layer;
mod service;
mod source;
mod verdict;

pub use door::MissingFence;
pub use headers::{LOCK_FENCE, LOCK_RESOURCE, add_lock_fence, add_lock_resource};
pub use layer::FenceLayer;
pub use service::{FenceFuture, FenceGuarded};
pub use source::{FenceResource, ResourceOf};
pub use verdict::ShownFence;
