//! What is written in the background because the store did not take it at once.

use std::pin::pin;
use std::time::Duration;

use rand::RngExt;
use semel_core::protocol::{Ask, Backoff, Seen};
use semel_core::{Store, StoreError, StoreErrorKind};

use super::held::Held;
use crate::drive::{Driven, drive, in_time};
use crate::timer;

const BACKOFF: Backoff = Backoff { first: Duration::from_millis(50), most: Duration::from_secs(5) };

/// Waits before a try, the longer the more have failed.
pub(super) async fn wait_to_try(tries: u32) {
    // Out of the way of the await: the generator belongs to its thread.
    let dice = rand::rng().random();
    timer::sleep(BACKOFF.wait(tries, dice)).await;
}

/// Puts an owner's ask to the store, which is presumed to hold what was seen.
pub(super) async fn put<A: Ask>(
    store: &dyn Store,
    held: &Held,
    ask: &A,
    presumed: Seen,
) -> Result<Driven<A::Answer>, StoreError> {
    in_time(pin!(drive(store, &held.at, ask, presumed))).await
}

/// Puts it until the store answers; none when the time is up or the record can't be read.
pub(super) async fn persist<A: Ask>(
    store: &dyn Store,
    held: &Held,
    ask: &A,
    limit: Duration,
) -> Option<Driven<A::Answer>> {
    let began = timer::now();
    for tries in 0_u32.. {
        wait_to_try(tries).await;
        match put(store, held, ask, held.presumed()).await {
            Ok(driven) => return Some(driven),
            Err(error) if error.kind() == StoreErrorKind::Damaged => return None,
            Err(_) if timer::now() - began >= limit => return None,
            Err(_) => {}
        }
    }
    None
}
