//! Calls in transactions of one store's file.

use std::fs::canonicalize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rusqlite::Connection;
use semel_core::cocommit::{Began, Call, Claimed, Fate, Nobody, Recorded, Step};
use semel_core::protocol::{Completed, Seen, Successor};
use semel_core::{
    Expect, Extent, Next, Outcome, Refusal, StoreError, StoreErrorKind, StoreResult, Swap, Version,
};
use tokio::sync::Mutex;

use crate::connection;
use crate::failure::Failure;
use crate::store::SqliteStore;
use crate::writer::{Borrowed, Opened};

/// Whose turn it is to have a transaction open, and the connection for it.
pub(super) type Slot = Mutex<Option<Connection>>;

/// Calls whose record commits together with the rows that their work writes: exactly one effect,
/// as long as that effect is in this file.
///
/// The rows are in tables of the caller's, in the store's own file: SQLite can't commit two files
/// together. The claim is a row that only its transaction sees. Whatever ends the transaction
/// before its commit (an error, a panic, a crash) takes claim and rows back together.
///
/// A transaction holds the lock of the whole file. Others that write wait for it, duplicates and
/// strangers, the store itself included: keep it short.
///
/// Everything here blocks: in async code it belongs on a thread for that
/// (`tokio::task::spawn_blocking`).
///
/// ```no_run
/// use semel_core::cocommit::{Began, Call};
/// use semel_core::{Extent, Form, Outcome};
/// use semel_sqlite::{SqliteStore, Transactional};
///
/// # fn show(store: SqliteStore, call: Call) -> Result<(), Box<dyn std::error::Error>> {
/// let transactional = Transactional::new(&store);
/// let db = transactional.connect()?;
/// match transactional.begin(&db, &call)? {
///     Began::Fresh(work) => {
///         work.connection().execute("INSERT INTO orders (item) VALUES ('book')", [])?;
///         let payload = work.connection().last_insert_rowid().to_string().into();
///         work.commit(Outcome { form: Form::Bytes, extent: Extent::Whole, payload })?;
///     }
///     Began::Replay(outcome) => println!("it ran: {outcome:?}"),
///     refused => println!("not now, or not so: {refused:?}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Transactional {
    pub(super) store: Arc<SqliteStore>,
    pub(super) owned: Arc<Slot>,
}

/// How often a decision is taken anew. Nobody else can be faster under the lock: twice is enough.
const ROUNDS: usize = 4;

impl Transactional {
    /// Calls over this store's file.
    #[must_use]
    pub fn new(store: &SqliteStore) -> Self {
        Self { store: Arc::new(store.clone()), owned: Arc::default() }
    }

    /// A connection to the store's file for the caller's own tables. Its commits are forced to the
    /// disk, and it waits up to five seconds for others that write, in short steps as the store
    /// does.
    ///
    /// # Errors
    ///
    /// `NotApplied` when the file can't be opened.
    pub fn connect(&self) -> StoreResult<Connection> {
        connection::of_callers(self.store.path(), Duration::from_secs(5))
            .map_err(|error| Failure::unchanged(error).error())
    }

    /// What became of a claim whose commit gave an error, by its own record.
    ///
    /// # Errors
    ///
    /// `NotApplied` when others write for longer than the connection waits; else as
    /// [`Transactional::begin`].
    pub fn settle(&self, db: &Connection, claimed: &Claimed) -> StoreResult<Fate> {
        let mut open = match self.open(db)? {
            Opened::Yes(open) => open,
            Opened::Busy => return Err(StoreError::not_applied("others write all the time")),
        };
        // Lost in any case: no key has this version.
        let look = Expect::Version(Version::new(u64::MAX));
        let fate = match open.swap(claimed.key(), look, Next::Delete)? {
            Swap::Lost(there) => claimed.fate(&there)?,
            Swap::Won(_) => return Err(StoreError::damaged("a version at the end of its range")),
        };
        open.rollback()?;
        Ok(fate)
    }

    pub(super) fn open<'c>(&'c self, db: &'c Connection) -> StoreResult<Opened<'c>> {
        check(db, self.store.path())?;
        Borrowed::begin(db, self.store.time(), self.store.path().to_path_buf())
    }

    pub(super) fn claim(
        &self,
        open: &mut Borrowed<'_>,
        call: &Call,
    ) -> StoreResult<Result<Claimed, Began<Nobody>>> {
        let mut seen = Seen::presumed_free();
        for _ in 0..ROUNDS {
            let (expect, next, attempt) = match call.step(&seen) {
                Step::Swap { expect, next, attempt } => (expect, next, attempt),
                Step::Settled(began) => return Ok(Err(began)),
            };
            self.store.check_size(&next)?;
            match open.swap(call.key(), expect, next)? {
                Swap::Won(stamp) => return Ok(Ok(call.claimed(attempt, stamp.version))),
                Swap::Lost(there) => seen = call.seen(&there)?,
            }
        }
        Err(StoreError::not_applied("the claim did not settle"))
    }

    /// Records an outcome, or a smaller one, or that there is one.
    pub(super) fn record(
        &self,
        open: &mut Borrowed<'_>,
        claimed: &Claimed,
        outcome: Outcome,
        less: Option<Outcome>,
    ) -> StoreResult<Recorded> {
        let form = outcome.form;
        let part = |payload| Outcome { form, extent: Extent::Partial, payload };
        let less = less.map(|less| (part(less.payload), Recorded::InPart));
        for (outcome, recorded) in [(outcome, Recorded::Whole)].into_iter().chain(less) {
            match self.record_in(open, claimed, outcome) {
                Ok(()) => return Ok(recorded),
                Err(error) if error.kind() == StoreErrorKind::Refused(Refusal::TooLarge) => {}
                Err(error) => return Err(error),
            }
        }
        self.record_in(open, claimed, part(Bytes::new()))?;
        Ok(Recorded::InPart)
    }

    fn record_in(
        &self,
        open: &mut Borrowed<'_>,
        claimed: &Claimed,
        outcome: Outcome,
    ) -> StoreResult<()> {
        let (expect, next) = claimed.outcome(outcome);
        self.store.check_size(&next)?;
        match open.swap(claimed.key(), expect, next)? {
            Swap::Won(_) => Ok(()),
            Swap::Lost(_) => Err(StoreError::not_applied("the claim is not this transaction's")),
        }
    }

    /// Records what came of a call whose transaction was rolled back.
    pub(super) fn record_alone(
        &self,
        db: &Connection,
        call: &Call,
        outcome: Outcome,
    ) -> StoreResult<Completed> {
        let mut open = match self.open(db)? {
            Opened::Yes(open) => open,
            Opened::Busy => return Err(StoreError::not_applied("others write all the time")),
        };
        match self.claim(&mut open, call)? {
            Ok(claimed) => {
                self.record_in(&mut open, &claimed, outcome)?;
                open.commit()?;
                self.store.changed_here(call.key());
                Ok(Completed::Recorded)
            }
            Err(settled) => Ok(Completed::Superseded(successor(settled))),
        }
    }

    /// Wakes who waits for a key through this store.
    pub(super) fn changed(&self, claimed: &Claimed) {
        self.store.changed_here(claimed.key());
    }
}

fn successor(settled: Began<Nobody>) -> Successor {
    match settled {
        Began::Replay(outcome) => Successor::Done(outcome),
        Began::InFlight { lease_left } => Successor::InFlight { lease_left },
        Began::InDoubt { since } => Successor::InDoubt { since },
        Began::Reconcile(there) => Successor::InDoubt { since: there.last_written() },
        _ => Successor::Other,
    }
}

/// Whether a connection is one that a record can be committed on.
fn check(db: &Connection, path: &Path) -> StoreResult<()> {
    let unusable = |why: &str| {
        StoreError::refused(Refusal::Unusable, format!("this connection can't be used: {why}"))
    };
    if !db.is_autocommit() {
        return Err(unusable("it has a transaction open"));
    }
    let same = match (db.path().map(canonicalize), canonicalize(path)) {
        (Some(Ok(theirs)), Ok(ours)) => theirs == ours,
        _ => false,
    };
    if !same {
        return Err(unusable("it has another file open than the store"));
    }
    let synchronous: i64 = db
        .pragma_query_value(None, "synchronous", |row| row.get(0))
        .map_err(|error| Failure::unchanged(error).error())?;
    if synchronous < 2 {
        return Err(unusable(
            "its commits may be lost when the machine stops; set PRAGMA synchronous = FULL",
        ));
    }
    Ok(())
}
