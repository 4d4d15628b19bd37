//! All who wait for locks in one engine.
//!
//! The waiters of a lock share one watch: one task that listens for the store's hint, reads, tells
//! them all what it saw, and keeps their places in the queue with one write for all. A hint may be
//! lost, so a slow poll stands behind it; a lease that ends makes no hint, so its end is waited for
//! too. Nobody holds a store connection while waiting.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use rand::RngExt;
use semel_core::protocol::lock::{KeepPlaces, LockSeen, LockStatus};
use semel_core::{Key, Store, StoreError, Token, Ttl, Version};
use tokio::runtime::{Handle, Id};
use tokio::sync::{Semaphore, SemaphorePermit, watch};

use super::drive::{Start, drive, look};
use crate::drive::{Address, in_time};
use crate::false_hints::FalseHints;
use crate::timer::{self, Moment};

/// How long a place in the queue is good: so long those behind it wait for a process that died.
pub(super) const ALIVE: Ttl = match Ttl::from_micros(3_000_000) {
    Some(alive) => alive,
    None => Ttl::ZERO,
};

/// How often places are kept.
const KEPT: Duration = Duration::from_millis(1_200);

/// The pace of the poll behind the hints: never slower than this.
const POLL: Duration = Duration::from_secs(1);

/// How much later than a lease's end one looks for it.
const MOMENT: Duration = Duration::from_millis(1);

/// How many of the waiters of one process have places in the queue of one lock. The others wait for
/// one of these, in order: places cost writes, and a thousand would keep the entry busy with itself.
const PLACES: usize = 16;

type News = Option<Arc<Look>>;

/// What a watch saw, and when it asked.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) seen: Result<LockSeen, StoreError>,
    pub(super) asked: Moment,
}

#[derive(Debug, Clone)]
struct Watch {
    news: watch::Sender<News>,
    places: Arc<Mutex<Vec<Token>>>,
}

/// A watch belongs to a runtime: another one may stand still while this one runs.
type Watches = HashMap<(Id, Key), Watch>;

/// The waiters of one engine.
#[derive(Debug)]
pub(super) struct Queues {
    store: Arc<dyn Store>,
    watches: Mutex<Watches>,
    gates: Mutex<HashMap<Key, Gate>>,
}

/// Lets so many through as there are places.
#[derive(Debug, Clone)]
struct Gate {
    places: Arc<Semaphore>,
    /// How many have a place or wait for one.
    users: usize,
}

/// One who wants a place in the queue.
pub(super) struct AtGate {
    queues: Arc<Queues>,
    key: Key,
    places: Arc<Semaphore>,
}

impl AtGate {
    /// A place in the queue, if there is one at once.
    pub(super) fn at_once(&self) -> Option<SemaphorePermit<'_>> {
        self.places.try_acquire().ok()
    }

    /// Waits for a place in the queue: in order, within this process. It is given up with what is
    /// returned.
    pub(super) async fn through(&self) -> Option<SemaphorePermit<'_>> {
        // Never closed; and if it were, going through would do no harm.
        self.places.acquire().await.ok()
    }
}

impl Drop for AtGate {
    fn drop(&mut self) {
        let mut gates = self.queues.gates.lock();
        if let Some(gate) = gates.get_mut(&self.key) {
            gate.users -= 1;
            if gate.users == 0 {
                gates.remove(&self.key);
            }
        }
    }
}

/// One who waits: its place is kept as long as this lives.
pub(super) struct Waiting {
    news: watch::Receiver<News>,
    places: Arc<Mutex<Vec<Token>>>,
    token: Token,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.places.lock().retain(|token| *token != self.token);
    }
}

impl Waiting {
    /// What is seen next; none if whoever looked is gone.
    pub(super) async fn next(&mut self) -> Option<Arc<Look>> {
        loop {
            self.news.changed().await.ok()?;
            if let Some(look) = self.news.borrow_and_update().clone() {
                return Some(look);
            }
        }
    }
}

impl Queues {
    pub(super) fn new(store: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { store, watches: Mutex::default(), gates: Mutex::default() })
    }

    /// Comes to the gate of a lock's queue.
    pub(super) fn gate(self: &Arc<Self>, at: &Address) -> AtGate {
        let mut gates = self.gates.lock();
        let gate = gates
            .entry(at.key.clone())
            .or_insert_with(|| Gate { places: Arc::new(Semaphore::new(PLACES)), users: 0 });
        gate.users += 1;
        let places = Arc::clone(&gate.places);
        AtGate { queues: Arc::clone(self), key: at.key.clone(), places }
    }

    /// Waits for a lock with this token.
    pub(super) fn join(self: &Arc<Self>, at: &Address, token: Token, runtime: &Handle) -> Waiting {
        let place = (runtime.id(), at.key.clone());
        let mut watches = self.watches.lock();
        if let Some(watch) = watches.get(&place) {
            return watch.joined(token);
        }
        let watch = Watch { news: watch::Sender::new(None), places: Arc::default() };
        let waiting = watch.joined(token);
        watches.insert(place.clone(), watch.clone());
        drop(watches);
        let running = Running { queues: Arc::downgrade(self), place, at: at.clone(), watch };
        runtime.spawn(run(running));
        waiting
    }

    /// How many locks are waited for, for tests and gauges.
    pub(super) fn watched(&self) -> usize {
        self.watches.lock().len()
    }
}

impl Watch {
    fn joined(&self, token: Token) -> Waiting {
        self.places.lock().push(token);
        let mut news = self.news.subscribe();
        // What was there before may be older than what its caller saw.
        news.mark_unchanged();
        Waiting { news, places: Arc::clone(&self.places), token }
    }
}

/// A watch's task. However it ends, the watch is out of the table, so that the next waiter starts
/// another.
struct Running {
    queues: Weak<Queues>,
    place: (Id, Key),
    at: Address,
    watch: Watch,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(queues) = self.queues.upgrade() {
            self.remove_own(&mut queues.watches.lock());
        }
    }
}

/// What the last step saw and did.
struct Last {
    version: Option<Version>,
    hinted: bool,
    false_hints: FalseHints,
    kept: Moment,
}

async fn run(running: Running) {
    let (false_hints, kept) = (FalseHints::default(), Moment::now());
    let mut last = Last { version: None, hinted: false, false_hints, kept };
    while !running.leave_if_alone() {
        tokio::select! {
            () = running.step(&mut last) => {}
            () = running.watch.news.closed() => {}
        }
    }
}

impl Running {
    /// Takes the watch out of the table if nobody listens. Under the table's lock, so that nobody
    /// can join a watch that is ending.
    fn leave_if_alone(&self) -> bool {
        let Some(queues) = self.queues.upgrade() else { return true };
        let mut watches = queues.watches.lock();
        let alone = self.watch.news.receiver_count() == 0;
        if alone {
            self.remove_own(&mut watches);
        }
        alone
    }

    fn remove_own(&self, watches: &mut Watches) {
        let own = |there: &Watch| there.news.same_channel(&self.watch.news);
        if watches.get(&self.place).is_some_and(own) {
            watches.remove(&self.place);
        }
    }

    /// Looks once, tells what it saw, keeps the places, and waits until it is worth looking again.
    async fn step(&self, last: &mut Last) {
        let Some(queues) = self.queues.upgrade() else { return };
        let store = Arc::clone(&queues.store);
        drop(queues);
        // Listen first, read then: a change between the two is in the read.
        let hint = store.changed(&self.at.key);
        let (seen, asked) = match in_time(pin!(look(&*store, &self.at))).await {
            Ok((seen, asked)) => (Ok(seen), asked),
            Err(error) => (Err(error), Moment::now()),
        };
        let version = seen.as_ref().ok().and_then(|seen| Some(seen.entry.as_ref()?.version));
        let there = seen.as_ref().ok().cloned();
        self.watch.news.send_replace(Some(Arc::new(Look { seen, asked })));
        let end = match there {
            Some(there) => {
                let end = LockStatus::next_end(&there);
                self.keep_places(&*store, there, asked, last).await;
                end
            }
            // Nobody can keep a place now: the poll's pace is enough.
            None => {
                last.kept = Moment::now();
                None
            }
        };
        last.false_hints.rest(last.hinted, last.version != version).await;
        let hinted = timer::within(pause(end, last.kept), hint).await.is_some();
        (last.version, last.hinted) = (version, hinted);
    }

    async fn keep_places(&self, store: &dyn Store, seen: LockSeen, asked: Moment, last: &mut Last) {
        if last.kept.elapsed() < KEPT {
            return;
        }
        last.kept = Moment::now();
        let tokens = self.watch.places.lock().clone();
        let keep = KeepPlaces { tokens, alive: ALIVE };
        let kept = drive(store, &self.at, &keep, Start::Seen(seen, asked));
        if let Err(error) = in_time(pin!(kept)).await {
            // Who loses its place for that enters again.
            tracing::debug!(lock = %self.at.digest, %error, "places were not kept");
        }
    }
}

/// How long until the next look without a hint: the poll's pace, the end of a lease, or the time
/// to keep the places.
fn pause(end: Option<Ttl>, kept: Moment) -> Duration {
    let poll = POLL.mul_f64(rand::rng().random_range(0.7..1.0));
    let poll = poll.min(KEPT.saturating_sub(kept.elapsed()).max(MOMENT));
    // A moment more, for the store's clock is not ours.
    end.map_or(poll, |end| poll.min(end.as_duration() + MOMENT))
}
