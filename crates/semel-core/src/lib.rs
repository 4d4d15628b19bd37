//! Words, rules and the contract behind Semel.
//!
//! This crate is for those who write stores or doors. Those who use Semel want crate `semel`.
//!
//! * [`Store`] is what every store keeps: five methods, each one atomic step.
//! * [`Key`] and [`Scope`] name entries so that no two callers can share one by accident.
//! * [`MemoryStore`] is the reference: every other store behaves as it does.
//!
//! It knows of no runtime, no clock, no network and no HTTP.

mod hints;
mod key;
mod memory;
mod scope;
mod segment;
mod store;
mod store_error;
mod time;

pub use hints::Hints;
pub use key::{Key, KeyDigest, KeyError};
pub use memory::{ManualClock, MemoryLimits, MemoryStore};
pub use scope::{Scope, ScopeError};
pub use store::{
    Entry, Expect, Hint, Next, Page, Snapshot, Stamp, Store, StoreResult, Swap, Touch, Version,
};
pub use store_error::{Refusal, StoreError, StoreErrorKind};
pub use time::{Clock, StoreTime, Ttl, TtlError};
