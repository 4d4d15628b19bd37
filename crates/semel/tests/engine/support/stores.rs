//! Stores that misbehave in ways of their own.

use std::sync::atomic::{AtomicBool, Ordering};

use semel::MemoryStore;
use semel::core::{Expect, Key, Next, Store, StoreError, StoreResult, Swap, Touch};

pub(crate) use super::around::{Around, Late, Stepping, Wrapped};

// ===== Fickle =====

/// Says of every claim that it lost to nothing: the entry was there, and is not.
#[derive(Debug)]
pub(crate) struct Fickle;

#[async_trait::async_trait]
impl Around for Fickle {
    async fn swap(&self, inner: &MemoryStore, key: &Key, _: Expect, _: Next) -> StoreResult<Swap> {
        Ok(Swap::Lost(inner.read(key, Touch::No).await?))
    }
}

// ===== NoRecords =====

/// Takes claims and renewals; outcomes only when it is told to.
#[derive(Debug, Default)]
pub(crate) struct NoRecords {
    pub(crate) open: AtomicBool,
    pub(crate) refused: std::sync::atomic::AtomicUsize,
}

#[async_trait::async_trait]
impl Around for NoRecords {
    async fn swap(
        &self,
        inner: &MemoryStore,
        key: &Key,
        expect: Expect,
        next: Next,
    ) -> StoreResult<Swap> {
        let ends = match (&expect, &next) {
            (_, Next::Renew { .. }) | (Expect::Absent, _) => false,
            (_, Next::Put { lease, .. }) => lease.is_zero(),
            (_, Next::Delete) => true,
        };
        if ends && !self.open.load(Ordering::SeqCst) {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err(StoreError::not_applied("no connection"));
        }
        inner.swap(key, expect, next).await
    }
}
