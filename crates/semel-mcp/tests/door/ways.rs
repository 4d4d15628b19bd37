//! Every door of one operation over one store: HTTP, gRPC, MCP, and the function form.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use semel::{CallError, Once};
use semel_grpc::GrpcIdempotencyLayer;
use semel_http::{IdempotencyLayer, RequestBody};
use serde_json::Value;
use tonic::Status;
use tonic_types::StatusExt;
use tower::{Layer, ServiceExt};

use crate::support::{Shop, Wire, alice, once, text, tools};

/// The one name that the operation has at every door.
pub(crate) const OPERATION: &str = "orders.create";
const METHOD: &str = "/shop.Orders/Create";

/// A way into the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Http,
    Grpc,
    Mcp,
    /// A function, whose answer is a value.
    Value,
    /// A function, whose answer is bytes.
    Bytes,
    /// A function that fails for good.
    Error,
}

impl Way {
    pub(crate) const ALL: [Self; 6] =
        [Self::Http, Self::Grpc, Self::Mcp, Self::Value, Self::Bytes, Self::Error];

    /// Whether both are the door of functions.
    pub(crate) fn are_functions(ways: [Self; 2]) -> bool {
        ways.iter().all(|way| matches!(way, Self::Value | Self::Bytes | Self::Error))
    }
}

/// What was heard at a door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heard {
    /// The work's own answer.
    Answer(String),
    Refused {
        message_key: String,
        operation: Option<String>,
        recorded: Option<String>,
    },
}

/// The shop, with all of its doors open.
#[derive(Clone)]
pub(crate) struct Doors {
    once: Once,
    wire: Wire,
    runs: Arc<AtomicUsize>,
}

impl Doors {
    pub(crate) async fn open() -> Self {
        let (once, runs) = (once(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&runs);
        let shop = Shop::new(move |_| {
            let said = work(Arc::clone(&counted));
            async move { Ok(text(&said.await)) }
        });
        let tools = tools(&once).operation("create_order", OPERATION);
        let wire = Wire::to(tools.around(shop)).await;
        Self { once, wire, runs }
    }

    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    pub(crate) async fn ask(&self, way: Way, key: &str) -> Heard {
        match way {
            Way::Http => self.http(key).await,
            Way::Grpc => self.grpc(key).await,
            Way::Mcp => self.mcp(key).await,
            Way::Value | Way::Bytes | Way::Error => self.function(way, key).await,
        }
    }

    async fn http(&self, key: &str) -> Heard {
        let runs = Arc::clone(&self.runs);
        let handler = tower::service_fn(move |_: Request<RequestBody<Full<Bytes>>>| {
            let said = work(Arc::clone(&runs));
            async move { Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(said.await)))) }
        });
        let service = IdempotencyLayer::new(self.once.clone()).operation(OPERATION).layer(handler);
        let request = asking("/orders", "application/json", key, br#"{"sku":"keyboard"}"#);
        let answer = service.oneshot(request).await.unwrap();
        let is_refused = answer.headers().contains_key("idempotency-error");
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        if is_refused {
            return Heard::problem(&serde_json::from_slice(&body).unwrap());
        }
        Heard::Answer(String::from_utf8(body.to_vec()).unwrap())
    }

    async fn grpc(&self, key: &str) -> Heard {
        let runs = Arc::clone(&self.runs);
        let handler = tower::service_fn(move |_: Request<RequestBody<Full<Bytes>>>| {
            let said = work(Arc::clone(&runs));
            async move { Ok::<_, Infallible>(reply(said.await.as_bytes())) }
        });
        let layer = GrpcIdempotencyLayer::new(self.once.clone()).unary_as(METHOD, OPERATION);
        let request = asking(METHOD, "application/grpc", key, &framed(b"keyboard"));
        let answer = layer.layer(handler).oneshot(request).await.unwrap();
        if let Some(status) = Status::from_header_map(answer.headers()) {
            return Heard::status(&status);
        }
        let body = answer.into_body().collect().await.unwrap();
        assert_eq!(body.trailers().unwrap()["grpc-status"], "0");
        Heard::Answer(String::from_utf8(body.to_bytes()[5..].to_vec()).unwrap())
    }

    async fn mcp(&self, key: &str) -> Heard {
        let reply = self.wire.order(key).await;
        if reply.json()["error"].is_object() {
            return Heard::problem(&reply.error()["data"]);
        }
        Heard::Answer(reply.text())
    }

    async fn function(&self, way: Way, key: &str) -> Heard {
        let call = self.once.call(key).scope(alice()).operation(OPERATION);
        let call = call.failures(|_: &String| semel::Finality::Final);
        let said = match way {
            Way::Value => call.run(async |_| Ok(work(self.runs.clone()).await)).await,
            Way::Bytes => {
                let bytes =
                    call.run_bytes(async |_| Ok(work(self.runs.clone()).await.into())).await;
                bytes.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap())
            }
            _ => call.run(async |_| Err::<String, _>(work(self.runs.clone()).await)).await,
        };
        match said {
            Ok(said) | Err(CallError::Work(said)) => Heard::Answer(said),
            Err(CallError::Refused(problem)) => {
                let named = |name| {
                    let param = problem.params().into_iter().find(|param| param.name == name)?;
                    let semel::ParamValue::Text(text) = param.value else { panic!("no text") };
                    Some(text.to_string())
                };
                Heard::Refused {
                    message_key: problem.code().message_key().to_owned(),
                    operation: named("operation"),
                    recorded: named("recorded"),
                }
            }
            Err(other) => panic!("{other}"),
        }
    }
}

impl Heard {
    fn problem(document: &Value) -> Self {
        let param = |name| document["params"][name].as_str().map(str::to_owned);
        Self::Refused {
            message_key: document["messageKey"].as_str().unwrap().to_owned(),
            operation: param("operation"),
            recorded: param("recorded"),
        }
    }

    fn status(status: &Status) -> Self {
        let info = status.get_details_error_info().unwrap();
        Self::Refused {
            message_key: info.metadata["messageKey"].clone(),
            operation: info.metadata.get("operation").cloned(),
            recorded: info.metadata.get("recorded").cloned(),
        }
    }
}

/// What is behind every door.
async fn work(runs: Arc<AtomicUsize>) -> String {
    let run = runs.fetch_add(1, Ordering::SeqCst) + 1;
    // Others may come meanwhile.
    tokio::task::yield_now().await;
    format!("order {run}")
}

fn asking(path: &str, content_type: &str, key: &str, body: &[u8]) -> Request<Full<Bytes>> {
    let request = Request::post(path).header("content-type", content_type);
    let request = request.header("idempotency-key", key).extension(alice());
    request.body(Full::new(Bytes::copy_from_slice(body))).unwrap()
}

fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap();
    [&[0][..], &length.to_be_bytes(), message].concat()
}

type Trailed = http_body_util::combinators::BoxBody<Bytes, Infallible>;

fn reply(message: &[u8]) -> Response<Trailed> {
    let trailers = HeaderMap::from_iter([(http::HeaderName::from_static("grpc-status"), 0.into())]);
    let body = Full::new(Bytes::from(framed(message)));
    let body = body.with_trailers(std::future::ready(Some(Ok(trailers))));
    Response::builder().header("content-type", "application/grpc").body(body.boxed()).unwrap()
}
