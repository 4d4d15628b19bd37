//! A client over one of the two protocols.

use std::net::SocketAddr;

use http::Request;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use super::call::CallBody;
use super::{Answer, Call, within};

/// A call that got no whole answer.
pub(crate) type Broken = Box<dyn std::error::Error + Send + Sync>;

/// The protocol that a scenario runs over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Http {
    /// HTTP/1.1, a connection for each call.
    One,
    /// HTTP/2 with prior knowledge, one connection for all calls.
    Two,
}

/// Sends calls to one server. Clones share the connection of HTTP/2.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    at: SocketAddr,
    shared: Option<http2::SendRequest<CallBody>>,
}

impl Client {
    pub(crate) async fn connect(at: SocketAddr, http: Http) -> Self {
        let shared = match http {
            Http::One => None,
            Http::Two => Some(Self::connect_shared(at).await),
        };
        Self { at, shared }
    }

    async fn connect_shared(at: SocketAddr) -> http2::SendRequest<CallBody> {
        let io = connect(at).await.unwrap();
        let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
        tokio::spawn(connection);
        sender
    }

    /// Sends a call and reads the whole answer.
    pub(crate) async fn send(&self, call: Call) -> Answer {
        let said = format!("the answer to {} {}", call.method, call.path);
        within(&said, self.try_send(call)).await.unwrap()
    }

    /// As [`Client::send`], for servers that may break off in the middle.
    pub(crate) async fn try_send(&self, call: Call) -> Result<Answer, Broken> {
        let (parts, body) = self.open(call).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok(Answer { status: parts.status, headers: parts.headers, body })
    }

    /// Sends a call and gives the answer's head with its body unread. Dropping
    /// the body, or this future, hangs up on the call.
    pub(crate) async fn open(&self, call: Call) -> Result<Response<Incoming>, Broken> {
        let request = call.request(&self.at.to_string());
        match self.shared.clone() {
            Some(mut shared) => {
                shared.ready().await?;
                Ok(shared.send_request(request).await?)
            }
            None => self.open_alone(request).await,
        }
    }

    async fn open_alone(&self, request: Request<CallBody>) -> Result<Response<Incoming>, Broken> {
        let io = connect(self.at).await?;
        let (mut sender, connection) = http1::handshake(io).await?;
        tokio::spawn(connection);
        Ok(sender.send_request(to_origin(request)).await?)
    }
}

async fn connect(at: SocketAddr) -> std::io::Result<TokioIo<TcpStream>> {
    let stream = TcpStream::connect(at).await?;
    stream.set_nodelay(true)?;
    Ok(TokioIo::new(stream))
}

/// HTTP/1.1 to a server names the host in a header and only the path in the request line.
fn to_origin(mut request: Request<CallBody>) -> Request<CallBody> {
    let host = request.uri().authority().unwrap().as_str().parse().unwrap();
    let path = request.uri().path_and_query().unwrap().as_str().parse().unwrap();
    request.headers_mut().insert(http::header::HOST, host);
    *request.uri_mut() = path;
    request
}
