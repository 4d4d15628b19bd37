//! The handler's reply as the HTTP layer can judge and record it: with the status that stands for
//! its code, and all there, so that its length is known.

mod body;
mod future;
mod service;

pub use body::PresentedBody;
pub(crate) use body::into_bytes;
pub use future::PresentedFuture;
pub use service::Presented;
