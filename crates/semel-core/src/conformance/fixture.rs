//! What a store tells the suite about itself.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::key::Key;
use crate::store::Store;

/// Work that the suite hands to the fixture's runtime, and what tells that it ended.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A store under test. Each case gets a fresh one, with no entries in it.
#[async_trait]
pub trait Fixture: Send + Sync {
    /// A handle to the store; always the same one.
    fn store(&self) -> Arc<dyn Store>;

    /// Another handle to the same entries: another connection or, for a store that several
    /// processes can open, one that shares nothing with the first but the data.
    async fn second_handle(&self) -> Arc<dyn Store>;

    /// Comes back when the *store's* clock has moved on by at least `by`.
    async fn pass(&self, by: Duration);

    /// Closes the store as the end of its process would, and opens it again. Called once at
    /// most; the suite has dropped its own handles.
    async fn reopen(&self) -> Reopen;

    /// Starts `task` so that it runs in parallel to others. What comes back ends when the task
    /// has ended, and panics if it panicked.
    fn spawn(&self, task: Task) -> Task;

    /// What this store can do and what it can't.
    fn abilities(&self) -> Abilities;
}

/// What is left when a store is closed and opened again.
#[derive(Debug, Clone)]
pub enum Reopen {
    /// Every entry. The suite asserts that they are as they were.
    Durable(Arc<dyn Store>),
    /// Nothing, by design. The suite asserts that nothing is.
    Volatile(Arc<dyn Store>),
}

/// What a store can do. Make one with [`Abilities::full`] and change what is different.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Abilities {
    /// The largest value, in bytes. The suite writes values of this size.
    pub value_limit: usize,
    /// The longest key, in characters: [`Key::MAX_CHARS`] unless a wrapper adds to keys.
    pub key_limit: usize,
    /// How far hints reach.
    pub hints: HintReach,
    /// Who removes what has ended.
    pub sweeping: Sweeping,
    /// The shortest time to live that cases wait for. On a clock that is moved by hand any will
    /// do; where [`Fixture::pass`] really waits, short enough not to bore and long enough for a
    /// few calls: 50 ms or so.
    pub tick: Duration,
}

impl Abilities {
    /// A store that can do everything, with a value limit and a tick of its own.
    #[must_use]
    pub const fn full(value_limit: usize, tick: Duration) -> Self {
        Self {
            value_limit,
            key_limit: Key::MAX_CHARS,
            hints: HintReach::AnyHandle,
            sweeping: Sweeping::ByCall,
            tick,
        }
    }
}

/// Whose changes wake a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HintReach {
    /// Changes made through any handle; those through another one within a minute, and within a
    /// second at most where the store has any say in it.
    AnyHandle,
    /// Changes made through the handle that gave the hint, and no others.
    SameHandle,
    /// Nobody's. All waiting is polling.
    Nobody,
}

/// Who removes entries past their keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sweeping {
    /// They are there until a sweep, or a swap of a key, takes them: a sweep's count is exact.
    ByCall,
    /// The store does so by itself at any time: a sweep finds that many at most.
    ByItself,
}
