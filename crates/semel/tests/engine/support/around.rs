//! Stores with something around their calls: for calls and for locks.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use semel::MemoryStore;
use semel::core::{
    Expect, Gate, Hint, Key, Next, Page, Snapshot, Store, StoreError, StoreOp, StoreResult, Swap,
    Touch,
};
use semel::timer::sleep;

/// What happens around the calls of a store.
#[async_trait::async_trait]
pub(crate) trait Around: std::fmt::Debug + Send + Sync + 'static {
    async fn swap(
        &self,
        inner: &MemoryStore,
        key: &Key,
        expect: Expect,
        next: Next,
    ) -> StoreResult<Swap>;

    async fn read(&self, inner: &MemoryStore, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        inner.read(key, touch).await
    }
}

/// A memory store with something around it.
#[derive(Debug)]
pub(crate) struct Wrapped<A> {
    pub(crate) inner: MemoryStore,
    pub(crate) around: Arc<A>,
}

impl<A> Clone for Wrapped<A> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone(), around: Arc::clone(&self.around) }
    }
}

impl<A: Around> Wrapped<A> {
    pub(crate) fn new(around: A) -> Self {
        Self { inner: super::memory(), around: Arc::new(around) }
    }
}

#[async_trait::async_trait]
impl<A: Around> Store for Wrapped<A> {
    async fn swap(&self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap> {
        self.around.swap(&self.inner, key, expect, next).await
    }

    async fn read(&self, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        self.around.read(&self.inner, key, touch).await
    }

    fn changed(&self, key: &Key) -> Hint {
        self.inner.changed(key)
    }

    async fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> StoreResult<Page> {
        self.inner.scan(prefix, after, limit).await
    }

    async fn sweep(&self, limit: usize) -> StoreResult<usize> {
        self.inner.sweep(limit).await
    }
}

// ===== Late =====

/// Writes whose reply is lost and which land when a gate opens, whoever waits for them.
#[derive(Debug, Default)]
pub(crate) struct Late {
    gates: Mutex<VecDeque<Gate>>,
    /// Whether reads fail.
    pub(crate) blind: AtomicBool,
}

impl Late {
    /// The next write is late.
    pub(crate) fn next(&self) -> Gate {
        let gate = Gate::closed();
        self.gates.lock().push_back(gate.clone());
        gate
    }
}

#[async_trait::async_trait]
impl Around for Late {
    async fn swap(
        &self,
        inner: &MemoryStore,
        key: &Key,
        expect: Expect,
        next: Next,
    ) -> StoreResult<Swap> {
        let Some(gate) = self.gates.lock().pop_front() else {
            return inner.swap(key, expect, next).await;
        };
        let (inner, key) = (inner.clone(), key.clone());
        tokio::spawn(async move {
            passed(&gate).await;
            drop(inner.swap(&key, expect, next).await);
        });
        Err(StoreError::unknown("no reply"))
    }

    async fn read(&self, inner: &MemoryStore, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        if self.blind.load(Ordering::SeqCst) {
            return Err(StoreError::not_applied("no connection"));
        }
        inner.read(key, touch).await
    }
}

/// Waits for a gate to open, as a store's call would.
async fn passed(gate: &Gate) {
    let fault = semel::core::Fault::new(super::memory());
    fault.next(StoreOp::Sweep, semel::core::FaultAction::HoldBefore(gate.clone()));
    fault.sweep(0).await.unwrap();
}

// ===== Stepping =====

/// Every call takes a moment before it is carried out and one after.
#[derive(Debug)]
pub(crate) struct Stepping;

#[async_trait::async_trait]
impl Around for Stepping {
    async fn swap(
        &self,
        inner: &MemoryStore,
        key: &Key,
        expect: Expect,
        next: Next,
    ) -> StoreResult<Swap> {
        stepped(inner.swap(key, expect, next)).await
    }

    async fn read(&self, inner: &MemoryStore, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        stepped(inner.read(key, touch)).await
    }
}

async fn stepped<T>(call: impl Future<Output = T> + Send) -> T {
    sleep(super::millis(1)).await;
    let reply = call.await;
    sleep(super::millis(1)).await;
    reply
}
