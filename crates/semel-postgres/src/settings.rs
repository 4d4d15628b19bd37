//! A store's settings, and the check of them.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use semel_core::{Refusal, StoreError, StoreResult};

use crate::target::Target;

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

impl Settings {
    pub(crate) fn new(url: &str) -> Self {
        let target = Target::parse(url).map_err(|error| error.message().to_owned());
        let schema = target.as_ref().ok().and_then(|target| target.schema.clone());
        Self {
            target,
            schema: schema.unwrap_or_else(|| "semel".to_owned()),
            connections: 10,
            call_timeout: Duration::from_secs(5),
            lock_timeout: Duration::from_secs(1),
            max_value_bytes: 4 << 20,
            migrations: Migrations::Run,
            hints: HintSource::Server,
        }
    }

    pub(crate) fn check(&self) -> StoreResult<()> {
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
