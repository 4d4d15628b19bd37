//! Which claims a call is under already: two wrappers around one handler would wait for each other,
//! which is told at the first call instead of at a time limit.

use std::sync::Arc;

use rmcp::model::Extensions;
use semel::{Call, Key, Store};

use crate::door::Door;

/// In the extensions of the context that the handler gets.
#[derive(Clone)]
struct Around {
    store: Arc<dyn Store>,
    key: Key,
    further_out: Option<Arc<Around>>,
}

/// What runs within is under this call's claim.
pub(crate) fn enter(extensions: &mut Extensions, door: &Door, call: &Call) {
    let further_out = extensions.remove::<Around>().map(Arc::new);
    let (store, key) = (Arc::clone(door.once.store()), call.key().clone());
    extensions.insert(Around { store, key, further_out });
}

/// Whether a wrapper further out holds the claim that this call would make.
pub(crate) fn holds(extensions: &Extensions, door: &Door, call: &Call) -> bool {
    let mut around = extensions.get::<Around>();
    while let Some(here) = around {
        if Arc::ptr_eq(&here.store, door.once.store()) && here.key == *call.key() {
            return true;
        }
        around = here.further_out.as_deref();
    }
    false
}
