//! What a door knows: the engine, how calls are treated, and how requests are.

use std::sync::Arc;

use semel::{Once, Operation, Policy};

use crate::settings::HttpSettings;

/// What a service needs to know.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    pub(crate) once: Once,
    pub(crate) policy: Arc<Policy>,
    pub(crate) settings: Arc<HttpSettings>,
    pub(crate) operation: Option<Operation>,
}
