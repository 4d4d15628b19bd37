//! What an inbox was set up with.

use std::sync::Arc;
use std::time::Duration;

use semel_core::{Operation, Ttl};

use super::attempts::AttemptLimit;
use super::consumer::Consumer;
use crate::once::Once;
use crate::policy::Policy;

#[derive(Debug)]
pub(super) struct Settings {
    pub(super) once: Once,
    pub(super) consumer: Consumer,
    /// What records of the consumer are bound to.
    pub(super) operation: Operation,
    pub(super) policy: Arc<Policy>,
    pub(super) attempt_limit: AttemptLimit,
    pub(super) attempts_keep: Ttl,
    pub(super) put_off: Duration,
}
