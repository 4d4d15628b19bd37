//! Idempotency for HTTP services: a tower layer.
//!
//! (The manual of this crate is being written.)

mod body;
mod collect;
mod door;
mod exchange;
mod fingerprint;
mod future;
mod key;
mod layer;
mod media;
mod operation;
mod problem;
mod recording;
mod replay;
mod service;
mod settings;
mod stored;

pub use body::{RequestBody, ResponseBody};
pub use fingerprint::{Fingerprint, SelectError, Selection};
pub use future::ResponseFuture;
pub use key::{
    BaggageFault, BaggageKey, BaggageKeyError, Found, HeaderFault, HeaderSyntax, HeaderSyntaxError,
    ItemKind, KeyFault, KeySource, KeySources, KeySourcesError, UncheckedKey,
};
pub use layer::IdempotencyLayer;
pub use replay::Replayed;
pub use service::Idempotency;
pub use settings::{
    Anonymous, Failures, Finality, HttpSettings, HttpSettingsBuilder, HttpSettingsError, Methods,
    OnDisconnect, Oversized,
};
