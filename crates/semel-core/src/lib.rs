//! Words, rules and the contract behind Semel.
//!
//! This crate is for those who write stores or doors. Those who use Semel want crate `semel`.
//!
//! * [`Store`] is what every store keeps: five methods, each one atomic step.
//! * [`Key`] and [`Scope`] name entries so that no two callers can share one by accident.
//! * [`Record`] is what an entry of an idempotent call says, [`codec`] its bytes, and [`protocol`]
//!   the pure decision that every door and every store shares.
//! * [`lock::LockEntry`] is what an entry of a lock says, [`protocol::lock`] its decision.
//! * [`CacheEntry`] is what an entry of a cache says.
//! * [`MemoryStore`] is the reference: every other store behaves as it does.
//!
//! It knows of no runtime, no clock, no network and no HTTP.

mod cache_entry;
pub mod cocommit;
pub mod codec;
#[cfg(feature = "conformance")]
pub mod conformance;
mod fence;
mod fingerprint;
mod gate;
mod hints;
mod key;
pub mod lock;
mod memory;
mod part_digest;
mod preflight;
pub mod protocol;
mod record;
mod scope;
mod segment;
mod store;
mod store_error;
mod time;
mod wrap;

pub use cache_entry::{CacheEntry, Renewal};
pub use fence::{Fence, FenceError};
pub use fingerprint::{Fingerprint, FingerprintBuilder, PartName};
pub use gate::{GateAnswer, GateError};
pub use hints::Hints;
pub use key::{Key, KeyDigest, KeyError};
pub use memory::{ManualClock, MemoryLimits, MemoryStore};
pub use part_digest::{PartDigest, PartHasher};
pub use preflight::{Finding, FindingLevel, Preflight};
pub use record::{
    Claim, Doubt, Extent, Form, Operation, OperationError, Outcome, Owner, Record, State, Token,
    UnknownForm,
};
pub use scope::{Scope, ScopeError};
pub use store::{
    Entry, Expect, Hint, Next, Page, Snapshot, Stamp, Store, StoreResult, Swap, Touch, Version,
};
pub use store_error::{Refusal, StoreError, StoreErrorKind};
pub use time::{Clock, StoreTime, Ttl, TtlError};
pub use wrap::{
    Fault, FaultAction, FaultCall, Gate, Namespace, NamespaceError, Observe, Prefix, Seal, SealKey,
    SealKeyId, SealKeys, SealKeysError, StoreOp,
};
