//! What either door is told.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use http::request;
use semel::{Form, Operation, Outcome};
use semel_http::{RecordedAnswer, SharedOperations};

use super::erased::Erased;
use super::form::Crossing;

/// The operations that can be called through gRPC and through HTTP, and how each is said there.
///
/// The same value goes to both doors: [`GrpcIdempotencyLayer::crossings`] here, and
/// [`Crossings::for_http`] into [`HttpSettingsBuilder::shared`] there.
///
/// [`GrpcIdempotencyLayer::crossings`]: crate::GrpcIdempotencyLayer::crossings
/// [`HttpSettingsBuilder::shared`]: semel_http::HttpSettingsBuilder::shared
#[derive(Debug, Clone, Default)]
pub struct Crossings {
    operations: HashMap<Operation, Arc<dyn Erased>>,
}

impl Crossings {
    /// No operations yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an operation by the name that it has at both doors. The last one of a name counts.
    #[must_use]
    pub fn with(mut self, operation: Operation, crossing: impl Crossing) -> Self {
        self.operations.insert(operation, Arc::new(crossing));
        self
    }

    /// What the HTTP door is told.
    #[must_use]
    pub fn for_http(&self) -> Arc<dyn SharedOperations> {
        Arc::new(AtHttp(self.clone()))
    }

    pub(crate) fn for_grpc(&self) -> Arc<dyn SharedOperations> {
        Arc::new(AtGrpc(self.clone()))
    }
}

#[derive(Debug)]
struct AtHttp(Crossings);

impl SharedOperations for AtHttp {
    fn input(&self, operation: &Operation, head: &request::Parts, body: &Bytes) -> Option<Bytes> {
        self.0.operations.get(operation)?.input_of_http(head, body)
    }

    fn translate(&self, operation: &Operation, outcome: &Outcome) -> Option<RecordedAnswer> {
        let crossing = self.0.operations.get(operation).filter(|_| outcome.form == Form::Grpc)?;
        crossing.to_http(&RecordedAnswer::of(outcome)?)
    }
}

#[derive(Debug)]
struct AtGrpc(Crossings);

impl SharedOperations for AtGrpc {
    fn input(&self, operation: &Operation, head: &request::Parts, body: &Bytes) -> Option<Bytes> {
        self.0.operations.get(operation)?.input_of_grpc(head, body)
    }

    fn translate(&self, operation: &Operation, outcome: &Outcome) -> Option<RecordedAnswer> {
        let crossing = self.0.operations.get(operation).filter(|_| outcome.form == Form::Http)?;
        crossing.to_grpc(&RecordedAnswer::of(outcome)?)
    }
}
