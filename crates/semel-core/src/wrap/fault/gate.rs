//! A gate that holds calls until a test opens it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use event_listener::Event;

/// Holds every call that comes to it until it is opened; open, it stays open. A clone is the same
/// gate.
///
/// Nobody has to guess when a call has come so far: [`Gate::reached`] tells.
#[derive(Clone, Default)]
pub struct Gate(Arc<State>);

#[derive(Default)]
struct State {
    open: AtomicBool,
    arrived: AtomicUsize,
    change: Event,
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn closed() -> Self {
        Self::default()
    }

    /// Lets all calls through, those that wait and those to come.
    pub fn open(&self) {
        self.0.open.store(true, Ordering::SeqCst);
        self.0.change.notify(usize::MAX);
    }

    /// How many calls have come to the gate, whether they still wait or not.
    #[must_use]
    pub fn arrived(&self) -> usize {
        self.0.arrived.load(Ordering::SeqCst)
    }

    /// Waits until `calls` calls have come to the gate. Cancel safe.
    pub async fn reached(&self, calls: usize) {
        self.wait(|state| state.arrived.load(Ordering::SeqCst) >= calls).await;
    }

    pub(super) async fn pass(&self) {
        self.0.arrived.fetch_add(1, Ordering::SeqCst);
        self.0.change.notify(usize::MAX);
        self.wait(|state| state.open.load(Ordering::SeqCst)).await;
    }

    async fn wait(&self, until: impl Fn(&State) -> bool) {
        loop {
            // Listens first and looks then, so that no change falls in between.
            let change = self.0.change.listen();
            if until(&self.0) {
                return;
            }
            change.await;
        }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("open", &self.0.open.load(Ordering::SeqCst))
            .field("arrived", &self.arrived())
            .finish()
    }
}
