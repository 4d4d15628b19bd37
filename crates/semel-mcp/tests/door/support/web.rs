//! The same server over streamable HTTP, on a loopback port, and raw requests to it.

use std::net::SocketAddr;

use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{Reply, alice};

/// A server that answers until the test ends.
pub(crate) struct Web {
    pub(crate) at: SocketAddr,
}

impl Web {
    /// Each request stands for itself, and is answered with JSON. Whoever calls is Alice.
    pub(crate) async fn stateless(handler: impl ServerHandler + Clone) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true);
        Self::with(handler, config).await
    }

    pub(crate) async fn with(
        handler: impl ServerHandler + Clone,
        config: StreamableHttpServerConfig,
    ) -> Self {
        let sessions = LocalSessionManager::default();
        let service =
            StreamableHttpService::new(move || Ok(handler.clone()), sessions.into(), config);
        let app = axum::Router::new().nest_service("/mcp", service).layer(axum::Extension(alice()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { at }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.at)
    }

    /// A tool's call with these header lines.
    pub(crate) async fn post(&self, headers: &[&str], params: Value) -> Reply {
        let version = ["MCP-Protocol-Version: 2025-06-18"];
        self.send([&version[..], headers].concat(), params).await
    }

    /// A tool's call as the protocol of 2026-07-28 has it, without a session.
    pub(crate) async fn post_modern(&self, params: Value) -> Reply {
        let headers = [
            "MCP-Protocol-Version: 2026-07-28",
            "Mcp-Method: tools/call",
            "Mcp-Name: create_order",
        ];
        self.send(headers.to_vec(), params).await
    }

    async fn send(&self, headers: Vec<&str>, params: Value) -> Reply {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let body = body.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n{}\r\n\r\n{body}",
            self.at,
            body.len(),
            headers.join("\r\n"),
        );
        let mut stream = TcpStream::connect(self.at).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
        Reply::of(body)
    }
}

/// `create_order` under a key as the protocol of 2026-07-28 has it, and these members with it.
pub(crate) fn modern(key: &str, more: Value) -> Value {
    let mut params = super::call(key, json!({}));
    params["_meta"] = json!({
        "idempotencyKey": key,
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" }
    });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}
