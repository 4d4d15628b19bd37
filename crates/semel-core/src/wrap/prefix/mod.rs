//! Several users of one store that don't see each other.

mod namespace;
#[cfg(test)]
mod tests;

use async_trait::async_trait;

pub use self::namespace::{Namespace, NamespaceError};
use crate::key::Key;
use crate::store::{Expect, Hint, Next, Page, Snapshot, Store, StoreResult, Swap, Touch};
use crate::store_error::{Refusal, StoreError};

/// A store that lives in a namespace of another: the key `lock:a` is `<namespace>/lock:a` there.
///
/// A namespace can't contain the `/` that ends it, so no two namespaces overlap, whatever the
/// keys. Who uses the inner store *without* a namespace does see these entries, and can overwrite
/// them: give every user of a shared store a namespace. Namespaces nest.
///
/// The whole key obeys the limit of 512 characters, so keys are shorter here by the namespace and
/// one. A key that no longer fits is `Refused(Unusable)`: nothing of it reaches the inner store,
/// and it is never cut. A hint for such a key never comes.
///
/// [`Store::sweep`] clears the inner store as a whole, other namespaces included: it removes only
/// what is absent for everybody.
#[derive(Debug, Clone)]
pub struct Prefix<S> {
    inner: S,
    namespace: Namespace,
}

impl<S> Prefix<S> {
    /// The part of `inner` that is `namespace`.
    pub const fn new(inner: S, namespace: Namespace) -> Self {
        Self { inner, namespace }
    }

    /// The key as the inner store knows it.
    fn inside(&self, key: &Key) -> StoreResult<Key> {
        let ours = self.namespace.before_keys();
        Key::new(format!("{ours}{key}")).map_err(|error| {
            let ours = ours.len();
            StoreError::refused(
                Refusal::Unusable,
                format!("a key and its namespace, which takes {ours} characters, are too long"),
            )
            .caused_by(error)
        })
    }

    /// The key as our user knows it; none for a key of another namespace.
    fn outside(&self, key: &Key) -> Option<Key> {
        Key::new(key.as_str().strip_prefix(self.namespace.before_keys())?).ok()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store> Store for Prefix<S> {
    async fn swap(&self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap> {
        self.inner.swap(&self.inside(key)?, expect, next).await
    }

    async fn read(&self, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        self.inner.read(&self.inside(key)?, touch).await
    }

    fn changed(&self, key: &Key) -> Hint {
        self.inside(key).map_or_else(|_| Hint::never(), |key| self.inner.changed(&key))
    }

    async fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> StoreResult<Page> {
        // Without a cursor it begins behind the bare namespace, which is a key but none of ours.
        let after = match after {
            Some(after) => self.inside(after)?,
            None => self.namespace.as_key(),
        };
        let prefix = format!("{}{prefix}", self.namespace.before_keys());
        let page = self.inner.scan(&prefix, Some(&after), limit).await?;
        let ours = page.entries.into_iter();
        let entries = ours.filter_map(|(key, entry)| Some((self.outside(&key)?, entry))).collect();
        let next = page.next.and_then(|key| self.outside(&key));
        Ok(Page { now: page.now, entries, next })
    }

    async fn sweep(&self, limit: usize) -> StoreResult<usize> {
        self.inner.sweep(limit).await
    }
}
