//! The client.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use prost::Message;
use tonic::body::Body;
use tonic::metadata::MetadataMap;
use tonic::transport::{Channel, Endpoint};
use tonic::{Response, Status, Streaming};
use tonic_prost::ProstCodec;
use tower::{Service, ServiceExt};

use super::{CREATE, Order, Placed, WATCH};

/// A tonic client of Alice's.
#[derive(Clone)]
pub(crate) struct Client {
    channel: Channel,
}

/// A reply as it came over the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) trailers: Option<HeaderMap>,
}

impl Client {
    pub(super) async fn connect(at: SocketAddr) -> Self {
        let endpoint = Endpoint::from_shared(format!("http://{at}")).unwrap();
        Self { channel: endpoint.connect().await.unwrap() }
    }

    /// An order of a pen under a key.
    pub(crate) async fn create(&self, key: &str) -> Result<Response<Placed>, Status> {
        self.order(key, "pen").await
    }

    pub(crate) async fn order(&self, key: &str, sku: &str) -> Result<Response<Placed>, Status> {
        self.send(&[("authorization", "alice"), ("idempotency-key", key)], order(sku)).await
    }

    pub(crate) async fn send(
        &self,
        metadata: &[(&str, &str)],
        order: Order,
    ) -> Result<Response<Placed>, Status> {
        self.unary(request(metadata, order)).await
    }

    /// The same with a deadline, which tonic keeps on this side and tells the server.
    pub(crate) async fn create_within(
        &self,
        key: &str,
        limit: Duration,
    ) -> Result<Response<Placed>, Status> {
        let metadata = [("authorization", "alice"), ("idempotency-key", key)];
        let mut request = request(&metadata, order("pen"));
        request.set_timeout(limit);
        self.unary(request).await
    }

    async fn unary(&self, request: tonic::Request<Order>) -> Result<Response<Placed>, Status> {
        let mut grpc = tonic::client::Grpc::new(self.channel.clone());
        grpc.ready().await.unwrap();
        let path = PathAndQuery::from_static(CREATE);
        grpc.unary(request, path, ProstCodec::<Order, Placed>::default()).await
    }

    pub(crate) async fn watch(&self, key: &str) -> Result<Response<Streaming<Placed>>, Status> {
        let metadata = [("authorization", "alice"), ("idempotency-key", key)];
        let mut grpc = tonic::client::Grpc::new(self.channel.clone());
        grpc.ready().await.unwrap();
        let path = PathAndQuery::from_static(WATCH);
        let codec = ProstCodec::<Order, Placed>::default();
        grpc.server_streaming(request(&metadata, order("pen")), path, codec).await
    }

    /// Sends bytes as they are, and takes the reply as it is.
    pub(crate) async fn raw(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Result<Reply, Status> {
        let mut request = Request::post(format!("http://shop{path}")).header("te", "trailers");
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::new(Full::new(body.into()))).unwrap();
        let mut channel = self.channel.clone();
        let response = channel.ready().await.unwrap().call(request).await;
        let (head, body) = response.map_err(|error| Status::from_error(error.into()))?.into_parts();
        let collected = body.collect().await?;
        let trailers = collected.trailers().cloned();
        let mut headers = head.headers;
        // The moment is the server's own.
        headers.remove("date");
        headers.insert("x-status", head.status.as_u16().into());
        Ok(Reply { headers, body: collected.to_bytes(), trailers })
    }

    /// An order of a pen, raw.
    pub(crate) async fn raw_order(&self, key: &str) -> Result<Reply, Status> {
        let fields = [
            ("content-type", "application/grpc"),
            ("authorization", "alice"),
            ("idempotency-key", key),
        ];
        self.raw(CREATE, &fields, framed(&order("pen"))).await
    }
}

impl Reply {
    /// The same without the mark of a replay.
    pub(crate) fn unmarked(mut self) -> Self {
        assert_eq!(self.headers.remove("idempotent-replayed").unwrap(), "true");
        self
    }
}

pub(crate) fn order(sku: &str) -> Order {
    Order { sku: sku.to_owned(), quantity: 1 }
}

/// A message in its frame.
pub(crate) fn framed(message: &impl Message) -> Vec<u8> {
    let message = message.encode_to_vec();
    let mut body = vec![0];
    body.extend(u32::try_from(message.len()).unwrap().to_be_bytes());
    body.extend(message);
    body
}

fn request(metadata: &[(&str, &str)], order: Order) -> tonic::Request<Order> {
    let mut headers = HeaderMap::new();
    for (name, value) in metadata {
        headers
            .append(http::HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
    }
    tonic::Request::from_parts(MetadataMap::from_headers(headers), Default::default(), order)
}
