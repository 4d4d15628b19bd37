//! Engines and stores.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use semel::timer::{SystemClock, sleep};
use semel::{MemoryStore, Once, Policy, PolicyBuilder, Store};

/// An engine over a memory store of its own, by the clock that a test may pause.
pub(crate) fn once() -> Once {
    once_of(Policy::builder())
}

pub(crate) fn once_of(policy: PolicyBuilder) -> Once {
    over(Arc::new(MemoryStore::new(SystemClock::new())), policy)
}

pub(crate) fn over(store: Arc<dyn Store>, policy: PolicyBuilder) -> Once {
    Once::builder(store).policy(Arc::new(policy.build().unwrap())).build()
}

/// The store that another process would open on the same file.
pub(crate) async fn sqlite(directory: &Path) -> Arc<dyn Store> {
    semel::open(&format!("sqlite:{}", directory.join("semel.db").display())).await.unwrap()
}

/// Looks again until it is so; for what happens in the background, on a clock that runs.
pub(crate) async fn until<F: Future<Output = bool>>(mut is_so: impl FnMut() -> F) {
    let soon = semel::timer::within(Duration::from_secs(20), async {
        while !is_so().await {
            sleep(Duration::from_millis(5)).await;
        }
    });
    soon.await.expect("it was not so in 20 seconds");
}
