//! Lease locks: who may work on a resource, for how long, and how they learn that it is over.
//!
//! [`Locks`](crate::Locks) is the engine; `docs/locks.md` is the manual.

mod acquire;
mod all;
mod builder;
mod doors;
mod drive;
mod elect;
mod error;
mod force;
mod guard;
mod held;
mod inspect;
mod locks;
mod lost;
mod queue;
mod reaper;
mod release;
mod renew;
mod request;
mod resume;
mod scope;
mod sentinel;
mod terms;
mod ticket;
mod worker_id;

pub use acquire::{AcquiredWithin, TryAcquired};
pub use all::{AllBuilder, LockSet};
pub use builder::LockBuilder;
pub use elect::{Election, Led};
pub use error::{HeldBy, LockError, LockSettingError};
pub use guard::{LockGuard, LockView};
pub use inspect::{ListedLock, LockPage};
pub use locks::{Locks, LocksShutdown};
pub use lost::LockLoss;
pub use release::{Extended, ReleaseOutcome};
pub use resume::{ResumeBuilder, Resumed};
pub use scope::ScopeError;
pub use ticket::LockTicket;
pub use worker_id::{WorkerId, WorkerIdBuilder};
