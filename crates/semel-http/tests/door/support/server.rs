//! A real server on loopback, and clients that see every byte.

use std::net::SocketAddr;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use semel_http::Idempotency;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceBuilder;

use super::{Work, alice};

/// Serves HTTP/1.1 and HTTP/2 until the runtime ends. Everybody is Alice.
pub(crate) async fn serve(service: Idempotency<Work>) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let at = listener.local_addr().unwrap();
    let service = ServiceBuilder::new()
        .map_request(|mut request: Request<Incoming>| {
            request.extensions_mut().insert(alice());
            request
        })
        .service(service);
    tokio::spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(async move {
                let builder = auto::Builder::new(TokioExecutor::new());
                // How a connection ends is for the client to see.
                let _ = builder.serve_connection(TokioIo::new(socket), service).await;
            });
        }
    });
    at
}

/// A connection on which every byte is written and read by hand.
pub(crate) struct Raw(TcpStream);

impl Raw {
    pub(crate) async fn connect(at: SocketAddr) -> Self {
        Self(TcpStream::connect(at).await.unwrap())
    }

    pub(crate) async fn write(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.unwrap();
    }

    /// Everything until the server closes the connection.
    pub(crate) async fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        // A connection that is reset has said all that it had to say.
        let _ = self.0.read_to_end(&mut bytes).await;
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// At least this text, and whatever came with it.
    pub(crate) async fn read_to(&mut self, text: &str) -> String {
        let mut bytes = Vec::new();
        loop {
            let read = String::from_utf8_lossy(&bytes).into_owned();
            if read.contains(text) {
                return read;
            }
            let n = self.0.read_buf(&mut bytes).await.unwrap();
            assert_ne!(n, 0, "the connection ended before {text:?}: {read}");
        }
    }
}

/// A POST with a key over HTTP/1.1; `more` are further header lines, each with its line end.
pub(crate) fn h1_post(key: &str, more: &str, body: &str) -> String {
    format!(
        "POST /orders HTTP/1.1\r\nHost: shop\r\nIdempotency-Key: {key}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n{more}\r\n{body}",
        body.len()
    )
}

/// A client over one HTTP/2 connection.
pub(crate) async fn h2_client(
    at: SocketAddr,
) -> hyper::client::conn::http2::SendRequest<Full<Bytes>> {
    let socket = TcpStream::connect(at).await.unwrap();
    let executor = TokioExecutor::new();
    let (client, connection) =
        hyper::client::conn::http2::handshake(executor, TokioIo::new(socket)).await.unwrap();
    tokio::spawn(connection);
    client
}

/// An order as an HTTP/2 client sends it.
pub(crate) fn h2_order(key: &str, body: &'static str) -> Request<Full<Bytes>> {
    Request::post("http://shop/orders")
        .header("idempotency-key", key)
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from_static(body.as_bytes())))
        .unwrap()
}
