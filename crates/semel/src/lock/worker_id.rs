//! Worker ids: the smallest free number of a range, for as long as its worker lives.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use semel_core::{Fence, Owner, StoreErrorKind};

use super::acquire::TryAcquired;
use super::error::{HeldBy, LockError, LockSettingError};
use super::guard::LockGuard;
use super::locks::Locks;
use super::lost::LockLoss;
use super::release::ReleaseOutcome;
use crate::timer::{self, Moment};

/// How many entries are listed at a time.
const PAGE: usize = 1_000;

/// How long one who found no free number rests before it looks again.
const REST: Duration = Duration::from_millis(500);

/// A number that is to be leased.
#[derive(Debug, Clone)]
#[must_use = "nothing is acquired before `acquire`"]
pub struct WorkerIdBuilder {
    locks: Locks,
    range: Arc<str>,
    numbers: u16,
    ttl: Duration,
    wait: Duration,
    owner: Owner,
}

impl Locks {
    /// A number from 0 to `numbers - 1`, such as generators of ids take (10 bits are 1024), to be
    /// set up. Each number is a lock of its own, `RANGE#00007`: those who share a range may name
    /// different numbers of numbers.
    pub fn worker_id(&self, range: &str, numbers: u16) -> WorkerIdBuilder {
        WorkerIdBuilder {
            locks: self.clone(),
            range: range.into(),
            numbers,
            ttl: super::terms::DEFAULT_TTL,
            wait: Duration::ZERO,
            owner: self.0.owner.clone(),
        }
    }
}

impl WorkerIdBuilder {
    /// How long the number of a worker that died is not given to another. Default: 10 s.
    pub fn ttl(self, ttl: Duration) -> Self {
        Self { ttl, ..self }
    }

    /// How long to wait for a number to become free. Default: not at all.
    pub fn wait(self, budget: Duration) -> Self {
        Self { wait: budget, ..self }
    }

    /// As [`LockBuilder::owner`](crate::LockBuilder::owner).
    pub fn owner(self, owner: Owner) -> Self {
        Self { owner, ..self }
    }

    /// Takes the smallest number that is free, and renews it as long as it lives. A listing of the
    /// range, and a round trip for each number that seemed free.
    ///
    /// # Errors
    ///
    /// [`LockError::Held`] when none is free, [`LockError::TimedOut`] after waiting; else as
    /// [`Locks::acquire`].
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// As [`Locks::try_acquire`].
    pub async fn acquire(&self) -> Result<WorkerId, LockError> {
        if self.numbers == 0 {
            return Err(LockSettingError::NoWorkerId.into());
        }
        let began = Moment::now();
        loop {
            let by = match self.look().await? {
                Found::Free(worker) => return Ok(worker),
                Found::None(by) => by,
            };
            let left = self.wait.saturating_sub(began.elapsed());
            if left.is_zero() {
                let waited = !self.wait.is_zero();
                return Err(if waited { LockError::TimedOut(by) } else { LockError::Held(by) });
            }
            timer::sleep(REST.min(left)).await;
        }
    }

    async fn look(&self) -> Result<Found, LockError> {
        let mut taken = self.taken().await?;
        loop {
            let mut held = None;
            for number in (0..self.numbers).filter(|number| !taken.contains(number)) {
                match self.try_number(number).await? {
                    TryAcquired::Acquired(guard) => {
                        return Ok(Found::Free(WorkerId { guard, number }));
                    }
                    TryAcquired::Held(by) => held = Some(by),
                }
            }
            match held {
                Some(by) => return Ok(Found::None(by)),
                // All were taken when they were listed: one is asked, to say by whom.
                None => taken = (1..self.numbers).collect(),
            }
        }
    }

    async fn try_number(&self, number: u16) -> Result<TryAcquired, LockError> {
        let lock = self.locks.lock(&self.resource(number)).ttl(self.ttl).renewed();
        lock.owner(self.owner.clone()).try_acquire().await
    }

    /// The numbers that are held for sure: not asked for one by one.
    async fn taken(&self) -> Result<BTreeSet<u16>, LockError> {
        let prefix = format!("{}#", self.range);
        let (mut taken, mut after) = (BTreeSet::new(), None::<Arc<str>>);
        loop {
            let page = match self.locks.list(&prefix, after.as_deref(), PAGE).await {
                Ok(page) => page,
                // Who may not list can still ask.
                Err(LockError::Refused(error))
                    if matches!(error.kind(), StoreErrorKind::Refused(_)) =>
                {
                    return Ok(taken);
                }
                Err(error) => return Err(error),
            };
            let held = page.locks.iter().filter(|lock| lock.status.is_some());
            taken.extend(held.filter_map(|lock| number(&lock.resource, &prefix)));
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(taken),
            }
        }
    }

    fn resource(&self, number: u16) -> String {
        // Of one width whatever the range, so that a number has one name only.
        format!("{}#{number:05}", self.range)
    }
}

enum Found {
    Free(WorkerId),
    None(HeldBy),
}

fn number(resource: &str, prefix: &str) -> Option<u16> {
    resource.strip_prefix(prefix)?.parse().ok()
}

/// A number that is nobody else's, as long as it is not lost. Dropped, it is given back in the
/// background.
#[derive(Debug)]
#[must_use = "a number that is dropped is given back"]
pub struct WorkerId {
    guard: LockGuard,
    number: u16,
}

impl WorkerId {
    /// The number, if it still is ours: asked each time that an id is made, no I/O. Once it is lost
    /// it stays lost, and nobody else can have got it before.
    ///
    /// # Errors
    ///
    /// Why it is lost.
    pub fn get(&self) -> Result<u16, LockLoss> {
        self.guard.loss().map_or(Ok(self.number), Err)
    }

    /// Rises with each worker that has this number.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.guard.fence()
    }

    /// The lock that stands for the number.
    pub const fn guard(&self) -> &LockGuard {
        &self.guard
    }

    /// The lock that stands for the number, for whoever is to have it from now on.
    pub fn into_guard(self) -> LockGuard {
        self.guard
    }

    /// As [`LockGuard::lost`].
    ///
    /// # Cancel safety
    ///
    /// As [`LockGuard::lost`].
    pub async fn lost(&self) -> LockLoss {
        self.guard.lost().await
    }

    /// As [`LockGuard::release`].
    ///
    /// # Errors
    ///
    /// As [`LockGuard::release`].
    ///
    /// # Cancel safety
    ///
    /// As [`LockGuard::release`].
    pub async fn release(&self) -> Result<ReleaseOutcome, LockError> {
        self.guard.release().await
    }
}
