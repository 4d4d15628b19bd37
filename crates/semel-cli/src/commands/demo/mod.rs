//! `semel demo`: an order service whose retries are harmless.

mod accounts;
mod answers;
mod authenticate;
mod banner;
mod call;
mod data;
mod grpc;
mod handlers;
mod input;
mod mcp;
mod misbehave;
mod openapi;
mod panics;
mod problem;
mod router;
mod server;
mod signals;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use semel::{Once, timer};
use semel_http::IdempotencyLayer;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::data::Database;
use self::server::Open;
use self::signals::Signals;
use super::store;
use crate::args::duration::Shown;
use crate::exit::{Exit, Stop};
use crate::output;
use crate::plan::DemoPlan;

/// Serves until a signal comes, then drains.
pub(crate) async fn run(plan: DemoPlan) -> Result<(), Stop> {
    let mut signals = Signals::register().map_err(|error| {
        let wrong = format_args!("signals can't be taken: {error}");
        Stop::new(Exit::OsError, wrong, "SIGTERM and SIGINT are needed")
    })?;
    let once = Once::new(store::open(&plan.store).await?);
    let data = open_data(&plan).await?;
    let (listener, at) = bind("--listen", plan.listen).await?;
    let grpc = grpc::Face::open(&plan, &data, &once).await?;
    let mcp = mcp::service(data.clone(), &once, &plan.policies, at);
    let app = router::router(data, idempotency(&plan, &once), mcp, plan.policies.max_request_body);
    banner::print(&plan, at, grpc.as_ref().map(grpc::Face::at));
    let stopping = CancellationToken::new();
    let stop = async {
        signals.next().await;
        stopping.cancel();
    };
    let http = server::serve(listener, app, stopping.cancelled());
    let (http, grpc, ()) = tokio::join!(http, grpc::serve(grpc, stopping.cancelled()), stop);
    let open = grpc.into_iter().fold(http, Open::and);
    output::prose(&format!(
        "semel: ending; calls that run have {} left, a second signal ends them now",
        Shown(plan.drain)
    ));
    end(open, &once, patience(plan.drain, &mut signals)).await
}

fn idempotency(plan: &DemoPlan, once: &Once) -> IdempotencyLayer {
    let policies = &plan.policies;
    // What came through gRPC is the same order here.
    let shared = plan.grpc_listen.map(|_| grpc::crossings().for_http());
    let http = policies.http.with_shared(shared);
    IdempotencyLayer::new(once.clone()).policy(Arc::clone(&policies.calls)).settings(http)
}

async fn patience(drain: Duration, signals: &mut Signals) {
    tokio::select! {
        () = timer::sleep(drain) => {}
        () = signals.next() => {}
    }
}

/// Waits for the connections, and then for work whose client has gone: until
/// the last connection has ended, new work can still begin.
async fn end(open: Open, once: &Once, patience: impl Future<Output = ()>) -> Result<(), Stop> {
    let drained = async {
        open.closed().await;
        once.drain(Duration::MAX).await
    };
    tokio::select! {
        _ = drained => Ok(()),
        () = patience => Err(Stop::new(
            Exit::CutOff,
            format_args!(
                "cut off: {} connections and {} calls that still ran",
                open.count(),
                once.held()
            ),
            "a longer --drain gives them more time",
        )),
    }
}

async fn open_data(plan: &DemoPlan) -> Result<Database, Stop> {
    let path = plan.data.clone();
    let opened = tokio::task::spawn_blocking(move || Database::open(&path)).await;
    let wrong = match opened {
        Ok(Ok(data)) => return Ok(data),
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    Err(Stop::new(
        Exit::Io,
        format_args!("--data {}: {wrong}", plan.data.display()),
        "it takes a file of this program's, or a path where one can be made",
    ))
}

async fn bind(flag: &str, listen: SocketAddr) -> Result<(TcpListener, SocketAddr), Stop> {
    let bound = async {
        let listener = TcpListener::bind(listen).await?;
        let at = listener.local_addr()?;
        Ok((listener, at))
    };
    bound.await.map_err(|error: io::Error| {
        Stop::new(
            Exit::Unavailable,
            format_args!("{flag} {listen}: {error}"),
            "it takes a free address of this machine; port 0 finds a free port",
        )
    })
}
