//! The layer.

use std::fmt;
use std::sync::Arc;

use semel::{Gate, StoreGate};
use tower_layer::Layer;

use super::door::{FenceDoor, MissingFence};
use super::service::FenceGuarded;
use super::source::FenceResource;

/// Refuses requests of holders that have lost their lock: those with an older fence in `Lock-Fence`
/// than one that was seen.
///
/// | a request | answer |
/// | --- | --- |
/// | its fence is the highest so far, or that one again | passes; the handler finds a [`ShownFence`](crate::ShownFence) in its extensions |
/// | a higher one was seen | 409 `CACHING_CONFLICT_001` |
/// | it shows none, or has no resource | 400, or passes under [`MissingFence::Pass`]; safe methods (GET, HEAD, OPTIONS, TRACE) pass |
/// | its headers are malformed or there twice, or no lock can have that resource | 400 |
/// | the gate fails | 503 `CACHING_UNAVAILABLE_001`, or `_002` where it is full; the handler does not run |
///
/// The check comes before the handler: it closes the gap up to there. What must not be late at all
/// is checked once more in the step that writes, with the fence that the handler finds: by the
/// `FenceGate` of crate `semel-postgres`, say.
///
/// Whoever can send requests can show a fence, and a very high one shuts all others out: put it
/// inside the layer that authenticates. It goes well with an
/// [`IdempotencyLayer`](crate::IdempotencyLayer): inside of it, a refusal is not recorded and a
/// repeat of finished work gets its answer whatever its fence; outside of it, that is refused too.
///
/// ```
/// use axum::{Router, routing::post};
/// use semel::StoreGate;
/// use semel_http::{FenceLayer, FenceResource};
///
/// # async fn app() -> Result<Router, semel::OpenError> {
/// let gate = StoreGate::new(semel::open("memory:").await?);
/// let app: Router = Router::new()
///     .route("/orders/{id}", post(async || "done"))
///     .layer(FenceLayer::new(gate, FenceResource::Path));
/// # Ok(app)
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a layer does nothing until it is put around a service"]
pub struct FenceLayer {
    door: FenceDoor,
}

impl FenceLayer {
    /// A layer over this gate. A fence is required.
    ///
    /// # Panics
    ///
    /// When the resource is [named](FenceResource::Named) as no lock can be: at set-up, not at a
    /// request.
    pub fn new(gate: impl Gate + 'static, resource: FenceResource) -> Self {
        if let FenceResource::Named(name) = &resource
            && let Err(error) = StoreGate::key(name)
        {
            panic!("FenceLayer: no lock can have this resource: {error}");
        }
        let missing = MissingFence::default();
        Self { door: FenceDoor { gate: Arc::new(gate), resource, missing } }
    }

    /// What becomes of requests that show no fence.
    pub fn missing(mut self, missing: MissingFence) -> Self {
        self.door.missing = missing;
        self
    }
}

impl<S> Layer<S> for FenceLayer {
    type Service = FenceGuarded<S>;

    fn layer(&self, inner: S) -> FenceGuarded<S> {
        FenceGuarded::new(inner, self.door.clone())
    }
}

impl fmt::Debug for FenceLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FenceLayer")
            .field("resource", &self.door.resource)
            .field("missing", &self.door.missing)
            .finish_non_exhaustive()
    }
}
