//! Leader election: one of many does the work, as long as it can.

use std::time::Duration;

use rand::RngExt;
use semel_core::Owner;

use super::builder::LockBuilder;
use super::error::LockError;
use super::guard::{LockGuard, LockView};
use super::locks::Locks;
use super::lost::LockLoss;
use crate::timer;

/// How long a candidate rests after the store failed.
const REST: Duration = Duration::from_secs(1);

/// One candidate among those who want to lead.
///
/// A leader holds a renewed lock; the others wait for it in order. When a leader dies the next one
/// leads within one lease.
#[derive(Debug, Clone)]
#[must_use = "nobody leads before `lead` or `lead_once`"]
pub struct Election {
    lock: LockBuilder,
}

/// How a term of leadership ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Led<T> {
    /// The work ended by itself.
    Finished(T),
    /// The lock was lost, and the work was cut off.
    Deposed(LockLoss),
}

impl Locks {
    /// A candidate for the lead of `resource`, to be set up.
    pub fn election(&self, resource: &str) -> Election {
        Election { lock: self.lock(resource).renewed().wait(Duration::MAX) }
    }
}

impl Election {
    /// How long it takes at most until the next one leads when a leader dies. Default: 10 s.
    pub fn ttl(self, ttl: Duration) -> Self {
        Self { lock: self.lock.ttl(ttl) }
    }

    /// The longest term: after it the lead is given to the next one who waits. Default: no end.
    pub fn max_term(self, max_term: Duration) -> Self {
        Self { lock: self.lock.max_hold(max_term) }
    }

    /// As [`LockBuilder::owner`].
    pub fn owner(self, owner: Owner) -> Self {
        Self { lock: self.lock.owner(owner) }
    }

    /// Waits until it leads, and does `work` as long as it does.
    ///
    /// The work is dropped when the lock is lost, before the lease ends at the store: it must not
    /// block its thread, or it goes on for as long as that. The lead is given up after the work has
    /// ended, and not before. A store that can't be reached is waited for.
    ///
    /// # Errors
    ///
    /// [`LockError`], for what will not get better by waiting. The work did not run.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, and where the work panics.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the work is cut off, and the lead is given up in the background.
    pub async fn lead_once<T, W>(&self, work: W) -> Result<Led<T>, LockError>
    where
        W: AsyncFnOnce(&LockGuard) -> T,
    {
        let guard = self.elected().await?;
        let led = tokio::select! {
            // Who has lost the lead does not get to work once more.
            biased;
            loss = guard.lost() => Led::Deposed(loss),
            done = work(&guard) => Led::Finished(done),
        };
        // The next one need not wait for the end of the lease.
        if let Err(error) = guard.release().await {
            tracing::warn!(%error, "a lead could not be given up yet");
        }
        Ok(led)
    }

    /// Leads again and again until a term's work ends by itself, and gives what it came to. See
    /// [`Election::lead_once`].
    ///
    /// # Errors
    ///
    /// As [`Election::lead_once`].
    ///
    /// # Panics
    ///
    /// As [`Election::lead_once`].
    ///
    /// # Cancel safety
    ///
    /// As [`Election::lead_once`].
    pub async fn lead<T, W, F>(&self, mut work: W) -> Result<T, LockError>
    where
        W: FnMut(LockView) -> F,
        F: Future<Output = T>,
    {
        loop {
            match self.lead_once(async |guard| work(guard.view()).await).await? {
                Led::Finished(done) => return Ok(done),
                Led::Deposed(loss) => tracing::warn!(%loss, "a leader was deposed"),
            }
        }
    }

    async fn elected(&self) -> Result<LockGuard, LockError> {
        loop {
            match self.lock.acquire().await {
                Ok(guard) => return Ok(guard),
                Err(
                    error @ (LockError::Unavailable(_)
                    | LockError::Indeterminate(_)
                    | LockError::TimedOut(_)),
                ) => {
                    tracing::warn!(%error, "a candidate waits for the store");
                    let rest = REST.mul_f64(rand::rng().random_range(0.5..1.0));
                    timer::sleep(rest).await;
                }
                Err(error) => return Err(error),
            }
        }
    }
}
