//! Sweeping: what has expired is removed in the background, in small batches.

use std::sync::{Arc, Weak};
use std::time::Duration;

use rand::RngExt;
use semel_core::Store;

use crate::timer;

const PAUSE: Duration = Duration::from_secs(30);
const BATCH: usize = 500;

/// Sweeps a store until nobody else holds it. Several processes may sweep one store: they only
/// share the work.
pub(crate) async fn sweep(store: Weak<dyn Store>) {
    loop {
        let pause = PAUSE.mul_f64(rand::rng().random_range(0.5..1.5));
        timer::sleep(pause).await;
        let Some(store) = store.upgrade() else { return };
        sweep_once(&store).await;
    }
}

async fn sweep_once(store: &Arc<dyn Store>) {
    loop {
        match store.sweep(BATCH).await {
            Ok(swept) if swept < BATCH => return,
            // A breath between batches: those who work come first.
            Ok(_) => timer::sleep(Duration::from_millis(10)).await,
            Err(error) => {
                tracing::warn!(%error, "expired entries could not be swept");
                return;
            }
        }
    }
}
