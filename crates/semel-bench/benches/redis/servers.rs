//! The handler, alone, between the two commands of a call, and behind the layer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use bytes::Bytes;
use redis::aio::MultiplexedConnection;
use semel::core::Next::Put;
use semel::core::{Expect, Swap, Ttl};
use semel::{Key, Once, Store};
use semel_bench::{Keys, orders};
use semel_http::{Anonymous, IdempotencyLayer};
use tokio::task::JoinHandle;

/// What is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bare,
    /// The plainest commands that could carry a claim and an outcome. They protect nothing.
    TwoSets,
    /// The two commands that the store sends, and nothing else.
    TwoSwaps,
    FirstCalls,
    Replays,
}

impl Kind {
    pub(crate) const fn keys(self) -> Keys {
        match self {
            Self::Replays => Keys::Repeated,
            Self::Bare | Self::TwoSets | Self::TwoSwaps | Self::FirstCalls => Keys::Fresh,
        }
    }
}

pub(crate) async fn serve(kind: Kind, url: &str) -> (SocketAddr, JoinHandle<()>) {
    // What the server before this one left behind must not be found again.
    let client = redis::Client::open(url).expect("a URL");
    let mut connection = client.get_multiplexed_async_connection().await.expect("a connection");
    redis::cmd("FLUSHALL").exec_async(&mut connection).await.expect("a flush");
    let orders = orders::router();
    let app: Router = match kind {
        Kind::Bare => orders,
        Kind::TwoSets => orders.layer(from_fn_with_state(connection, two_sets)),
        Kind::TwoSwaps => {
            let store = semel::open(url).await.expect("a store");
            orders.layer(from_fn_with_state(store, two_swaps))
        }
        Kind::FirstCalls | Kind::Replays => {
            let once = Once::new(semel::open(url).await.expect("a store"));
            orders.layer(IdempotencyLayer::new(once).anonymous(Anonymous::Shared))
        }
    };
    orders::serve(app).await
}

/// As long as a claim and a record of this answer are.
const HELD: [u8; 200] = [b'h'; 200];
const DONE: [u8; 500] = [b'd'; 500];
const LEASE: Duration = Duration::from_secs(60);
const KEEP: Duration = Duration::from_secs(86_400);

async fn two_sets(
    State(mut connection): State<MultiplexedConnection>,
    request: Request,
    next: Next,
) -> Response {
    let key = key_of(&request);
    let mut claim = redis::cmd("SET");
    claim.arg(&key).arg(&HELD[..]).arg("NX").arg("PX").arg(60_000);
    claim.exec_async(&mut connection).await.expect("a claim");
    let response = next.run(request).await;
    let mut outcome = redis::cmd("SET");
    outcome.arg(&key).arg(&DONE[..]).arg("PX").arg(86_400_000);
    outcome.exec_async(&mut connection).await.expect("an outcome");
    response
}

async fn two_swaps(State(store): State<Arc<dyn Store>>, request: Request, next: Next) -> Response {
    let key = Key::new(format!("idem:::{}", key_of(&request))).expect("a key");
    let (lease, keep) = (Ttl::new(LEASE).expect("a minute"), Ttl::new(KEEP).expect("a day"));
    let claim = Put { value: Bytes::from_static(&HELD), lease, keep };
    let Ok(Swap::Won(stamp)) = store.swap(&key, Expect::Absent, claim).await else {
        panic!("not fresh")
    };
    let response = next.run(request).await;
    let outcome = Put { value: Bytes::from_static(&DONE), lease: Ttl::ZERO, keep };
    let swap = store.swap(&key, Expect::Version(stamp.version), outcome).await;
    assert!(matches!(swap, Ok(Swap::Won(_))), "{swap:?}");
    response
}

fn key_of(request: &Request) -> String {
    let key = request.headers().get("idempotency-key").and_then(|key| key.to_str().ok());
    key.expect("a key").to_owned()
}
