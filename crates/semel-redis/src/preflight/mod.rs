//! What a store promises as its servers are set up, what it does not, and what to change.

mod check;
mod facts;
mod findings;
mod info;
mod inspect;
mod report;

pub use check::Check;
pub(crate) use facts::micros;
pub(crate) use inspect::Inspector;
