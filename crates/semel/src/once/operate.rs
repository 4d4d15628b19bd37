//! What people do to calls: say how a doubtful one ended, forget one.

use std::pin::pin;

use semel_core::protocol::{Ask, AtWork, Forget, Forgotten, Resolution, Resolve, Resolved};
use semel_core::{Key, StoreError, Token, Version};

use super::engine::Once;
use crate::drive::{Address, drive, in_time, look};

impl Once {
    /// Says how a call in doubt ended, for somebody who looked and knows. `version` is that of the
    /// record that was looked at: if it has changed since, nothing is.
    ///
    /// Two round trips.
    ///
    /// # Errors
    ///
    /// The store's; `Unknown` when it may have been settled.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, if the store does not answer at once.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have been settled or not.
    pub async fn resolve(
        &self,
        key: &Key,
        version: Version,
        resolution: Resolution,
    ) -> Result<Resolved, StoreError> {
        self.operate(key, Resolve { version, token: Token::fresh(), resolution }).await
    }

    /// Forgets a call: its key is free, and the same call runs again. `version` is that of the
    /// record that was looked at: if it has changed since, nothing is.
    ///
    /// Two round trips.
    ///
    /// # Errors
    ///
    /// The store's; `Unknown` when it may have been forgotten.
    ///
    /// # Panics
    ///
    /// As [`Once::resolve`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have been forgotten or not.
    pub async fn forget(
        &self,
        key: &Key,
        version: Version,
        owner: AtWork,
    ) -> Result<Forgotten, StoreError> {
        self.operate(key, Forget { version, owner }).await
    }

    async fn operate<A: Ask>(&self, key: &Key, ask: A) -> Result<A::Answer, StoreError> {
        let at = Address::of(key.clone());
        let store = &*self.0.store;
        let operated = async { drive(store, &at, &ask, look(store, &at).await?).await };
        Ok(in_time(pin!(operated)).await?.answer)
    }
}
