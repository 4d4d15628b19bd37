//! The gRPC face: a tonic client, the same orders, the same keys.

mod crossing;
mod kills;
mod orders;
mod reflection;
mod start;

use std::net::SocketAddr;

use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};

use crate::support::{Files, Server, within};

/// What the proto file makes for a client.
#[expect(
    clippy::allow_attributes_without_reason,
    unreachable_pub,
    unused_qualifications,
    reason = "a generator wrote it"
)]
mod proto {
    include!(concat!(env!("CARGO_MANIFEST_DIR"), "/proto/generated/client.rs.in"));
}

use proto::executions_client::ExecutionsClient;
use proto::orders_client::OrdersClient;
use proto::payments_client::PaymentsClient;
use proto::{
    CreateOrderRequest, CreatePaymentRequest, GetOrderRequest, ListExecutionsRequest,
    ListOrdersRequest, Order, Payment,
};

const GRPC: &str = "--grpc-listen=127.0.0.1:0";

async fn start(files: &Files, flags: &[&str]) -> Server {
    files.start(&[&[GRPC], flags].concat()).await
}

/// A client that is Alice unless a call says otherwise.
#[derive(Clone)]
struct Grpc {
    channel: Channel,
}

impl Grpc {
    async fn of(server: &Server) -> Self {
        Self::at(server.grpc.unwrap()).await
    }

    async fn at(at: SocketAddr) -> Self {
        let endpoint = Endpoint::from_shared(format!("http://{at}")).unwrap();
        let channel = within("a gRPC connection", endpoint.connect()).await.unwrap();
        Self { channel }
    }

    /// A keyboard under a key.
    async fn create(&self, key: &str) -> Result<Response<Order>, Status> {
        self.order(&[("idempotency-key", key)], "Keyboard").await
    }

    async fn order(&self, more: &[(&str, &str)], name: &str) -> Result<Response<Order>, Status> {
        let order = CreateOrderRequest { name: name.to_owned(), amount: 2 };
        let mut orders = OrdersClient::new(self.channel.clone());
        within("a reply", orders.create(asked(order, more))).await
    }

    async fn pay(&self, key: &str, order: i64) -> Result<Response<Payment>, Status> {
        let payment = CreatePaymentRequest { order, amount: 5 };
        let mut payments = PaymentsClient::new(self.channel.clone());
        within("a reply", payments.create(asked(payment, &[("idempotency-key", key)]))).await
    }

    async fn get(&self, id: i64) -> Result<Order, Status> {
        let mut orders = OrdersClient::new(self.channel.clone());
        let get = orders.get(asked(GetOrderRequest { id }, &[]));
        within("a reply", get).await.map(Response::into_inner)
    }

    async fn list(&self) -> Vec<Order> {
        let mut orders = OrdersClient::new(self.channel.clone());
        let list = orders.list(asked(ListOrdersRequest {}, &[]));
        within("a reply", list).await.unwrap().into_inner().orders
    }

    /// How often orders were made, by the server's meter, which needs no key.
    async fn executions(&self) -> i64 {
        let mut meter = ExecutionsClient::new(self.channel.clone());
        let counts = within("a reply", meter.list(ListExecutionsRequest {})).await.unwrap();
        let counts = counts.into_inner().executions;
        counts.iter().find(|count| count.operation == "POST /orders").unwrap().count
    }
}

fn asked<M>(message: M, more: &[(&str, &str)]) -> Request<M> {
    let mut headers = http::HeaderMap::new();
    if !more.iter().any(|(name, _)| *name == "authorization") {
        headers.insert("authorization", "ApiKey dev-alice-key".parse().unwrap());
    }
    for (name, value) in more {
        let name = http::HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.append(name, value.parse().unwrap());
    }
    let metadata = tonic::metadata::MetadataMap::from_headers(headers);
    Request::from_parts(metadata, Default::default(), message)
}

fn is_replay<M>(reply: &Response<M>) -> bool {
    reply.metadata().contains_key("idempotent-replayed")
}

fn error_code(status: &Status) -> &str {
    status.metadata().get("idempotency-error").map_or("", |code| code.to_str().unwrap())
}
