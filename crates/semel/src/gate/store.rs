//! A gate that remembers in a store.

use std::pin::pin;
use std::sync::Arc;

use async_trait::async_trait;
use semel_core::protocol::{Passage, judge};
use semel_core::{
    Expect, Fence, GateAnswer, GateError, Key, KeyError, Next, Snapshot, Store, StoreError,
    StoreResult, Swap, Touch, Ttl, codec,
};

use super::Gate;
use crate::drive::{Address, in_time};

/// How often a fence is shown anew because another was remembered meanwhile.
const ROUNDS: usize = 16;

/// A gate for work under locks: it remembers, in a store, the highest fence that it was shown for
/// each resource, and refuses a smaller one.
///
/// It is for resources that can't compare fences themselves: scripts, commands, other people's
/// interfaces. It closes the gap only up to the moment of the check: what must not happen late at
/// all compares the fence in the step itself, as a condition of the write.
#[derive(Debug, Clone)]
pub struct StoreGate(Arc<dyn Store>);

impl StoreGate {
    /// A gate over this store. It need not be the store of the locks.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self(store)
    }

    /// Shows a fence. One that passes as the highest is remembered before this returns; it is kept
    /// for ten years after that.
    ///
    /// Two round trips for a new highest fence, one for any other.
    ///
    /// # Errors
    ///
    /// The store's; whatever it is, the fence has not passed. After an error of kind `Unknown` the
    /// fence may be remembered, and showing it again is right.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the fence may be remembered or not; showing it again is right.
    pub async fn show(&self, resource: &Key, fence: Fence) -> Result<GateAnswer, StoreError> {
        in_time(pin!(self.shown(&Address::of(resource.clone()), fence))).await
    }

    /// The key of a resource at gates: `fence:<resource>`.
    ///
    /// # Errors
    ///
    /// [`KeyError`]: the resource is empty or breaks the grammar of keys.
    pub fn key(resource: &str) -> Result<Key, KeyError> {
        Key::fence(resource)
    }

    async fn shown(&self, at: &Address, fence: Fence) -> Result<GateAnswer, StoreError> {
        let mut there = self.0.read(&at.key, Touch::No).await?;
        for _ in 0..ROUNDS {
            match judge(last(at, &there)?, fence) {
                Passage::Pass => return Ok(GateAnswer::Passed),
                Passage::Refuse { seen } => return Ok(GateAnswer::Refused { seen }),
                Passage::Remember => match self.remember(at, &there, fence).await? {
                    Swap::Won(_) => return Ok(GateAnswer::Passed),
                    Swap::Lost(snapshot) => there = snapshot,
                },
            }
        }
        Err(StoreError::not_applied("the last fence changes all the time"))
    }

    async fn remember(&self, at: &Address, there: &Snapshot, fence: Fence) -> StoreResult<Swap> {
        let expect = there.entry.as_ref().map_or(Expect::Absent, |e| Expect::Version(e.version));
        let value = codec::encode_last_fence(&at.digest, fence);
        self.0.swap(&at.key, expect, Next::Put { value, lease: Ttl::ZERO, keep: Ttl::MAX }).await
    }
}

#[async_trait]
impl Gate for StoreGate {
    /// As [`StoreGate::show`].
    async fn check(&self, resource: &str, fence: Fence) -> Result<GateAnswer, GateError> {
        Ok(self.show(&Self::key(resource)?, fence).await?)
    }
}

/// The highest so far. One that can't be read is never taken for none.
fn last(at: &Address, there: &Snapshot) -> Result<Option<Fence>, StoreError> {
    let Some(entry) = &there.entry else { return Ok(None) };
    codec::decode_last_fence(&at.digest, &entry.value).map(Some).map_err(|damaged| {
        StoreError::damaged(format!("the last fence of key {}", at.digest)).caused_by(damaged)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timer::SystemClock;
    use semel_core::MemoryStore;

    fn gate() -> (StoreGate, Key) {
        let store = Arc::new(MemoryStore::new(SystemClock::new()));
        (StoreGate::new(store), StoreGate::key("orders").unwrap())
    }

    #[tokio::test]
    async fn a_fence_passes_until_a_higher_one_was_seen() {
        let (gate, orders) = gate();
        for (shown, answer) in [
            (7, GateAnswer::Passed),
            (7, GateAnswer::Passed),
            (9, GateAnswer::Passed),
            (8, GateAnswer::Refused { seen: Fence::new(9) }),
            (9, GateAnswer::Passed),
        ] {
            assert_eq!(gate.show(&orders, Fence::new(shown)).await.unwrap(), answer, "{shown}");
        }
        let other = StoreGate::key("other").unwrap();
        assert_eq!(gate.show(&other, Fence::new(1)).await.unwrap(), GateAnswer::Passed);
    }

    #[tokio::test]
    async fn what_was_seen_and_can_not_be_read_lets_nothing_pass() {
        let (gate, orders) = gate();
        let value = bytes::Bytes::from_static(b"?");
        let next = Next::Put { value, lease: Ttl::ZERO, keep: Ttl::MAX };
        let damaged = gate.0.swap(&orders, Expect::Any, next).await.unwrap();
        assert!(matches!(damaged, Swap::Won(_)));
        let error = gate.show(&orders, Fence::new(1)).await.unwrap_err();
        assert_eq!(error.kind(), semel_core::StoreErrorKind::Damaged);
    }
}
