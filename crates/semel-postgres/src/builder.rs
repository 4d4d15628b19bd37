//! What can be set about a store before it is opened.

use std::time::Duration;

use semel_core::{Preflight, StoreResult};

use crate::settings::{HintSource, Migrations, Settings};
use crate::store::PostgresStore;

/// A store that is about to be opened. Made by [`PostgresStore::builder`].
///
/// `synchronous_commit` is not among the settings: claims and outcomes are on the primary's disk,
/// and with its synchronous standbys where it has some, before they are acknowledged.
#[derive(Debug, Clone)]
#[must_use = "a builder does nothing until it is opened"]
pub struct PostgresBuilder(pub(crate) Settings);

impl PostgresStore {
    /// Opens the store at this URL with the default settings; makes its tables where there are
    /// none.
    ///
    /// The URL is written `postgres://USER:PASSWORD@HOST:PORT/DATABASE?OPTION=VALUE`, as for other
    /// programs of PostgreSQL, with several hosts if there are; the page `docs/stores/postgres.md`
    /// lists the options.
    ///
    /// # Errors
    ///
    /// As [`PostgresBuilder::open`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing open. The tables may have been made.
    pub async fn open(url: &str) -> StoreResult<Self> {
        Self::builder(url).open().await
    }

    /// A store to be set up.
    pub fn builder(url: &str) -> PostgresBuilder {
        PostgresBuilder::new(url)
    }
}

impl PostgresBuilder {
    pub(crate) fn new(url: &str) -> Self {
        Self(Settings::new(url))
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
