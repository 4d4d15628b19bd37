//! A client that speaks JSON-RPC in lines over a duplex transport, and sees the bytes.

use std::collections::HashMap;
use std::sync::Arc;

use rmcp::{ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, WriteHalf};
use tokio::sync::{Mutex, oneshot};

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<String>>>>;

/// A session with a server.
#[derive(Clone)]
pub(crate) struct Wire {
    inner: Arc<Mutex<Sending>>,
    waiting: Waiting,
}

struct Sending {
    writer: WriteHalf<DuplexStream>,
    id: u64,
}

/// A response, as it came.
#[derive(Debug, Clone)]
pub(crate) struct Reply(String);

impl Wire {
    /// Opens a session.
    pub(crate) async fn to(handler: impl ServerHandler) -> Self {
        Self::capable(handler, json!({})).await
    }

    /// Opens a session as a client of these capabilities.
    pub(crate) async fn capable(handler: impl ServerHandler, capabilities: Value) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        tokio::spawn(async move { handler.serve(theirs).await.unwrap().waiting().await });
        let (reader, writer) = tokio::io::split(ours);
        let waiting = Waiting::default();
        let told = Arc::clone(&waiting);
        tokio::spawn(async move {
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let id = serde_json::from_str::<Value>(&line).unwrap()["id"].as_u64();
                let Some(id) = id else { continue };
                if let Some(teller) = told.lock().await.remove(&id) {
                    teller.send(line).ok();
                }
            }
        });
        let wire = Self { inner: Arc::new(Mutex::new(Sending { writer, id: 0 })), waiting };
        wire.greet(capabilities).await;
        wire
    }

    async fn greet(&self, capabilities: Value) {
        let client = json!({ "name": "test", "version": "1" });
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": client
        });
        self.ask("initialize", hello).await;
        self.notify("notifications/initialized", json!({})).await;
    }

    pub(crate) async fn notify(&self, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.inner.lock().await.write(&message).await;
    }

    /// Sends a request, and gives its id and what will be its response.
    pub(crate) async fn send(
        &self,
        method: &str,
        params: Value,
    ) -> (u64, oneshot::Receiver<String>) {
        let (teller, told) = oneshot::channel();
        let mut sending = self.inner.lock().await;
        sending.id += 1;
        let id = sending.id;
        self.waiting.lock().await.insert(id, teller);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        sending.write(&message).await;
        (id, told)
    }

    pub(crate) async fn ask(&self, method: &str, params: Value) -> Reply {
        Reply(self.send(method, params).await.1.await.unwrap())
    }

    /// A tool's call, as [`call`] makes one.
    pub(crate) async fn tool(&self, params: Value) -> Reply {
        self.ask("tools/call", params).await
    }

    /// `create_order` of one keyboard under a key.
    pub(crate) async fn order(&self, key: &str) -> Reply {
        self.tool(call(key, json!({ "sku": "keyboard" }))).await
    }
}

impl Sending {
    async fn write(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
}

/// `create_order` under a key.
pub(crate) fn call(key: &str, arguments: Value) -> Value {
    json!({
        "name": "create_order", "arguments": arguments, "_meta": { "idempotencyKey": key }
    })
}

impl Reply {
    pub(crate) fn of(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.0).unwrap()
    }

    /// The bytes of the result, or of the error: all but the id.
    pub(crate) fn bytes(&self) -> &str {
        let at = self.0.find(r#""result":"#).or_else(|| self.0.find(r#""error":"#));
        &self.0[at.unwrap_or_else(|| panic!("neither a result nor an error: {}", self.0))..]
    }

    /// The first text of the result.
    pub(crate) fn text(&self) -> String {
        let json = self.json();
        let text = &json["result"]["content"][0]["text"];
        text.as_str().unwrap_or_else(|| panic!("no text: {json}")).to_owned()
    }

    pub(crate) fn error(&self) -> Value {
        let json = self.json();
        assert!(json["error"].is_object(), "no error: {json}");
        json["error"].clone()
    }

    /// It is this refusal of the door's.
    pub(crate) fn assert_is(&self, code: semel::Code) -> Value {
        let error = self.error();
        let data = &error["data"];
        assert_eq!(data["code"], code.code(), "{error}");
        assert_eq!(data["messageKey"], code.message_key(), "{error}");
        assert_eq!(data["sameKey"], code.same_key().as_bool(), "{error}");
        error
    }
}
