//! The layer: for tower clients, and for `reqwest`.

use std::sync::Arc;

use tower_layer::Layer;

use super::drive::Client;
use super::service::SafeRetry;
use super::settings::ClientSettings;

/// Gives requests their keys and tries them again where that is safe: as a tower layer around any
/// HTTP client, and as a middleware of `reqwest-middleware`.
///
/// Clones share settings and [`RetryBudget`](super::RetryBudget): make one for each service that is
/// called, so that one which is down does not use up the retries of another.
#[derive(Debug, Clone)]
#[must_use = "it does nothing until it is put around a client"]
pub struct SafeRetryLayer {
    pub(super) client: Arc<Client>,
}

impl SafeRetryLayer {
    /// A layer with these settings.
    pub fn new(settings: ClientSettings) -> Self {
        Self { client: Arc::new(Client::new(settings)) }
    }
}

impl Default for SafeRetryLayer {
    /// With the default settings.
    fn default() -> Self {
        Self::new(ClientSettings::default())
    }
}

impl<S> Layer<S> for SafeRetryLayer {
    type Service = SafeRetry<S>;

    fn layer(&self, inner: S) -> SafeRetry<S> {
        SafeRetry::new(inner, Arc::clone(&self.client))
    }
}
