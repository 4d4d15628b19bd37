//! All waiters of one engine.
//!
//! The waiters of a key share one watch: one task that listens for the store's hint and reads,
//! and tells them all what it saw. A hint may be lost, so a slow poll stands behind it; a lease
//! that ends makes no hint, so its end is waited for too. Nobody holds a store connection while
//! waiting.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use rand::RngExt;
use semel_core::protocol::{Seen, SeenRecord};
use semel_core::{Key, State, Store, StoreError, StoreErrorKind, StoreTime, Version};
use tokio::runtime::{Handle, Id};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::drive::{Address, in_time, look};
use crate::false_hints::FalseHints;
use crate::timer;

/// The pace of the poll behind the hints: once in one to one and a half of these.
const POLL: Duration = Duration::from_secs(1);

/// How much later than a lease's end one looks for it.
const MOMENT: Duration = Duration::from_millis(2);

type News = Option<Arc<Look>>;

/// What a watch saw, and when.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) seen: Result<Seen, StoreError>,
    looked: Instant,
}

/// A watch belongs to a runtime: another one may stand still while this one runs.
type Watches = HashMap<(Id, Key), watch::Sender<News>>;

/// The waiters of one engine.
#[derive(Debug)]
pub(crate) struct Waiters {
    store: Arc<dyn Store>,
    watches: Mutex<Watches>,
}

/// How waiting ended.
#[derive(Debug)]
pub(crate) enum Waited {
    /// The call is not in flight any more, or its lease has ended.
    Over(Arc<Look>),
    /// It still was when the time was up, with so much left of its lease when it was last seen.
    TimedOut(Option<Duration>),
    /// Too many wait for this key already.
    TooMany,
}

impl Waiters {
    pub(crate) fn new(store: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { store, watches: Mutex::default() })
    }

    /// Waits until the call under a key, which was seen in flight at `since` by the store's clock,
    /// is not in flight any more; at most for `budget`.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves nothing behind: the last waiter to leave ends the watch.
    pub(crate) async fn until_over(
        self: &Arc<Self>,
        at: &Address,
        since: StoreTime,
        budget: Duration,
        most: usize,
    ) -> Waited {
        let Some(mut news) = self.join(at, most) else { return Waited::TooMany };
        match timer::within(budget, self.over(at, since, most, &mut news)).await {
            Some(Some(look)) => Waited::Over(look),
            Some(None) => Waited::TooMany,
            None => Waited::TimedOut(news.borrow().as_ref().and_then(|look| look.lease_left())),
        }
    }

    /// How many keys are watched, for tests and gauges.
    pub(crate) fn watched(&self) -> usize {
        self.watches.lock().len()
    }

    /// None when there are too many by the time that a new watch is needed.
    async fn over(
        self: &Arc<Self>,
        at: &Address,
        since: StoreTime,
        most: usize,
        news: &mut watch::Receiver<News>,
    ) -> Option<Arc<Look>> {
        // What was there before we came may be older than what we saw ourselves: to act on it
        // would be to come back at once, and again and again. What comes from now on was not there.
        let mut told = news.borrow_and_update().clone().filter(|look| look.is_newer(since));
        loop {
            if let Some(look) = told.filter(|look| look.is_over()) {
                return Some(look);
            }
            // A watch ends once nobody listens, and we do: its task was lost. Another will do.
            if news.changed().await.is_err() {
                timer::sleep(POLL).await;
                *news = self.join(at, most)?;
            }
            told = news.borrow_and_update().clone();
        }
    }

    fn join(self: &Arc<Self>, at: &Address, most: usize) -> Option<watch::Receiver<News>> {
        let runtime = Handle::current();
        let place = (runtime.id(), at.key.clone());
        let (watch, news) = {
            let mut watches = self.watches.lock();
            if let Some(watch) = watches.get(&place) {
                return (watch.receiver_count() < most).then(|| watch.subscribe());
            }
            if most == 0 {
                return None;
            }
            let (watch, news) = watch::channel(None);
            watches.insert(place.clone(), watch.clone());
            (watch, news)
        };
        // Not under the lock: a runtime that is shutting down drops the task at once, and what
        // the task does then needs the lock.
        let waiters = Arc::downgrade(self);
        runtime.spawn(run(Running { waiters, place, at: at.clone(), watch }));
        Some(news)
    }
}

impl Look {
    fn is_newer(&self, since: StoreTime) -> bool {
        self.seen.as_ref().map_or(true, |seen| since < seen.now)
    }

    fn is_over(&self) -> bool {
        match &self.seen {
            Ok(Seen { record: Some(there), .. }) => {
                there.record.state != State::Held || there.lease_left.is_zero()
            }
            Ok(Seen { record: None, .. }) => true,
            // An unreadable record will not become readable by waiting; all else may pass.
            Err(error) => error.kind() == StoreErrorKind::Damaged,
        }
    }

    fn record(&self) -> Option<&SeenRecord> {
        self.seen.as_ref().ok()?.record.as_ref()
    }

    fn version(&self) -> Option<Version> {
        self.record().map(|there| there.version)
    }

    /// What is left of the lease by now.
    fn lease_left(&self) -> Option<Duration> {
        let left = self.record()?.lease_left.as_duration();
        Some(left.saturating_sub(timer::now() - self.looked))
    }

    /// How long until the next look without a hint: the poll's pace, or the end of the lease.
    fn pause(&self) -> Duration {
        let poll = POLL + POLL.mul_f64(rand::rng().random_range(0.0..0.5));
        match self.record().map(|there| there.lease_left) {
            // A moment more, for the store's clock is not ours.
            Some(left) if !left.is_zero() => poll.min(left.as_duration() + MOMENT),
            _ => poll,
        }
    }
}

/// A watch's task. However it ends, the watch is out of the table, so that the next waiter starts
/// another.
struct Running {
    waiters: Weak<Waiters>,
    place: (Id, Key),
    at: Address,
    watch: watch::Sender<News>,
}

impl Running {
    /// Takes the watch out of the table if nobody listens. Under the table's lock, so that nobody
    /// can join a watch that is ending.
    fn leave_if_alone(&self) -> bool {
        let Some(waiters) = self.waiters.upgrade() else { return true };
        let mut watches = waiters.watches.lock();
        let alone = self.watch.receiver_count() == 0;
        if alone {
            self.remove_own(&mut watches);
        }
        alone
    }

    fn remove_own(&self, watches: &mut Watches) {
        if watches.get(&self.place).is_some_and(|there| there.same_channel(&self.watch)) {
            watches.remove(&self.place);
        }
    }

    /// Looks once, tells what it saw, and waits until it is worth looking again.
    async fn step(&self, last: &mut Last) {
        let Some(waiters) = self.waiters.upgrade() else { return };
        // Listen first, read then: a change between the two is in the read.
        let hint = waiters.store.changed(&self.at.key);
        let looked = timer::now();
        let seen = in_time(pin!(look(&*waiters.store, &self.at))).await;
        drop(waiters);
        let look = Look { seen, looked };
        let (pause, there) = (look.pause(), look.version());
        self.watch.send_replace(Some(Arc::new(look)));
        last.false_hints.rest(last.hinted, last.version != there).await;
        (last.version, last.hinted) = (there, timer::within(pause, hint).await.is_some());
    }
}

/// What a look saw, and whether a hint came after it.
#[derive(Default)]
struct Last {
    version: Option<Version>,
    hinted: bool,
    false_hints: FalseHints,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(waiters) = self.waiters.upgrade() {
            self.remove_own(&mut waiters.watches.lock());
        }
    }
}

async fn run(running: Running) {
    let mut last = Last::default();
    while !running.leave_if_alone() {
        tokio::select! {
            () = running.step(&mut last) => {}
            () = running.watch.closed() => {}
        }
    }
}
