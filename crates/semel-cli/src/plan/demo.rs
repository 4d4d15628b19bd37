//! The plan of `semel demo`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::flag::Flag;
use super::{Policies, listen};
use crate::args::DemoArgs;
use crate::exit::Stop;

/// Everything that `semel demo` needs to know.
#[derive(Debug)]
pub(crate) struct DemoPlan {
    pub(crate) listen: SocketAddr,
    pub(crate) grpc_listen: Option<SocketAddr>,
    pub(crate) store: String,
    pub(crate) data: PathBuf,
    pub(crate) drain: Duration,
    pub(crate) policies: Policies,
}

impl DemoPlan {
    pub(crate) fn resolve(args: DemoArgs) -> Result<Self, Stop> {
        refuse_shared_file(&args)?;
        Ok(Self {
            listen: listen::resolve("--listen", &args.listen)?,
            grpc_listen: args
                .grpc_listen
                .as_deref()
                .map(|at| listen::resolve("--grpc-listen", at))
                .transpose()?,
            drain: drain(&args)?,
            policies: Policies::resolve(&args.policy)?,
            store: args.store,
            data: args.data,
        })
    }
}

/// Orders and records are two files: each has its own schema and its own writer.
fn refuse_shared_file(args: &DemoArgs) -> Result<(), Stop> {
    let file = args.store.strip_prefix("sqlite:");
    match file.map(|file| file.strip_prefix("//").unwrap_or(file)) {
        Some(file) if args.data.as_os_str() == file => Err(Stop::flag(
            "--data",
            file,
            "it takes another file than --store: orders and records are kept apart",
        )),
        _ => Ok(()),
    }
}

fn drain(args: &DemoArgs) -> Result<Duration, Stop> {
    let given = Flag { name: "--drain", value: Some(&args.drain) };
    // The parser of the command line knows a default, so there is always a value.
    Ok(given.time()?.unwrap_or_default())
}
