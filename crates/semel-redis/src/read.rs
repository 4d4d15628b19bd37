//! Reading one entry.

use semel_core::{Key, Snapshot, StoreError, StoreErrorKind, StoreResult, Touch};

use crate::exchange::Exchange;
use crate::script::{Call, Reply};

pub(crate) async fn read(exchange: &Exchange, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
    let call = Call::read(exchange.named(key), touch);
    match exchange.call(&call).await? {
        Reply::There(snapshot) => Ok(snapshot),
        Reply::Won(_) | Reply::Damaged => Err(unasked()),
    }
}

/// An answer to something else.
fn unasked() -> StoreError {
    let says = "the server gave an answer to another question";
    StoreError::of(StoreErrorKind::Unknown, says)
}
