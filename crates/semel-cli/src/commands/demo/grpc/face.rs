//! The socket.

use std::convert::identity;
use std::future::Future;
use std::net::SocketAddr;

use axum::response::Response;
use semel::Once;
use tokio::net::TcpListener;
use tower::util::MapResponse;

use super::routes::router;
use crate::commands::demo::bind;
use crate::commands::demo::data::Database;
use crate::commands::demo::router::App;
use crate::commands::demo::server::{self, Open};
use crate::exit::{Exit, Stop};
use crate::plan::DemoPlan;

/// The services, and where they are to listen.
pub(crate) struct Face {
    listener: TcpListener,
    at: SocketAddr,
    app: App,
}

impl Face {
    /// Opens the socket, if the plan has one.
    pub(crate) async fn open(
        plan: &DemoPlan,
        data: &Database,
        once: &Once,
    ) -> Result<Option<Self>, Stop> {
        let Some(listen) = plan.grpc_listen else { return Ok(None) };
        let router = router(data, once, &plan.policies).map_err(|error| {
            let wrong = format_args!("the gRPC services can't be described: {error}");
            Stop::new(Exit::OsError, wrong, "this program was built from other descriptors")
        })?;
        let (listener, at) = bind("--grpc-listen", listen).await?;
        let app = MapResponse::new(router, identity as fn(Response) -> Response);
        Ok(Some(Self { listener, at, app }))
    }

    /// Where it listens.
    pub(crate) const fn at(&self) -> SocketAddr {
        self.at
    }
}

/// Serves until `stop` resolves, as [`server::serve`] does.
pub(crate) async fn serve(face: Option<Face>, stop: impl Future<Output = ()>) -> Option<Open> {
    let Face { listener, app, .. } = face?;
    Some(server::serve(listener, app, stop).await)
}
