//! Where a request carries its idempotency key, and how it is read.
//!
//! [`KeySources::find`] reads every configured place and gives the one key that all of them agree
//! on. What can't be read is an error, never "no key": a request whose key is lost would run
//! unprotected, and its sender would not know.

mod baggage;
mod fault;
mod found;
mod header;
mod octets;
mod place;
mod sources;
#[cfg(test)]
mod tests;

pub use fault::{BaggageFault, HeaderFault, ItemKind, KeyFault};
pub use found::{Found, UncheckedKey};
pub use header::{HeaderSyntax, HeaderSyntaxError};
pub use place::{BaggageKey, BaggageKeyError, KeySource};
pub use sources::{KeySources, KeySourcesError};
