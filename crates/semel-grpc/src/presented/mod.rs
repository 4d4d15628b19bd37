//! The handler's reply as the HTTP layer can judge and record it: with the status that stands for
//! its code, and all there, so that its length is known.

mod body;
mod future;
mod service;

pub use body::PresentedBody;
pub use future::PresentedFuture;
pub(crate) use future::into_bytes;
pub use service::Presented;
