//! How the HTTP door treats requests: everything that concerns HTTP and not the call itself.

mod build;
mod choices;
mod failures;
mod methods;

pub(crate) use build::is_never_replayed;
pub use build::{HttpSettings, HttpSettingsBuilder, HttpSettingsError};
pub use choices::{Anonymous, OnDisconnect, Oversized};
pub use failures::Failures;
pub use methods::Methods;
