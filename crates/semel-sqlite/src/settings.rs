//! A store's settings, and the check of them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use semel_core::{Clock, Refusal, StoreError, StoreResult};

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) path: PathBuf,
    pub(crate) busy_timeout: Duration,
    pub(crate) poll_interval: Duration,
    pub(crate) max_value_bytes: usize,
    pub(crate) max_file_bytes: Option<u64>,
    pub(crate) min_free_bytes: u64,
    pub(crate) readers: usize,
    pub(crate) clock: Option<Arc<dyn Clock>>,
}

impl Settings {
    pub(crate) const fn new(path: PathBuf) -> Self {
        Self {
            path,
            busy_timeout: Duration::from_secs(5),
            poll_interval: Duration::from_millis(25),
            max_value_bytes: 4 << 20,
            max_file_bytes: None,
            min_free_bytes: 32 << 20,
            readers: 2,
            clock: None,
        }
    }

    pub(crate) fn check(&self) -> StoreResult<()> {
        let millis = |from, to| Duration::from_millis(from)..=Duration::from_millis(to);
        within("busy_timeout", &self.busy_timeout, millis(0, 3_600_000))?;
        within("poll_interval", &self.poll_interval, millis(1, 60_000))?;
        within("max_value_bytes", &self.max_value_bytes, 1..=512 << 20)?;
        within("max_file_bytes", &self.max_file_bytes.unwrap_or(1 << 16), 1 << 16..=1 << 47)?;
        within("readers", &self.readers, 1..=64)
    }
}

fn within<T: PartialOrd + std::fmt::Debug>(
    name: &str,
    got: &T,
    takes: std::ops::RangeInclusive<T>,
) -> StoreResult<()> {
    if takes.contains(got) {
        return Ok(());
    }
    let (from, to) = takes.into_inner();
    let message = format!("{name} is {got:?}; it takes {from:?} to {to:?}");
    Err(StoreError::refused(Refusal::Unusable, message))
}
