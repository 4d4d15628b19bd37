//! What became of a transaction whose commit was not acknowledged.

use std::time::Duration;

use semel_core::cocommit::{Claimed, Fate};
use semel_core::{StoreError, StoreErrorKind, StoreResult};

use crate::row;
use crate::store::PostgresStore;
use crate::timer;

/// For how long it is asked, and how often.
const LIMIT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

pub(super) async fn settle(store: &PostgresStore, claimed: &Claimed) -> StoreResult<Fate> {
    let until = timer::now() + LIMIT;
    let mut pause = PAUSE;
    loop {
        let error = match look(store, claimed).await {
            Ok(fate) => return Ok(fate),
            Err(error) if error.kind() == StoreErrorKind::Damaged => return Err(error),
            Err(error) => error,
        };
        if timer::now() >= until {
            let message = "the transaction's end is not known yet";
            return Err(StoreError::unknown(message).caused_by(error));
        }
        timer::sleep(timer::jittered(pause)).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Waits, at the server and for a while, until nobody holds the row.
async fn look(store: &PostgresStore, claimed: &Claimed) -> StoreResult<Fate> {
    let rows = store.rows(store.sql().settle(claimed.key())).await?;
    claimed.fate(&row::snapshot(&rows)?)
}
