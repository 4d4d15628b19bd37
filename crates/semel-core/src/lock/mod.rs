//! What an entry of a lock says: who holds it, who waits, and what was forced.
//!
//! The decision over it is [`protocol::lock`](crate::protocol::lock), its bytes are
//! [`codec::encode_lock`](crate::codec::encode_lock).

mod entry;
mod holder;
mod kind;
mod note;
mod words;

pub use entry::{LockEntry, Waiter};
pub use holder::{Grant, Holder, Stage};
pub use kind::{LockKind, Mode, Permits, PermitsError, Want};
pub use note::Note;
pub use words::Reason;
