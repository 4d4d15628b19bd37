//! `semel demo`: an order service whose retries are harmless.

mod accounts;
mod answers;
mod authenticate;
mod banner;
mod call;
mod data;
mod handlers;
mod input;
mod misbehave;
mod panics;
mod problem;
mod router;
mod server;
mod signals;

use tokio::net::TcpListener;

use self::data::Database;
use self::server::Drained;
use self::signals::Signals;
use crate::exit::{Exit, Stop};
use crate::output;
use crate::plan::DemoPlan;
use crate::{args, timer};

/// Serves until a signal comes, then drains.
pub(crate) async fn run(plan: DemoPlan) -> Result<(), Stop> {
    let mut signals = Signals::register().map_err(|error| {
        Stop::new(
            Exit::OsError,
            format_args!("signals can't be taken: {error}"),
            "SIGTERM and SIGINT are needed",
        )
    })?;
    let data = open_data(&plan).await?;
    let listener = bind(&plan).await?;
    let at = listener.local_addr().map_err(|error| {
        Stop::new(
            Exit::Unavailable,
            format_args!("the bound address is unknown: {error}"),
            "a socket has one",
        )
    })?;
    let app = router::router(data);
    banner::print(&plan, at);
    let open = server::serve(listener, app, signals.next()).await;
    let patience = async {
        tokio::select! {
            () = timer::sleep(plan.drain) => {}
            () = signals.next() => {}
        }
    };
    output::prose(&format!(
        "semel: ending; calls that run have {} left, a second signal ends them now",
        args::duration::Shown(plan.drain)
    ));
    ended(open.drain(patience).await)
}

fn ended(drained: Drained) -> Result<(), Stop> {
    match drained {
        Drained::All => Ok(()),
        Drained::CutOff(connections) => Err(Stop::new(
            Exit::CutOff,
            format_args!("{connections} connections were still open and were cut off"),
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

async fn bind(plan: &DemoPlan) -> Result<TcpListener, Stop> {
    TcpListener::bind(plan.listen).await.map_err(|error| {
        Stop::new(
            Exit::Unavailable,
            format_args!("--listen {}: {error}", plan.listen),
            "it takes a free address of this machine; port 0 finds a free port",
        )
    })
}
