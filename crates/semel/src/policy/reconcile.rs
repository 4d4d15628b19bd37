//! Asking the application how a doubtful call ended.

use std::fmt;

use futures_util::future::BoxFuture;
use semel_core::{Key, Operation, Outcome, Owner, StoreTime};

/// The application's knowledge of how a call ended whose owner is gone: it may look into its own
/// tables, or ask whoever the work had called.
///
/// It may be asked about the same call by several callers at once, and again after it answered
/// [`Reconciled::Unknown`].
pub trait Reconcile: Send + Sync + fmt::Debug {
    /// How did it end?
    fn reconcile<'a>(&'a self, doubtful: &'a Doubtful) -> BoxFuture<'a, Reconciled>;
}

/// A call in doubt.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Doubtful {
    /// Its key in the store.
    pub key: Key,
    /// What it does.
    pub operation: Operation,
    /// How many owners it had.
    pub attempt: u32,
    /// The last of them.
    pub owner: Option<Owner>,
    /// When it was last heard of, by the store's clock.
    pub since: StoreTime,
}

/// What the application knows.
#[derive(Debug, Clone)]
pub enum Reconciled {
    /// It took effect, and this is its answer.
    Done(Outcome),
    /// It took no effect: it may run again.
    NoEffect,
    /// It can't be told (yet): the caller is refused with `CACHING_CONFLICT_004`.
    Unknown,
}
