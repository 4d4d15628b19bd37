//! Sockets: accepting, serving HTTP/1.1 and HTTP/2 on one port, draining.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use semel::timer;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::router::App;

/// Open connections; more wait in the system's queue.
const CONNECTIONS: usize = 8192;
/// How long a client may take for its first byte, and then for each head.
const HEAD: Duration = Duration::from_secs(30);
/// Streams of one HTTP/2 connection.
const STREAMS: u32 = 1024;
/// Header fields of one HTTP/2 request, in bytes.
const HEADERS: u32 = 64 * 1024;
/// Pause after the system had no socket to give.
const NO_SOCKET: Duration = Duration::from_millis(100);

/// Connections that are still open; no new ones come.
#[derive(Debug)]
#[must_use = "they are cut off unless they are waited for"]
pub(crate) struct Open {
    connections: Vec<TaskTracker>,
}

impl Open {
    /// Waits until the last of them has ended. Cancel safe.
    pub(crate) async fn closed(&self) {
        for connections in &self.connections {
            connections.close();
            connections.wait().await;
        }
    }

    /// These and those of another socket.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.connections.extend(other.connections);
        self
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.connections.iter().map(TaskTracker::len).sum()
    }
}

/// Serves until `stop` resolves. From then on nobody is accepted, and every
/// connection ends with the call it is at.
pub(crate) async fn serve(listener: TcpListener, app: App, stop: impl Future<Output = ()>) -> Open {
    let connections = TaskTracker::new();
    let stopping = CancellationToken::new();
    tokio::select! {
        never = accept(listener, app, &connections, &stopping) => match never {},
        () = stop => stopping.cancel(),
    }
    Open { connections: vec![connections] }
}

async fn accept(
    listener: TcpListener,
    app: App,
    connections: &TaskTracker,
    stopping: &CancellationToken,
) -> Infallible {
    let builder = Arc::new(builder());
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        // The semaphore is never closed, so there is always a place to wait for.
        let place = Arc::clone(&places).acquire_owned().await;
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "no connection could be accepted");
                timer::sleep(NO_SOCKET).await;
                continue;
            }
        };
        let (builder, app, stopping) = (Arc::clone(&builder), app.clone(), stopping.clone());
        connections.spawn(async move {
            connection(stream, app, &builder, &stopping).await;
            drop(place);
        });
    }
}

fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEAD);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(HEAD)
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(HEADERS);
    builder
}

async fn connection(
    stream: TcpStream,
    app: App,
    builder: &Builder<TokioExecutor>,
    stopping: &CancellationToken,
) {
    // Small answers go out at once. A socket that refuses this is only slower.
    let _ = stream.set_nodelay(true);
    if !speaks(&stream, stopping).await {
        return;
    }
    let serving = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
    let mut serving = std::pin::pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = stopping.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(error, "a connection broke off");
    }
}

/// Waits for the first byte, so that a silent client doesn't stay for ever: the
/// protocol's own time limit starts when its version is known.
async fn speaks(stream: &TcpStream, stopping: &CancellationToken) -> bool {
    let first = timer::within(HEAD, stream.readable());
    tokio::select! {
        first = first => matches!(first, Some(Ok(()))),
        () = stopping.cancelled() => false,
    }
}
