//! Assembling the stages.

use std::fmt;

use tower_layer::Layer;

use super::stage::{Absent, Present, Slot, Stage};
use crate::layer::IdempotencyLayer;

/// The stages around a handler, in the one order in which a retry is harmless.
///
/// ```text
/// authenticate > tenant > authorise > validate > idempotency > transaction > handler
/// ```
///
/// * Outside of idempotency stands what may refuse: what is refused there is never recorded, the
///   key stays free, and a replay is only given to whoever may have it.
/// * Inside of it stands what has an effect. The transaction is the innermost: what is recorded is
///   the outcome *after* its commit, and a commit that fails is an answer that frees the key.
/// * That an answer is a replay ([`Replayed`](crate::Replayed)) is seen by every stage outside of
///   idempotency, and by layers around the pipeline.
///
/// A stage is named, not placed: whatever the order of the calls, the order of the stages is this
/// one, and a stage can't be given twice. Any of them may be left out. The pipeline is a tower
/// layer of one type, without boxes; [`Display`](fmt::Display) prints it, for the log at start.
///
/// ```
/// use axum::extract::Request;
/// use axum::http::StatusCode;
/// use axum::middleware::{Next, from_fn};
/// use axum::response::Response;
/// use axum::{Router, routing::post};
/// use semel::{Once, Scope};
/// use semel_http::{IdempotencyLayer, Pipeline};
///
/// async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
///     // Here a token is verified; its subject makes the scope, never the token itself.
///     let scope = Scope::new("acme", "alice").map_err(|_| StatusCode::UNAUTHORIZED)?;
///     request.extensions_mut().insert(scope);
///     Ok(next.run(request).await)
/// }
///
/// async fn validate(request: Request, next: Next) -> Result<Response, StatusCode> {
///     match request.headers().get("content-type") {
///         Some(_) => Ok(next.run(request).await),
///         None => Err(StatusCode::UNSUPPORTED_MEDIA_TYPE),
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let once = Once::new(semel::open("memory:").await?);
/// let pipeline = Pipeline::new()
///     .authenticate(from_fn(authenticate))
///     .validate(from_fn(validate))
///     .idempotency(IdempotencyLayer::new(once));
/// assert_eq!(
///     pipeline.to_string(),
///     "authenticate > validate > idempotency > handler (without tenant, authorise, transaction)"
/// );
/// let app: Router = Router::new().route("/orders", post(async || "ordered")).layer(pipeline);
/// # let _ = app;
/// # Ok(())
/// # }
/// ```
///
/// A stage that is there can't be given again:
///
/// ```compile_fail
/// # use semel_http::Pipeline;
/// # use tower_layer::Identity;
/// Pipeline::new().tenant(Identity::new()).tenant(Identity::new());
/// ```
///
/// # Bodies
///
/// What stands inside of idempotency gets a request whose body is a
/// [`RequestBody`](crate::RequestBody). A layer that takes any body does as it is. One that takes
/// axum's only, as those of `from_fn` do, is given together with a layer that changes the body:
/// `.transaction((MapRequestBodyLayer::new(axum::body::Body::new), from_fn(transaction)))`, of
/// `tower-http`.
///
/// # A transaction of the store's
///
/// Under the guarantee [`Transactional`](semel::Guarantee::Transactional) the idempotency stage
/// begins and commits by itself, record and rows together. Then the transaction's place stays
/// empty.
#[derive(Clone)]
#[must_use = "a pipeline does nothing until it is put around a service"]
pub struct Pipeline<A = Absent, T = Absent, Z = Absent, V = Absent, I = Absent, X = Absent> {
    authenticate: A,
    tenant: T,
    authorise: Z,
    validate: V,
    idempotency: I,
    transaction: X,
}

impl Pipeline {
    /// A pipeline without a stage.
    pub const fn new() -> Self {
        Self {
            authenticate: Absent,
            tenant: Absent,
            authorise: Absent,
            validate: Absent,
            idempotency: Absent,
            transaction: Absent,
        }
    }
}

impl Default for Pipeline {
    fn default() -> Self {
        Self::new()
    }
}

// ===== Stages: each has its setter as long as it is not there =====

impl<T, Z, V, I, X> Pipeline<Absent, T, Z, V, I, X> {
    /// Who calls: outermost, so that nothing is told to whom nobody knows.
    pub fn authenticate<L>(self, layer: L) -> Pipeline<Present<L>, T, Z, V, I, X> {
        Pipeline {
            authenticate: Present(layer),
            tenant: self.tenant,
            authorise: self.authorise,
            validate: self.validate,
            idempotency: self.idempotency,
            transaction: self.transaction,
        }
    }
}

impl<A, Z, V, I, X> Pipeline<A, Absent, Z, V, I, X> {
    /// For which tenant.
    pub fn tenant<L>(self, layer: L) -> Pipeline<A, Present<L>, Z, V, I, X> {
        Pipeline {
            authenticate: self.authenticate,
            tenant: Present(layer),
            authorise: self.authorise,
            validate: self.validate,
            idempotency: self.idempotency,
            transaction: self.transaction,
        }
    }
}

impl<A, T, V, I, X> Pipeline<A, T, Absent, V, I, X> {
    /// Whether they may. Inside of authentication, and outside of idempotency: a replay is given to
    /// nobody who may not have it any more.
    pub fn authorise<L>(self, layer: L) -> Pipeline<A, T, Present<L>, V, I, X> {
        Pipeline {
            authenticate: self.authenticate,
            tenant: self.tenant,
            authorise: Present(layer),
            validate: self.validate,
            idempotency: self.idempotency,
            transaction: self.transaction,
        }
    }
}

impl<A, T, Z, I, X> Pipeline<A, T, Z, Absent, I, X> {
    /// Whether it can be carried out at all. What is refused here leaves its key free, and runs once
    /// it was mended.
    pub fn validate<L>(self, layer: L) -> Pipeline<A, T, Z, Present<L>, I, X> {
        Pipeline {
            authenticate: self.authenticate,
            tenant: self.tenant,
            authorise: self.authorise,
            validate: Present(layer),
            idempotency: self.idempotency,
            transaction: self.transaction,
        }
    }
}

impl<A, T, Z, V, X> Pipeline<A, T, Z, V, Absent, X> {
    /// Whether it ran already.
    pub fn idempotency(
        self,
        layer: IdempotencyLayer,
    ) -> Pipeline<A, T, Z, V, Present<IdempotencyLayer>, X> {
        Pipeline {
            authenticate: self.authenticate,
            tenant: self.tenant,
            authorise: self.authorise,
            validate: self.validate,
            idempotency: Present(layer),
            transaction: self.transaction,
        }
    }
}

impl<A, T, Z, V, I> Pipeline<A, T, Z, V, I, Absent> {
    /// What begins before the handler and is committed after it.
    pub fn transaction<L>(self, layer: L) -> Pipeline<A, T, Z, V, I, Present<L>> {
        Pipeline {
            authenticate: self.authenticate,
            tenant: self.tenant,
            authorise: self.authorise,
            validate: self.validate,
            idempotency: self.idempotency,
            transaction: Present(layer),
        }
    }
}

// ===== Assembled =====

impl<A, T, Z, V, I, X, S> Layer<S> for Pipeline<A, T, Z, V, I, X>
where
    X: Layer<S>,
    I: Layer<X::Service>,
    V: Layer<I::Service>,
    Z: Layer<V::Service>,
    T: Layer<Z::Service>,
    A: Layer<T::Service>,
{
    type Service = A::Service;

    fn layer(&self, handler: S) -> A::Service {
        // From the inside out: this is the order.
        let service = self.transaction.layer(handler);
        let service = self.idempotency.layer(service);
        let service = self.validate.layer(service);
        let service = self.authorise.layer(service);
        let service = self.tenant.layer(service);
        self.authenticate.layer(service)
    }
}

#[expect(private_bounds, reason = "the places are this module's own: there are no others")]
impl<A: Slot, T: Slot, Z: Slot, V: Slot, I: Slot, X: Slot> Pipeline<A, T, Z, V, I, X> {
    /// The stages that are there, from the outermost to the innermost.
    #[must_use]
    pub fn stages(&self) -> Vec<Stage> {
        let is_there =
            [A::IS_THERE, T::IS_THERE, Z::IS_THERE, V::IS_THERE, I::IS_THERE, X::IS_THERE];
        let stages = Stage::ALL.into_iter().zip(is_there);
        stages.filter_map(|(stage, there)| there.then_some(stage)).collect()
    }
}

impl<A: Slot, T: Slot, Z: Slot, V: Slot, I: Slot, X: Slot> fmt::Display
    for Pipeline<A, T, Z, V, I, X>
{
    /// `authenticate > idempotency > handler (without tenant, authorise, validate, transaction)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let there = self.stages();
        for stage in &there {
            write!(f, "{stage} > ")?;
        }
        f.write_str("handler")?;
        let absent: Vec<String> = Stage::ALL
            .iter()
            .filter(|stage| !there.contains(stage))
            .map(ToString::to_string)
            .collect();
        if absent.is_empty() { Ok(()) } else { write!(f, " (without {})", absent.join(", ")) }
    }
}

impl<A: Slot, T: Slot, Z: Slot, V: Slot, I: Slot, X: Slot> fmt::Debug
    for Pipeline<A, T, Z, V, I, X>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.stages()).finish()
    }
}
