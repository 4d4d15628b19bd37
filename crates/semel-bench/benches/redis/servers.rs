//! The handler, alone, with two commands before its answer, and behind the layer.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use redis::aio::MultiplexedConnection;
use semel::Once;
use semel_bench::{Keys, orders};
use semel_http::{Anonymous, IdempotencyLayer};
use tokio::task::JoinHandle;

/// What is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Bare,
    TwoCommands,
    FirstCalls,
    Replays,
}

impl Kind {
    pub(crate) const fn keys(self) -> Keys {
        match self {
            Self::Replays => Keys::Repeated,
            Self::Bare | Self::TwoCommands | Self::FirstCalls => Keys::Fresh,
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
        Kind::TwoCommands => orders.layer(from_fn_with_state(connection, two_commands)),
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

/// A claim and an outcome, as the plainest commands that could carry them.
async fn two_commands(
    State(mut connection): State<MultiplexedConnection>,
    request: Request,
    next: Next,
) -> Response {
    let key = request.headers().get("idempotency-key").map(|key| key.as_bytes().to_owned());
    let key = key.expect("a key");
    let mut claim = redis::cmd("SET");
    claim.arg(&key).arg(&HELD[..]).arg("NX").arg("PX").arg(60_000);
    claim.exec_async(&mut connection).await.expect("a claim");
    let response = next.run(request).await;
    let mut outcome = redis::cmd("SET");
    outcome.arg(&key).arg(&DONE[..]).arg("PX").arg(86_400_000);
    outcome.exec_async(&mut connection).await.expect("an outcome");
    response
}
