//! A place in a handler that a test holds shut until it has seen who is there.

use std::sync::Arc;

use tokio::sync::watch;

/// Holds everybody who passes until it is opened. A clone is the same latch.
#[derive(Debug, Clone)]
pub(crate) struct Latch {
    open: Arc<watch::Sender<bool>>,
    arrived: Arc<watch::Sender<usize>>,
}

impl Latch {
    pub(crate) fn shut() -> Self {
        Self { open: Arc::new(watch::Sender::new(false)), arrived: Arc::default() }
    }

    pub(crate) fn open(&self) {
        self.open.send_replace(true);
    }

    /// Comes to the latch and waits until it is open.
    pub(crate) async fn pass(&self) {
        self.arrived.send_modify(|arrived| *arrived += 1);
        self.open.subscribe().wait_for(|open| *open).await.unwrap();
    }

    /// Waits until so many have come.
    pub(crate) async fn reached(&self, by: usize) {
        self.arrived.subscribe().wait_for(|arrived| *arrived >= by).await.unwrap();
    }
}
