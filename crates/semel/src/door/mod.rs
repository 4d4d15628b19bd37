//! What doors that are built on [`Once::begin`](crate::Once::begin) do alike, whatever protocol
//! they speak: the span that the logs of a call stand in, and the claims that a call is under
//! already.

mod around;
mod span;

pub use around::ClaimsAround;
pub use span::{span_of, tell_begun};
