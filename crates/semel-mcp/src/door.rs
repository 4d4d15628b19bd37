//! What the door knows: the engine, how calls are treated, and how requests are.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use semel::{Once, Operation, Policy, Scope};
use semel_http::{Anonymous, Fingerprint, KeySources, OnDisconnect};

use crate::choices::{Failures, Tools};

/// Tells whose call it is.
pub(crate) type ScopeOf = Arc<dyn Fn(&RequestContext<RoleServer>) -> Option<Scope> + Send + Sync>;

#[derive(Clone)]
pub(crate) struct Door {
    pub(crate) once: Once,
    pub(crate) policy: Arc<Policy>,
    pub(crate) tools: Tools,
    /// Tools that don't run without a key, whatever the policy says of missing keys.
    pub(crate) key_required: BTreeSet<Arc<str>>,
    pub(crate) operations: BTreeMap<Arc<str>, Operation>,
    pub(crate) sources: KeySources,
    pub(crate) scope: Option<ScopeOf>,
    pub(crate) anonymous: Anonymous,
    pub(crate) fingerprint: Fingerprint,
    /// None: as the guarantee of the policy says.
    pub(crate) failures: Option<Failures>,
    pub(crate) on_cancel: OnDisconnect,
    pub(crate) max_arguments: usize,
    pub(crate) max_cached_result: usize,
    pub(crate) replay_marker: Option<Arc<str>>,
}

impl Door {
    /// Which answers are final: a choice of one's own wins over the guarantee.
    pub(crate) fn failures(&self) -> &Failures {
        match &self.failures {
            Some(failures) => failures,
            None if self.policy.guarantee().freezes_failures() => &Failures::All,
            None => &Failures::SuccessOnly,
        }
    }
}

impl fmt::Debug for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Door").field("tools", &self.tools).finish_non_exhaustive()
    }
}
