//! Which claims a request is under already.
//!
//! Two layers of one store around one route would wait for each other: the inner one finds its
//! key held by the outer one, for as long as the outer one waits for it. Such a set-up can't
//! work, and is told at the first request instead of at a time limit.

use std::sync::Arc;

use http::Extensions;
use semel::{Call, Key, Store};

use crate::door::Door;

/// In the extensions of the request that the inner service gets.
#[derive(Clone)]
struct Around {
    store: Arc<dyn Store>,
    key: Key,
    further_out: Option<Arc<Around>>,
}

/// What runs within is under this call's claim.
pub(super) fn enter(extensions: &mut Extensions, door: &Door, call: &Call) {
    let further_out = extensions.remove::<Around>().map(Arc::new);
    let (store, key) = (Arc::clone(door.once.store()), call.key().clone());
    extensions.insert(Around { store, key, further_out });
}

/// Whether a layer further out holds the claim that this call would make.
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
