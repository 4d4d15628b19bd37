//! What can be set about a store, and the check of it.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use semel_core::{Preflight, Refusal, StoreError, StoreResult};

use crate::store::PostgresStore;
use crate::target::Target;

/// A store that is about to be opened. Made by [`PostgresStore::builder`].
///
/// `synchronous_commit` is not among the settings: claims and outcomes are on the primary's disk,
/// and with its synchronous standbys where it has some, before they are acknowledged.
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it is opened"]
pub struct PostgresBuilder(pub(crate) Settings);

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) target: StoreResultOf<Target>,
    pub(crate) schema: String,
    pub(crate) connections: usize,
    pub(crate) call_timeout: Duration,
    pub(crate) lock_timeout: Duration,
    pub(crate) max_value_bytes: usize,
    pub(crate) migrations: Migrations,
    pub(crate) hints: HintSource,
}

/// A URL as it was read, or what was wrong with it: told when the store is opened.
pub(crate) type StoreResultOf<T> = Result<T, String>;

/// Who makes and changes the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Migrations {
    /// The store, when it is opened. Of several processes that open it at once one does it.
    #[default]
    Run,
    /// Somebody else, with the files in `crates/semel-postgres/migrations/`. A store that finds
    /// them missing or older is refused.
    Expect,
}

/// Where wake-ups come from. They need one connection of their own that keeps its session.
#[derive(Clone, PartialEq, Eq, Default)]
pub enum HintSource {
    /// The server of the store's own URL. Not through a pooler in transaction mode.
    #[default]
    Server,
    /// The same database by another URL: past the pooler.
    Url(String),
    /// Nowhere: changes by other handles are found by polling only.
    Off,
}

impl fmt::Debug for HintSource {
    /// Never prints the URL: it may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server => "Server",
            Self::Url(_) => "Url",
            Self::Off => "Off",
        })
    }
}

impl PostgresBuilder {
    pub(crate) fn new(url: &str) -> Self {
        let target = Target::parse(url).map_err(|error| error.message().to_owned());
        let schema = target.as_ref().ok().and_then(|target| target.schema.clone());
        Self(Settings {
            target,
            schema: schema.unwrap_or_else(|| "semel".to_owned()),
            connections: 10,
            call_timeout: Duration::from_secs(5),
            lock_timeout: Duration::from_secs(1),
            max_value_bytes: 4 << 20,
            migrations: Migrations::Run,
            hints: HintSource::Server,
        })
    }

    /// The schema that holds the tables. Default `semel`, or what the URL's `semel_schema` says.
    /// From 1 to 63 bytes. Stores in different schemas share nothing.
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.0.schema = name.into();
        self
    }

    /// The most connections that calls share. Default 10; from 1 to 1,000. Wake-ups take one more.
    pub fn connections(mut self, most: usize) -> Self {
        self.0.connections = most;
        self
    }

    /// How long a call may take, from waiting for a connection to the answer. Default 5 s; from
    /// 10 ms to an hour.
    ///
    /// A call that has no connection after half of it fails with `NotApplied`. One that was sent
    /// and not answered in time fails with `Unknown`, and its connection is cut. The server's own
    /// limit on a statement is set to two fifths of this, so that it ends first where it can.
    pub fn call_timeout(mut self, limit: Duration) -> Self {
        self.0.call_timeout = limit;
        self
    }

    /// How long the server waits for a row that another transaction holds, before the call fails
    /// with `NotApplied`. Default 1 s; from 1 ms, and less than two fifths of the call timeout.
    pub fn lock_timeout(mut self, limit: Duration) -> Self {
        self.0.lock_timeout = limit;
        self
    }

    /// The largest value. Default 4 MiB; at most 256 MiB.
    pub fn max_value_bytes(mut self, bytes: usize) -> Self {
        self.0.max_value_bytes = bytes;
        self
    }

    /// Who makes and changes the tables. Default: the store.
    pub fn migrations(mut self, by: Migrations) -> Self {
        self.0.migrations = by;
        self
    }

    /// Where wake-ups come from. Default: the server of the store's URL.
    pub fn hints(mut self, source: HintSource) -> Self {
        self.0.hints = source;
        self
    }

    /// Opens the store: connects, makes the tables where there are none, and looks at the server.
    ///
    /// # Errors
    ///
    /// `Refused(Unusable)`: a setting out of its range, a URL that can't be read, a standby, tables
    /// of a newer version, a database that does not hold UTF-8. `Refused(Credentials)`: not let in,
    /// or not let make the tables. `NotApplied`: the server can't be reached.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing open. The tables may have been made.
    pub async fn open(self) -> StoreResult<PostgresStore> {
        self.0.check()?;
        PostgresStore::start(self.0).await
    }

    /// Looks at the server, and says what the store promises as it is configured. Changes nothing:
    /// tables that are missing are a finding.
    ///
    /// # Errors
    ///
    /// As [`PostgresBuilder::open`], where the server can't be looked at.
    pub async fn preflight(self) -> StoreResult<Preflight> {
        self.0.check()?;
        crate::preflight::look(&self.0).await
    }
}

impl Settings {
    fn check(&self) -> StoreResult<()> {
        self.target()?;
        let millis = |from, to| Duration::from_millis(from)..=Duration::from_millis(to);
        within("connections", &self.connections, 1..=1_000)?;
        within("call_timeout", &self.call_timeout, millis(10, 3_600_000))?;
        let most = self.statement_timeout().saturating_sub(Duration::from_millis(1));
        within("lock_timeout", &self.lock_timeout, Duration::from_millis(1)..=most)?;
        within("max_value_bytes", &self.max_value_bytes, 1..=256 << 20)?;
        within("the length of schema", &self.schema.len(), 1..=63)?;
        if self.schema.contains('\0') {
            return Err(unusable("the name of schema has a zero character".to_owned()));
        }
        Ok(())
    }

    pub(crate) fn target(&self) -> StoreResult<&Target> {
        self.target.as_ref().map_err(|why| unusable(why.clone()))
    }

    /// The server's own limit on a statement.
    pub(crate) fn statement_timeout(&self) -> Duration {
        self.call_timeout.mul_f64(0.4)
    }
}

fn within<T: PartialOrd + fmt::Debug>(
    name: &str,
    got: &T,
    takes: RangeInclusive<T>,
) -> StoreResult<()> {
    if takes.contains(got) {
        return Ok(());
    }
    let (from, to) = takes.into_inner();
    Err(unusable(format!("{name} is {got:?}; it takes {from:?} to {to:?}")))
}

fn unusable(message: String) -> StoreError {
    StoreError::refused(Refusal::Unusable, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(builder: PostgresBuilder) -> String {
        builder.0.check().expect_err("it must be refused").message().to_owned()
    }

    #[test]
    fn a_setting_out_of_its_range_is_named_with_what_it_takes() {
        let builder = || PostgresBuilder::new("postgres://db/x");
        builder().0.check().expect("the defaults are right");
        assert!(wrong(builder().connections(0)).contains("connections is 0; it takes 1 to 1000"));
        assert!(wrong(builder().schema("")).contains("schema"));
        let late = wrong(builder().lock_timeout(Duration::from_secs(2)));
        assert!(late.contains("lock_timeout is 2s; it takes 1ms to 1.999s"), "{late}");
    }

    #[test]
    fn a_url_that_can_not_be_read_is_told_when_the_store_is_opened() {
        assert!(wrong(PostgresBuilder::new("redis://db")).contains("no URL of a PostgreSQL store"));
    }

    #[test]
    fn the_schema_may_stand_in_the_url_and_code_wins() {
        let builder = PostgresBuilder::new("postgres://db/x?semel_schema=idem");
        assert_eq!(builder.0.schema, "idem");
        assert_eq!(builder.schema("other").0.schema, "other");
    }

    #[test]
    fn no_credential_is_shown() {
        let url = "postgres://u:s3cr3t@db/x";
        let builder = PostgresBuilder::new(url).hints(HintSource::Url(url.to_owned()));
        assert!(!format!("{builder:?}").contains("s3cr3t"));
    }
}
