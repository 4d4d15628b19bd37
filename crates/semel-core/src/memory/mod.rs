//! The reference store: in memory, by an injected clock, bounded in bytes.

mod clock;
mod limits;
mod shard;
mod store;

pub use clock::ManualClock;
pub use limits::MemoryLimits;
pub use store::MemoryStore;
