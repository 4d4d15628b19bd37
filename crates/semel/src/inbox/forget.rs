//! Forgetting a message, so that it runs again.

use std::pin::pin;

use semel_core::StoreError;
use semel_core::protocol::{AtWork, Forgotten};

use super::door::Inbox;
use super::message_id::MessageId;
use crate::drive::{Address, in_time, look};

/// How often it is looked anew because the record changed meanwhile.
const ROUNDS: usize = 16;

impl Inbox {
    /// Forgets a message: what was recorded of it, and how often it was tried. Its next delivery
    /// runs, whatever came before.
    ///
    /// For a message that is sent out of a dead-letter queue once more. It is needed for one that
    /// was [in doubt](super::Delivery::InDoubt), and for one that is to be handled a second time; a
    /// message that only failed has left no mark but a count, and poison not even that.
    ///
    /// Three round trips, and a fourth where attempts were counted.
    ///
    /// # Errors
    ///
    /// The store's; `Unknown` when it may have been forgotten, `NotApplied` also when it changes
    /// all the time.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have been forgotten or not; forgetting it again is right.
    pub async fn forget(&self, id: &MessageId, owner: AtWork) -> Result<Forgotten, StoreError> {
        let keys = self.keys(id);
        let (record, attempts) =
            keys.map_err(|error| StoreError::not_applied("no key").caused_by(error))?;
        let once = &self.0.once;
        let at = Address::of(record);
        for _ in 0..ROUNDS {
            let seen = in_time(pin!(look(&**once.store(), &at))).await?;
            let forgotten = match seen.record {
                Some(there) => once.forget(&at.key, there.version, owner).await?,
                None => Forgotten::Forgotten,
            };
            match forgotten {
                Forgotten::Changed => {}
                Forgotten::StillHeld { .. } => return Ok(forgotten),
                Forgotten::Forgotten => {
                    let counter = self.counter(attempts);
                    counter.change(counter.read().await?, |_| 0).await?;
                    return Ok(forgotten);
                }
            }
        }
        Err(StoreError::not_applied("the record changes all the time"))
    }
}
