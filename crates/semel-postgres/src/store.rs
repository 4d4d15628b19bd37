//! The store: a handle to its connections.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use semel_core::{
    Expect, FindingLevel, Hint, Key, Next, Page, Preflight, Refusal, Snapshot, Store, StoreError,
    StoreResult, Swap, Touch,
};
use tokio_postgres::Row;

use crate::exchange::Exchange;
use crate::hints::Wakeups;
use crate::link::Linker;
use crate::pool::Loan;
use crate::preflight::{self, Facts};
use crate::row;
use crate::schema;
use crate::settings::Settings;
use crate::sql::{Range, Sql};
use crate::statement::Statement;

/// Entries that one statement of a sweep removes, so that it never holds others up for long.
const SWEPT_AT_ONCE: usize = 500;
/// The most statements of one sweep.
const SWEEPS: usize = 2_000;
/// The most entries of a page.
const PAGE: usize = 1_000;

/// A store in the tables of one PostgreSQL schema.
///
/// A clone is a second handle to the same connections. Another [`PostgresStore::open`], in this
/// process or another, is a second store on the same entries.
///
/// It needs the tokio runtime in which it was opened. When the last handle is dropped its
/// connections are closed; calls that are under way still end.
#[derive(Clone)]
pub struct PostgresStore(Arc<Handle>);

struct Handle {
    address: String,
    settings: Settings,
    sql: Sql,
    exchange: Arc<Exchange>,
    wakeups: Wakeups,
    preflight: Preflight,
}

impl PostgresStore {
    pub(crate) async fn start(settings: Settings) -> StoreResult<Self> {
        let (limit, statement) = (settings.call_timeout, settings.statement_timeout());
        let target = settings.target()?.clone();
        let linker = Arc::new(Linker::new(target, limit, statement)?);
        let sql = Sql::new(&settings);
        let link = linker.first_link().await?;
        let facts = Facts::ask(&link).await?;
        let preflight = preflight::of(&facts, &linker, &settings);
        refuse(&preflight)?;
        schema::settle(&link, &sql, &settings).await?;
        let exchange = Exchange::new(Arc::clone(&linker), settings.connections, limit)?;
        Ok(Self(Arc::new(Handle {
            address: linker.address().to_owned(),
            wakeups: Wakeups::new(&settings, &linker, sql.clone())?,
            exchange: Arc::new(exchange),
            settings,
            sql,
            preflight,
        })))
    }

    /// What was found when the store was opened: what it promises as it is configured.
    #[must_use]
    pub fn preflight(&self) -> &Preflight {
        &self.0.preflight
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn sql(&self) -> &Sql {
        &self.0.sql
    }

    pub(crate) async fn rows(&self, statement: Statement) -> StoreResult<Vec<Row>> {
        self.0.exchange.rows(statement).await
    }

    pub(crate) async fn lend(&self) -> StoreResult<Loan> {
        self.0.exchange.lend().await
    }

    /// Takes a connection back after a commit on it, and says whether that counts.
    pub(crate) async fn acknowledged(&self, loan: Option<Loan>) -> StoreResult<()> {
        match loan {
            Some(loan) => self.0.exchange.acknowledged(loan).await,
            None => Ok(()),
        }
    }

    /// Wakes who waits for a key through this store.
    pub(crate) fn changed_here(&self, key: &Key) {
        self.0.wakeups.notify(key);
    }

    pub(crate) fn check_size(&self, next: &Next) -> StoreResult<()> {
        let limit = self.0.settings.max_value_bytes;
        match next {
            Next::Put { value, .. } if value.len() > limit => Err(StoreError::refused(
                Refusal::TooLarge,
                format!("the value has {} bytes, the limit is {limit}", value.len()),
            )),
            _ => Ok(()),
        }
    }
}

fn refuse(preflight: &Preflight) -> StoreResult<()> {
    match preflight.at_least(FindingLevel::Refused).next() {
        None => Ok(()),
        Some(finding) => {
            let message = format!("{}: {finding}", preflight.store());
            Err(StoreError::refused(Refusal::Unusable, message))
        }
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn swap(&self, key: &Key, expect: Expect, next: Next) -> StoreResult<Swap> {
        self.check_size(&next)?;
        let statement = self.0.sql.swap(key, key.digest(), expect, next);
        let swap = row::swap(&self.0.exchange.rows(statement).await?)?;
        if matches!(swap, Swap::Won(_)) {
            self.0.wakeups.notify(key);
        }
        Ok(swap)
    }

    async fn read(&self, key: &Key, touch: Touch) -> StoreResult<Snapshot> {
        let statement = match touch {
            Touch::No => self.0.sql.read(key),
            Touch::Lease(lease) => self.0.sql.touch(key, lease),
        };
        row::snapshot(&self.0.exchange.rows(statement).await?)
    }

    fn changed(&self, key: &Key) -> Hint {
        self.0.wakeups.wait(key)
    }

    async fn scan(&self, prefix: &str, after: Option<&Key>, limit: usize) -> StoreResult<Page> {
        let (range, limit) = match Range::new(prefix, after) {
            Some(range) => (range, limit.min(PAGE)),
            // No key begins so: only the time is asked.
            None => (Range::default(), 0),
        };
        let statement = self.0.sql.scan(&range, limit);
        row::page(&self.0.exchange.rows(statement).await?, limit)
    }

    async fn sweep(&self, limit: usize) -> StoreResult<usize> {
        let mut swept = 0;
        if limit == 0 {
            return Ok(swept);
        }
        for _ in 0..SWEEPS {
            let most = (limit - swept).min(SWEPT_AT_ONCE);
            let statement = self.0.sql.sweep(most, SWEPT_AT_ONCE);
            let (ended, deleted) = row::swept(&self.0.exchange.rows(statement).await?)?;
            swept += ended.min(most);
            // Rows of deleted keys are no entries: they don't count, and all of them go.
            let no_more = ended < most || swept == limit;
            if no_more && deleted < SWEPT_AT_ONCE {
                break;
            }
        }
        Ok(swept)
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("address", &self.0.address)
            .field("schema", &self.0.settings.schema)
            .finish_non_exhaustive()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.exchange.close();
    }
}
