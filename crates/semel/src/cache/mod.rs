//! Cached values. (The manual follows.)

mod blocking;
#[cfg(feature = "cached")]
mod cached;
mod engine;
mod entry;
mod error;
#[cfg(feature = "cached")]
mod exchange;
mod keys;
mod lifetime;
mod read;
mod remove;
mod replace;
mod typed;
mod write;

pub use blocking::{BlockingCache, BlockingTypedCache};
#[cfg(feature = "cached")]
pub use cached::CachedStore;
pub use engine::{Cache, CacheBuilder};
pub use error::{CacheError, CacheSettingError};
pub use keys::KeyPage;
pub use lifetime::{Lifetime, LifetimeError};
pub use read::Refreshed;
pub use remove::{Removed, TryRemoved};
pub use replace::TryReplaced;
pub use typed::TypedCache;
pub use write::TryAdded;
