//! Which claims a call is under already.

use std::fmt;
use std::sync::Arc;

use semel_core::{Key, Store};

use crate::once::{Call, Once};

/// The claims that whatever runs within is under, from the innermost outwards. A door puts it where
/// a door further in will find it, such as the extensions of a request.
///
/// Two doors of one store around one piece of work would wait for each other: the inner one finds
/// its key held by the outer one, for as long as the outer one waits for it. Such a set-up can't
/// work, and is told at the first call instead of at a time limit.
#[derive(Clone)]
pub struct ClaimsAround {
    store: Arc<dyn Store>,
    key: Key,
    further_out: Option<Arc<Self>>,
}

impl ClaimsAround {
    /// The claim of `call`, and those that it stands in.
    #[must_use]
    pub fn new(once: &Once, call: &Call, further_out: Option<Self>) -> Self {
        let (store, key) = (Arc::clone(once.store()), call.key().clone());
        Self { store, key, further_out: further_out.map(Arc::new) }
    }

    /// Whether one of these is the claim that `call` would make.
    #[must_use]
    pub fn hold(&self, once: &Once, call: &Call) -> bool {
        let mut around = Some(self);
        while let Some(here) = around {
            if Arc::ptr_eq(&here.store, once.store()) && here.key == *call.key() {
                return true;
            }
            around = here.further_out.as_deref();
        }
        false
    }
}

/// Without keys, which belong to clients.
impl fmt::Debug for ClaimsAround {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClaimsAround").field("key", &self.key.digest()).finish_non_exhaustive()
    }
}
