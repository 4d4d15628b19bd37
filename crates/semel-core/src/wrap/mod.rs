//! Stores around stores. Each passes the conformance suite of the store it wraps, and denies
//! itself the default body of any method that the contract may gain.

mod fault;
mod observe;
mod prefix;
mod seal;

pub use fault::{Fault, FaultAction, FaultCall, Gate, StoreOp};
pub use observe::Observe;
pub use prefix::{Namespace, NamespaceError, Prefix};
pub use seal::{Seal, SealKey, SealKeyId, SealKeys, SealKeysError};
