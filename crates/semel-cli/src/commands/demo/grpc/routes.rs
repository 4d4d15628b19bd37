//! The stack, from the outside in: panics are caught, callers are known, retries are made harmless,
//! and then come the services.

use axum::{Router, middleware};
use semel::Once;
use semel_grpc::{GrpcIdempotencyLayer, OtherMethods};
use tonic::service::Routes;
use tonic_reflection::server::Builder;

use super::authenticate::authenticate;
use super::executions::Meter;
use super::orders::OrderService;
use super::payments::PaymentService;
use super::proto::DESCRIPTORS;
use super::proto::executions_server::ExecutionsServer;
use super::proto::orders_server::OrdersServer;
use super::proto::payments_server::PaymentsServer;
use super::{crossings, panics};
use crate::commands::demo::data::Database;
use crate::commands::demo::handlers::operation::{CREATE_ORDER, CREATE_PAYMENT};
use crate::plan::Policies;

/// Builds the services.
pub(super) fn router(
    data: &Database,
    once: &Once,
    policies: &Policies,
) -> Result<Router, tonic_reflection::server::Error> {
    let reflection = || Builder::configure().register_encoded_file_descriptor_set(DESCRIPTORS);
    let mut routes = Routes::new(OrdersServer::new(OrderService { data: data.clone() }));
    routes = routes
        .add_service(PaymentsServer::new(PaymentService { data: data.clone() }))
        .add_service(ExecutionsServer::new(Meter { data: data.clone() }))
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?);
    Ok(routes
        .into_axum_router()
        .layer(idempotency(once, policies))
        .layer(middleware::from_fn(authenticate))
        .layer(panics::catch()))
}

/// The same policies as through HTTP. The operations have HTTP's names, so that a key stands for
/// one order whichever door it comes through.
fn idempotency(once: &Once, policies: &Policies) -> GrpcIdempotencyLayer {
    GrpcIdempotencyLayer::new(once.clone())
        .policy(policies.calls.clone())
        .settings_of(&policies.http)
        .described_by(DESCRIPTORS)
        .unary_as("semel.demo.v1.Orders/Create", CREATE_ORDER)
        .unary_as("semel.demo.v1.Payments/Create", CREATE_PAYMENT)
        // The rest only reads, or is not there, which tonic says.
        .other_methods(OtherMethods::Pass)
        .crossings(&crossings())
}
