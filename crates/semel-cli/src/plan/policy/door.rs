//! What the flags say about HTTP.

use std::str::FromStr;

use http::{HeaderName, Method};
use semel_http::{Failures, Fingerprint, HttpSettings, HttpSettingsBuilder, Methods};

use super::{Bundle, refusal, set, sources};
use crate::args::PolicyArgs;
use crate::exit::Stop;
use crate::plan::flag::{Flag, flag};

const HEADER_NAME: &str = "the name of a header, such as Idempotent-Replayed; empty for none";
const METHODS: &str = "methods with commas between them, such as POST,PATCH, or all";
const PATHS: &str = "request, body, off, or JSONPaths (RFC 9535) such as $.amount";

pub(super) fn resolve(
    args: &PolicyArgs,
    bundle: Bundle,
    max_request_body: usize,
) -> Result<HttpSettings, Stop> {
    let builder = HttpSettings::builder().preset(bundle.preset).max_request_body(max_request_body);
    let base = builder.clone().build().map_err(|error| refusal::of_settings(&error))?;
    let sources = sources::resolve(args, base.sources())?;
    let builder = set(builder, sources, HttpSettingsBuilder::sources);
    let builder = set(builder, failures(args, bundle)?, HttpSettingsBuilder::failures);
    let builder = set(builder, methods(args)?, HttpSettingsBuilder::methods);
    let builder = set(builder, fingerprint(args)?, HttpSettingsBuilder::fingerprint);
    let builder = set(builder, replay_marker(args)?, HttpSettingsBuilder::replay_marker);
    sizes(args, builder)?.build().map_err(|error| refusal::of_settings(&error))
}

fn sizes(args: &PolicyArgs, builder: HttpSettingsBuilder) -> Result<HttpSettingsBuilder, Stop> {
    let response = flag("--max-cached-response", &args.max_cached_response).bytes()?;
    let oversized = flag("--oversized", &args.oversized).parsed()?;
    let disconnect = flag("--on-disconnect", &args.on_disconnect).parsed()?;
    let builder = set(builder, response, HttpSettingsBuilder::max_cached_response);
    let builder = set(builder, oversized, HttpSettingsBuilder::oversized);
    Ok(set(builder, disconnect, HttpSettingsBuilder::on_disconnect))
}

/// A guarantee that freezes failures does so unless a flag says otherwise.
fn failures(args: &PolicyArgs, bundle: Bundle) -> Result<Option<Failures>, Stop> {
    let frozen = bundle.guarantee.is_some_and(semel::Guarantee::freezes_failures);
    Ok(flag("--failures", &args.failures).parsed()?.or(frozen.then_some(Failures::All)))
}

fn methods(args: &PolicyArgs) -> Result<Option<Methods>, Stop> {
    flag("--methods", &args.methods).read(METHODS, |text| match text {
        "all" => Ok(Methods::All),
        list => list.split(',').map(method).collect::<Result<_, _>>().map(Methods::Only),
    })
}

/// Methods are told apart by case (RFC 9110, 9.1): `post` would cover nothing.
fn method(name: &str) -> Result<Method, &'static str> {
    match Method::from_str(name) {
        Ok(method) if !name.bytes().any(|byte| byte.is_ascii_lowercase()) => Ok(method),
        _ => Err("one of them is no method in capitals"),
    }
}

/// One word, or paths.
fn fingerprint(args: &PolicyArgs) -> Result<Option<Fingerprint>, Stop> {
    let words = args.fingerprint.join(" ");
    let given = (!args.fingerprint.is_empty()).then_some(words.as_str());
    Flag { name: "--fingerprint", value: given }.read(PATHS, |word| match word {
        "request" => Ok(Fingerprint::Request),
        "body" => Ok(Fingerprint::Body),
        "off" => Ok(Fingerprint::Off),
        _ => Fingerprint::select(args.fingerprint.iter().map(String::as_str)),
    })
}

fn replay_marker(args: &PolicyArgs) -> Result<Option<Option<HeaderName>>, Stop> {
    flag("--replay-marker", &args.replay_marker).read(HEADER_NAME, |text| match text {
        "" => Ok(None),
        name => HeaderName::from_str(name).map(Some),
    })
}
