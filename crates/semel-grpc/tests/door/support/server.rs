//! The server.

use std::net::SocketAddr;

use http::Request;
use semel::Scope;
use semel_grpc::GrpcIdempotencyLayer;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tonic::body::Body;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tower::ServiceBuilder;

use super::{Client, Shop};

/// A server that ends with the test.
pub(crate) struct Running {
    at: SocketAddr,
    task: JoinHandle<()>,
}

impl Running {
    pub(crate) async fn serve(layer: GrpcIdempotencyLayer, shop: Shop) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let layers = ServiceBuilder::new().map_request(authenticate).layer(layer).into_inner();
        let server = Server::builder().layer(layers).add_service(shop);
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let task = tokio::spawn(async move { server.serve_with_incoming(incoming).await.unwrap() });
        Self { at, task }
    }

    /// A client with a connection of its own.
    pub(crate) async fn client(&self) -> Client {
        Client::connect(self.at).await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Whoever says who it is, is. Others have no scope.
fn authenticate(mut request: Request<Body>) -> Request<Body> {
    let subject =
        request.headers().get("authorization").map(|who| who.to_str().unwrap().to_owned());
    if let Some(subject) = subject {
        request.extensions_mut().insert(Scope::new("acme", subject).unwrap());
    }
    request
}
