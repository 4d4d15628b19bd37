//! One order, one key: whichever door the call comes through.

use bytes::Bytes;
use http::{Response, StatusCode, header, request};
use semel::Operation;
use semel_grpc::{Crossing, Crossings};
use tonic::Status;

use super::proto::{CreateOrderRequest, Order};
use crate::commands::demo::data;
use crate::commands::demo::handlers::operation::CREATE_ORDER;
use crate::commands::demo::input;

/// The operations that HTTP and gRPC share. Payments are not among them: a payment's key that was
/// used through one door is refused by the other.
pub(crate) fn crossings() -> Crossings {
    match Operation::new(CREATE_ORDER) {
        Ok(operation) => Crossings::new().with(operation, CreateOrder),
        // It has a name.
        Err(_) => Crossings::new(),
    }
}

#[derive(Debug)]
struct CreateOrder;

impl Crossing for CreateOrder {
    type Request = CreateOrderRequest;
    type Reply = Order;

    fn request(&self, _: &request::Parts, body: &Bytes) -> Option<CreateOrderRequest> {
        let data::NewOrder { name, amount } = input::order(body).ok()?;
        Some(CreateOrderRequest { name, amount })
    }

    /// An order that was made; refusals stay with the door that gave them.
    fn reply(&self, answer: &Response<Bytes>) -> Option<Result<Order, Status>> {
        if answer.status() != StatusCode::CREATED {
            return None;
        }
        let order: data::Order = serde_json::from_slice(answer.body()).ok()?;
        Some(Ok(order.into()))
    }

    fn answer(&self, reply: Result<Order, Status>) -> Option<Response<Bytes>> {
        let Order { id, name, amount, created_at, tenant, subject } = reply.ok()?;
        let order = data::Order { id, name, amount, created_at, tenant, subject };
        Response::builder()
            .status(StatusCode::CREATED)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::LOCATION, format!("/orders/{id}"))
            .body(serde_json::to_vec(&order).ok()?.into())
            .ok()
    }
}
