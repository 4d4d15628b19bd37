//! Several locks at once: all or none.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join_all, select_all};
use semel_core::{Owner, StoreError};

use super::builder::LockBuilder;
use super::error::{LockError, LockSettingError};
use super::guard::LockGuard;
use super::locks::Locks;
use super::lost::LockLoss;
use super::release::{Extended, ReleaseOutcome};
use crate::timer::Moment;

/// Several locks that are got together or not at all.
///
/// They are acquired in the order of their names, whatever order they are named in: two callers
/// that want the same ones can't wait for each other.
#[derive(Debug, Clone)]
#[must_use = "nothing is acquired before `acquire`"]
pub struct AllBuilder {
    locks: Locks,
    resources: BTreeSet<Arc<str>>,
    ttl: Duration,
    renewed: bool,
    wait: Duration,
    owner: Owner,
}

impl Locks {
    /// Takes several locks of one holder, all or none, without waiting: see [`Locks::all`].
    ///
    /// # Errors
    ///
    /// [`LockError::Held`], which names the first that others have; else as [`Locks::acquire`].
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropped at its await, what it had acquired is given back in the background.
    pub async fn acquire_all<S: AsRef<str>>(
        &self,
        resources: impl IntoIterator<Item = S>,
        ttl: Duration,
    ) -> Result<LockSet, LockError> {
        self.all(resources).ttl(ttl).acquire().await
    }

    /// Several locks of one holder, to be set up. A resource that is named twice is locked once.
    pub fn all<S: AsRef<str>>(&self, resources: impl IntoIterator<Item = S>) -> AllBuilder {
        let resources = resources.into_iter().map(|resource| resource.as_ref().into()).collect();
        AllBuilder {
            locks: self.clone(),
            resources,
            ttl: super::terms::DEFAULT_TTL,
            renewed: false,
            wait: Duration::ZERO,
            owner: self.0.owner.clone(),
        }
    }
}

impl AllBuilder {
    /// As [`LockBuilder::ttl`], for each; counted from when the last was got.
    pub fn ttl(self, ttl: Duration) -> Self {
        Self { ttl, ..self }
    }

    /// As [`LockBuilder::renewed`], for each.
    pub fn renewed(self) -> Self {
        Self { renewed: true, ..self }
    }

    /// How long to wait for all of them together. Default: not at all.
    pub fn wait(self, budget: Duration) -> Self {
        Self { wait: budget, ..self }
    }

    /// As [`LockBuilder::owner`], for each.
    pub fn owner(self, owner: Owner) -> Self {
        Self { owner, ..self }
    }

    /// Takes them all, or none.
    ///
    /// # Errors
    ///
    /// As [`LockBuilder::acquire`], for the first that is not got; those that were got before it are
    /// given back in the background. [`LockSettingError::NoResource`] for none.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropped at its await, what it had acquired is given back in the background.
    pub async fn acquire(&self) -> Result<LockSet, LockError> {
        if self.resources.is_empty() {
            return Err(LockSettingError::NoResource.into());
        }
        let began = Moment::now();
        let mut guards = Vec::with_capacity(self.resources.len());
        for resource in &self.resources {
            let left = self.wait.saturating_sub(began.elapsed());
            guards.push(self.one(resource).wait(left).acquire().await?);
        }
        self.settle(&guards).await?;
        Ok(LockSet { guards })
    }

    /// Those that were got are renewed while one waits for the others.
    fn one(&self, resource: &str) -> LockBuilder {
        let lock = self.locks.lock(resource).ttl(self.ttl).owner(self.owner.clone());
        if self.renewed || !self.wait.is_zero() { lock.renewed() } else { lock }
    }

    /// All of them are held, from now on on the terms that were asked for.
    async fn settle(&self, guards: &[LockGuard]) -> Result<(), LockError> {
        let lost = |loss: LockLoss| {
            let message = format!("a lock was lost while the others were acquired: {loss}");
            Err(LockError::Unavailable(StoreError::not_applied(message)))
        };
        if !self.renewed && !self.wait.is_zero() {
            for guard in guards {
                guard.leave_keeper();
                if let Extended::Lost(loss) = guard.extend(self.ttl).await? {
                    return lost(loss);
                }
            }
        }
        guards.iter().find_map(LockGuard::loss).map_or(Ok(()), lost)
    }
}

/// Several locks that are held together. Dropped, they are released in the background.
#[derive(Debug)]
#[must_use = "a set that is dropped releases its locks"]
pub struct LockSet {
    guards: Vec<LockGuard>,
}

impl LockSet {
    /// The guards, in the order of their resources.
    pub fn guards(&self) -> &[LockGuard] {
        &self.guards
    }

    /// The guard of a resource.
    #[must_use]
    pub fn get(&self, resource: &str) -> Option<&LockGuard> {
        self.guards.iter().find(|guard| guard.resource() == resource)
    }

    /// Ends when the first of them is lost. See [`LockGuard::lost`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves nothing behind; asked again, it gives the same answer.
    pub async fn lost(&self) -> LockLoss {
        select_all(self.guards.iter().map(|guard| Box::pin(guard.lost()))).await.0
    }

    /// Releases all of them, and says for each, in the order of [`LockSet::guards`], what it came
    /// to. See [`LockGuard::release`].
    ///
    /// # Cancel safety
    ///
    /// As [`LockGuard::release`], for each.
    pub async fn release(&self) -> Vec<Result<ReleaseOutcome, LockError>> {
        join_all(self.guards.iter().map(LockGuard::release)).await
    }
}
