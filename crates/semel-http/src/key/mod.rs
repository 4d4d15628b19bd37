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
mod sources;
#[cfg(test)]
mod tests;

pub use baggage::{BaggageKey, BaggageKeyError};
pub use fault::{BaggageFault, HeaderFault, ItemKind, KeyFault};
pub use found::{Found, KeySource, UncheckedKey};
pub use header::{HeaderSyntax, HeaderSyntaxError};
pub use sources::{KeySources, KeySourcesError};
