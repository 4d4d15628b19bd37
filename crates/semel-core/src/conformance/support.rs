//! What cases are written with.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;

use super::fixture::Fixture;
use crate::key::Key;
use crate::store::{Entry, Expect, Next, Page, Snapshot, Stamp, Store, Swap, Touch, Version};
use crate::time::{StoreTime, Ttl};

pub(super) type Handle = Arc<dyn Store>;

/// Longer than any case takes.
pub(super) const LONG: Ttl = hours(1);
pub(super) const LONGER: Ttl = hours(2);

pub(super) const fn hours(hours: u64) -> Ttl {
    match Ttl::from_micros(hours * 3_600_000_000) {
        Some(ttl) => ttl,
        None => panic!("longer than a time to live can be"),
    }
}

pub(super) fn key(text: &str) -> Key {
    Key::new(text).expect("a case's key follows the grammar")
}

pub(super) fn ttl(duration: Duration) -> Ttl {
    Ttl::new(duration).expect("a case's duration is a time to live")
}

/// A number of the fixture's ticks.
pub(super) fn ticks(fixture: &dyn Fixture, count: u32) -> Ttl {
    ttl(fixture.abilities().tick * count)
}

// ===== swaps =====

pub(super) fn put(value: impl Into<Bytes>, lease: Ttl, keep: Ttl) -> Next {
    Next::Put { value: value.into(), lease, keep }
}

/// A put that does not end while a case runs.
pub(super) fn lasting(value: impl Into<Bytes>) -> Next {
    put(value, LONG, LONGER)
}

pub(super) const fn renew(lease: Ttl, keep: Ttl) -> Next {
    Next::Renew { lease, keep }
}

pub(super) async fn swap(store: &Handle, key: &Key, expect: Expect, next: Next) -> Swap {
    let asked = format!("swap({expect:?}, {next:?})");
    store.swap(key, expect, next).await.unwrap_or_else(|error| panic!("{asked}: {error}"))
}

pub(super) async fn win(store: &Handle, key: &Key, expect: Expect, next: Next) -> Stamp {
    let asked = format!("swap({expect:?}, {next:?})");
    match swap(store, key, expect, next).await {
        Swap::Won(stamp) => stamp,
        Swap::Lost(there) => panic!("{asked} must win; it lost to {there:?}"),
    }
}

pub(super) async fn lose(store: &Handle, key: &Key, expect: Expect, next: Next) -> Snapshot {
    let asked = format!("swap({expect:?}, {next:?})");
    match swap(store, key, expect, next).await {
        Swap::Lost(there) => there,
        Swap::Won(stamp) => panic!("{asked} must lose; it won {stamp:?}"),
    }
}

// ===== reads =====

pub(super) async fn read(store: &Handle, key: &Key, touch: Touch) -> Snapshot {
    store.read(key, touch).await.unwrap_or_else(|error| panic!("read({touch:?}): {error}"))
}

pub(super) async fn look(store: &Handle, key: &Key) -> Snapshot {
    read(store, key, Touch::No).await
}

pub(super) async fn present(store: &Handle, key: &Key) -> Entry {
    let snapshot = look(store, key).await;
    snapshot.entry.expect("the entry must be there")
}

pub(super) async fn assert_absent(store: &Handle, key: &Key) {
    let snapshot = look(store, key).await;
    assert_eq!(snapshot.entry, None, "there must be no entry");
}

pub(super) async fn scan(store: &Handle, prefix: &str, after: Option<&Key>, limit: usize) -> Page {
    store
        .scan(prefix, after, limit)
        .await
        .unwrap_or_else(|error| panic!("scan of {prefix:?}, {limit} a page: {error}"))
}

/// The texts of all keys under a prefix, by pages of `limit`.
pub(super) async fn listed(store: &Handle, prefix: &str, limit: usize) -> Vec<String> {
    let mut texts = Vec::new();
    let mut after = None;
    loop {
        let page = scan(store, prefix, after.as_ref(), limit).await;
        assert!(page.entries.len() <= limit, "a page of {limit} has {}", page.entries.len());
        texts.extend(page.entries.iter().map(|(key, _)| key.as_str().to_owned()));
        let Some(next) = page.next else { return texts };
        assert!(after.is_none_or(|after| after < next), "a page must lead onwards");
        after = Some(next);
    }
}

// ===== time =====

pub(super) async fn now(store: &Handle) -> StoreTime {
    look(store, &key("conformance:clock")).await.now
}

/// Lets the store's clock move, and checks that it did.
pub(super) async fn pass(fixture: &dyn Fixture, by: Ttl) {
    let store = fixture.store();
    let before = now(&store).await;
    fixture.pass(by.as_duration()).await;
    let moved = now(&store).await.since(before);
    assert!(moved >= by.as_duration(), "the fixture moved {moved:?} instead of {by:?}");
}

/// Lets others run: stores that answer at once never do.
pub(super) async fn yield_now() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

// ===== Written =====

/// An entry as it was written, to hold what is read later against the contract.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) version: Version,
    pub(super) at: StoreTime,
    value: Bytes,
    lease_end: StoreTime,
    keep_end: StoreTime,
}

impl Written {
    /// Puts a value with a swap that must win.
    pub(super) async fn put(
        store: &Handle,
        key: &Key,
        expect: Expect,
        (value, lease, keep): (&'static str, Ttl, Ttl),
    ) -> Self {
        let stamp = win(store, key, expect, put(value, lease, keep)).await;
        let keep_end = stamp.now.after(keep);
        let lease_end = stamp.now.after(lease).min(keep_end);
        let value = Bytes::from_static(value.as_bytes());
        Self { version: stamp.version, at: stamp.now, value, lease_end, keep_end }
    }

    /// The same after a renewal that won.
    pub(super) fn renewed(&self, stamp: Stamp, lease: Ttl, keep: Ttl) -> Self {
        let keep_end = stamp.now.after(keep);
        let lease_end = stamp.now.after(lease).min(keep_end);
        let value = self.value.clone();
        Self { version: stamp.version, at: stamp.now, value, lease_end, keep_end }
    }

    /// The same after a touch at `now`.
    pub(super) fn touched(&self, now: StoreTime, lease: Ttl) -> Self {
        let renews = now < self.lease_end && now < self.keep_end;
        let lease_end = if renews { now.after(lease).min(self.keep_end) } else { self.lease_end };
        Self { lease_end, ..self.clone() }
    }

    /// Asserts that `seen` is what the contract makes of this entry at that moment.
    pub(super) fn check(&self, seen: &Snapshot) {
        assert!(seen.now >= self.at, "the store's clock went back to {:?}: {self:?}", seen.now);
        if seen.now >= self.keep_end {
            assert_eq!(seen.entry, None, "past its keep it is absent: {self:?}");
            return;
        }
        let entry = seen.entry.as_ref().expect("it must be there before its keep ends");
        let left = (entry.lease_left, entry.keep_left);
        let due = (seen.now.until(self.lease_end), seen.now.until(self.keep_end));
        assert_eq!(entry.version, self.version, "the version must be the one it was given");
        assert_eq!(entry.value, self.value, "the value must come back as it was put");
        assert_eq!(left, due, "what is left of lease and keep, at {:?}: {self:?}", seen.now);
    }
}
