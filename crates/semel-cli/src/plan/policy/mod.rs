//! Policies from flags: the preset first, then the guarantee, then single flags.

mod door;
mod engine;
mod refusal;
mod sources;

use std::sync::Arc;

use semel::{Guarantee, Policy, Preset};
use semel_http::HttpSettings;

use super::flag::flag;
use crate::args::PolicyArgs;
use crate::exit::Stop;

/// How calls are treated, checked as a whole.
#[derive(Debug)]
pub(crate) struct Policies {
    pub(crate) guarantee: Guarantee,
    pub(crate) calls: Arc<Policy>,
    pub(crate) http: HttpSettings,
    /// Also for the handlers of calls without a key, in bytes.
    pub(crate) max_request_body: usize,
}

/// The largest request body unless a flag says otherwise.
const MAX_REQUEST_BODY: usize = 1 << 20;

impl Policies {
    pub(super) fn resolve(args: &PolicyArgs) -> Result<Self, Stop> {
        let bundle = Bundle {
            preset: flag("--preset", &args.preset).parsed()?.unwrap_or_default(),
            guarantee: guarantee(args)?,
        };
        let max_request_body =
            flag("--max-request-body", &args.max_request_body).bytes()?.unwrap_or(MAX_REQUEST_BODY);
        Ok(Self {
            max_request_body,
            guarantee: bundle.guarantee.unwrap_or_default(),
            calls: Arc::new(engine::resolve(args, bundle)?),
            http: door::resolve(args, bundle, max_request_body)?,
        })
    }
}

/// What runs here runs in other processes, which have no part in the store's transactions.
fn guarantee(args: &PolicyArgs) -> Result<Option<Guarantee>, Stop> {
    let guarantee: Option<Guarantee> = flag("--guarantee", &args.guarantee).parsed()?;
    match guarantee {
        Some(asked) if asked.needs_transaction() => Err(Stop::flag(
            "--guarantee",
            asked.word(),
            "it is for services that use the library: their rows and the record commit in one \
             transaction of the store",
        )),
        _ => Ok(guarantee),
    }
}

/// The bundles that single flags stand on.
#[derive(Debug, Clone, Copy)]
struct Bundle {
    preset: Preset,
    /// Without one the preset decides: it may record panics, which no guarantee does by itself.
    guarantee: Option<Guarantee>,
}

/// Puts a value into a builder, if there is one.
fn set<B, T>(builder: B, value: Option<T>, put: impl FnOnce(B, T) -> B) -> B {
    match value {
        Some(value) => put(builder, value),
        None => builder,
    }
}
