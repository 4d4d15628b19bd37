//! Wake-ups inside one process, by key: what stores build [`Store::changed`] from.
//!
//! [`Store::changed`]: crate::Store::changed

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use event_listener::{Event, EventListener};
use parking_lot::Mutex;

use crate::key::Key;
use crate::store::Hint;

/// A table of those who wait for a key to change.
///
/// A notification that comes after [`Hints::wait`] returned is never lost, even if the hint was
/// not polled yet. A notification nobody waits for costs one atomic read.
#[derive(Clone, Default)]
pub struct Hints(Arc<Table>);

#[derive(Default)]
struct Table {
    waiting: AtomicUsize,
    events: Mutex<HashMap<Key, Slot>>,
}

struct Slot {
    event: Event,
    waiting: usize,
}

impl Hints {
    /// An empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A hint for the next notification of `key`.
    pub fn wait(&self, key: &Key) -> Hint {
        let place = Place::take(&self.0, key);
        Hint::new(place.wait())
    }

    /// Wakes all who wait for `key`. Call it after the change can be read.
    pub fn notify(&self, key: &Key) {
        // SeqCst on both sides: either the waiter sees the change, or we see the waiter.
        if self.0.waiting.load(Ordering::SeqCst) == 0 {
            return;
        }
        if let Some(slot) = self.0.events.lock().get(key) {
            slot.event.notify(usize::MAX);
        }
    }

    /// Wakes everybody: for changes whose keys are not known.
    pub fn notify_all(&self) {
        for slot in self.0.events.lock().values() {
            slot.event.notify(usize::MAX);
        }
    }

    /// How many wait, for all keys together.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.waiting.load(Ordering::SeqCst)
    }
}

impl fmt::Debug for Hints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hints").field("waiting", &self.waiting()).finish()
    }
}

/// One waiter's place in the table; it leaves when dropped.
struct Place {
    table: Arc<Table>,
    key: Key,
    listener: Option<EventListener>,
}

impl Place {
    fn take(table: &Arc<Table>, key: &Key) -> Self {
        table.waiting.fetch_add(1, Ordering::SeqCst);
        let mut events = table.events.lock();
        let slot =
            events.entry(key.clone()).or_insert_with(|| Slot { event: Event::new(), waiting: 0 });
        slot.waiting += 1;
        let listener = Some(slot.event.listen());
        drop(events);
        Self { table: Arc::clone(table), key: key.clone(), listener }
    }

    async fn wait(mut self) {
        if let Some(listener) = self.listener.take() {
            listener.await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut events = self.table.events.lock();
        if let Some(slot) = events.get_mut(&self.key) {
            slot.waiting -= 1;
            if slot.waiting == 0 {
                events.remove(&self.key);
            }
        }
        drop(events);
        self.table.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}
