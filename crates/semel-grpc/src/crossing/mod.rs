//! Operations that can be called through HTTP too.

mod doors;
mod erased;
mod form;

pub use doors::Crossings;
pub use form::Crossing;
