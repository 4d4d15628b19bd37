//! The store contract: five methods, one atomic step each.
//!
//! # What every store promises
//!
//! * [`Store::swap`] is linearizable per key and costs one round trip.
//! * A [`Version`] always rises for a key and is never used again, not after a delete, an expiry,
//!   a restart, nor on a wiped store: the next version is `max(last + 1, the store's clock in
//!   microseconds)`.
//! * Durations go in; the store stamps deadlines by its own clock and alone judges them. A
//!   deadline is past once the clock has reached it.
//! * An entry past its *keep* is absent, in every method. An entry past its *lease* is present,
//!   and its [`Entry::lease_left`] is zero.
//! * An error says what may be concluded from it: see [`StoreError`].
//!
//! Dropping the future of any method leaves the outcome unknown, as a lost reply does, and nothing
//! else: no lock stays taken, no connection stays dirty.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use bytes::Bytes;

use crate::key::Key;
use crate::store_error::StoreError;
use crate::time::{StoreTime, Ttl};

/// The result of a store method.
pub type StoreResult<T> = Result<T, StoreError>;

/// Where entries live. For those who write stores: all methods are required, none has a default
/// body, and the trait can be used as `dyn Store`. The engine in crate `semel` is for those who
/// use them.
///
/// `Clone` on a store, where there is one, gives a second handle to the same entries.
#[async_trait]
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Compares and swaps one entry, atomically.
    ///
    /// With [`Next::Put`] on a match of `expect` the value is written and both deadlines are set
    /// from now. [`Next::Renew`] sets both deadlines and leaves the value. [`Next::Delete`]
    /// removes the entry. Each of the three gives the key a new version when it wins.
    ///
    /// `Renew` and `Delete` need an entry: on an absent key they lose, whatever is expected.
    ///
    /// A lost swap brings the present entry with it and changes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; with `NotApplied` or `Refused` nothing was changed, with `Unknown` it may
    /// have been. `Refused(TooLarge)` for a value over the store's limit, `Refused(Full)` when a
    /// bounded store has no room: it never evicts an entry that has not expired.
    async fn swap(&self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap>;

    /// Reads one entry, and with [`Touch::Lease`] sets its lease anew in the same step.
    ///
    /// A touch renews only a lease that has not ended, never past the entry's keep, and does not
    /// change the version. What is returned is the entry as it is after the touch.
    ///
    /// # Errors
    ///
    /// [`StoreError`]. `Unknown` after a touch: the lease may have been renewed.
    async fn read(&self, key: &Key, touch: Touch) -> StoreResult<Snapshot>;

    /// A wake-up for the next change of the key after this call.
    ///
    /// A hint may be lost and may be false: truth is only in `swap` and `read`. Whoever waits on
    /// one reads again when it fires and, at a slow pace, when it does not. The hint holds no
    /// connection. An entry that merely expires is no change.
    fn changed(&self, key: &Key) -> Hint;

    /// Lists entries whose keys begin with `prefix`, in the order of their keys' UTF-8 bytes, a page at a
    /// time. For people; never on a hot path. The prefix is literal: no character of it has a
    /// meaning to the store. Entries past their keep are left out.
    ///
    /// A page of a `limit` of zero is empty and the last.
    ///
    /// An entry that is there from the first page to the last is listed exactly once; one that
    /// comes or goes meanwhile may or may not be.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; nothing was changed.
    async fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> StoreResult<Page>;

    /// Removes entries past their keep, at most `limit`, and says how many went. Never one that
    /// was claimed anew meanwhile.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; some may have been removed.
    async fn sweep(&self, limit: usize) -> StoreResult<usize>;
}

// ===== Version =====

/// The version of an entry. A higher one is a later one; it doubles as the fencing token of
/// whoever made it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Version(u64);

impl Version {
    /// A version from its number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The version that follows `last` at `now`: the floor beneath every store's counter.
    ///
    /// # Panics
    ///
    /// Never in practice: after 2^64 microseconds, some 584,000 years.
    #[must_use]
    pub fn next(last: Self, now: StoreTime) -> Self {
        let counted = last.0.checked_add(1).expect("versions last for 584,000 years");
        Self(counted.max(now.as_micros()))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

// ===== what goes in =====

/// What must be true of a key for a swap to win.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Expect {
    /// No entry, or one past its keep.
    Absent,
    /// Exactly this version.
    Version(Version),
    /// Whatever is there.
    Any,
}

/// What a swap that wins leaves behind.
#[derive(Clone, PartialEq, Eq)]
pub enum Next {
    /// A new value and new deadlines. A lease that would outlast its keep ends with it.
    Put {
        /// The bytes to keep; the store never looks into them.
        value: Bytes,
        /// From now: how long its holder may act.
        lease: Ttl,
        /// From now: how long it is remembered. Zero: it is past at once, that is, absent.
        keep: Ttl,
    },
    /// The same value, which is not sent, with new deadlines, as for `Put`. A keep of zero ends
    /// the entry.
    Renew {
        /// From now: how long its holder may act.
        lease: Ttl,
        /// From now: how long it is remembered.
        keep: Ttl,
    },
    /// Nothing.
    Delete,
}

impl fmt::Debug for Next {
    /// Never prints the value: it may hold somebody's data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Put { value, lease, keep } => f
                .debug_struct("Put")
                .field("bytes", &value.len())
                .field("lease", lease)
                .field("keep", keep)
                .finish(),
            Self::Renew { lease, keep } => {
                f.debug_struct("Renew").field("lease", lease).field("keep", keep).finish()
            }
            Self::Delete => f.write_str("Delete"),
        }
    }
}

/// Whether a read renews the lease of what it reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touch {
    /// It only reads.
    No,
    /// It sets the lease to this long from now, unless the lease has ended; never past keep.
    Lease(Ttl),
}

// ===== what comes out =====

/// The outcome of a swap.
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use = "a lost swap changed nothing"]
pub enum Swap {
    /// It was applied.
    Won(Stamp),
    /// Something else was there: this.
    Lost(Snapshot),
}

/// What a won swap was stamped with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamp {
    /// The key's new version. After a delete: one that later versions are above.
    pub version: Version,
    /// The store's clock at that moment.
    pub now: StoreTime,
}

/// A key at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// The store's clock at that moment.
    pub now: StoreTime,
    /// The entry; none when it is absent or past its keep.
    pub entry: Option<Entry>,
}

impl Snapshot {
    /// A key with nothing there.
    #[must_use]
    pub const fn absent(now: StoreTime) -> Self {
        Self { now, entry: None }
    }
}

/// What is there, as the store's clock judges it.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its version.
    pub version: Version,
    /// Its value.
    pub value: Bytes,
    /// What is left of its lease; zero when that has ended, and never more than `keep_left`.
    pub lease_left: Ttl,
    /// What is left of its keep; never zero, or it would be absent.
    pub keep_left: Ttl,
}

impl fmt::Debug for Entry {
    /// Never prints the value: it may hold somebody's data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("version", &self.version)
            .field("bytes", &self.value.len())
            .field("lease_left", &self.lease_left)
            .field("keep_left", &self.keep_left)
            .finish()
    }
}

/// A page of a listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// The store's clock at that moment.
    pub now: StoreTime,
    /// Keys and entries, in the order of the keys' bytes.
    pub entries: Vec<(Key, Entry)>,
    /// Where to go on; none at the end. A page may be short, even empty, and yet not the last.
    pub next: Option<Key>,
}

// ===== Hint =====

/// A wake-up that [`Store::changed`] gave: a future that ends when the key may have changed.
#[must_use = "a hint does nothing unless it is awaited"]
pub struct Hint(Pin<Box<dyn Future<Output = ()> + Send>>);

impl Hint {
    /// A hint that ends when `future` does.
    pub fn new(future: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(Box::pin(future))
    }

    /// A hint that never comes: for stores that can't give one. Its waiters poll.
    pub fn never() -> Self {
        Self::new(std::future::pending())
    }
}

impl Future for Hint {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hint")
    }
}

// ===== pointers to stores =====

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: Store + ?Sized> Store for Arc<S> {
    async fn swap(&self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap> {
        (**self).swap(key, expect, next).await
    }

    async fn read(&self, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        (**self).read(key, touch).await
    }

    fn changed(&self, key: &Key) -> Hint {
        (**self).changed(key)
    }

    async fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> StoreResult<Page> {
        (**self).scan(prefix, after, limit).await
    }

    async fn sweep(&self, limit: usize) -> StoreResult<usize> {
        (**self).sweep(limit).await
    }
}
