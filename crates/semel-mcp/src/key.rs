//! Where a tool's call carries its key, and how it is read.

use http::{HeaderMap, HeaderValue, header, request};
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, MetaObject};
use rmcp::service::RequestContext;
use semel::{KeyFault, KeyRejected, KeyRule, Problem, ProblemKind};
use semel_http::{BaggageKey, KeySource, KeySources};
use serde_json::Value;

/// The plain name of the key in `_meta`.
pub(crate) const META_KEY: &str = "idempotencyKey";

/// The one key that a call carries; none where it carries none.
///
/// All places are read, also after a key was found: they must agree. What can't be read is an
/// error, never "no key".
pub(crate) fn find(
    sources: &KeySources,
    rule: &KeyRule,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Option<String>, Problem> {
    let mut found = Agreed::default();
    // Who calls a handler directly leaves what a transport takes apart where it is.
    let here = request.meta.iter().map(|meta| &meta.0);
    for meta in std::iter::once(&context.meta.0).chain(here) {
        in_meta(sources, rule, meta, &mut found)?;
    }
    if let Some(head) = context.extensions.get::<request::Parts>() {
        let in_head = sources.find(&head.headers).map_err(|fault| fault.problem(rule))?;
        found.add(in_head.as_ref().map(|key| key.key().as_str()))?;
    }
    Ok(found.0)
}

fn in_meta(
    sources: &KeySources,
    rule: &KeyRule,
    meta: &MetaObject,
    found: &mut Agreed,
) -> Result<(), Problem> {
    if let Some(member) = baggage_key(sources) {
        found.add(text(meta, member.as_str())?)?;
        found.add(in_baggage(rule, meta, member)?.as_deref())?;
    }
    found.add(text(meta, META_KEY)?)
}

fn baggage_key(sources: &KeySources) -> Option<&BaggageKey> {
    sources.places().iter().find_map(|place| match place {
        KeySource::Baggage(member) => Some(member),
        _ => None,
    })
}

fn text<'m>(meta: &'m MetaObject, name: &str) -> Result<Option<&'m str>, Problem> {
    match meta.0.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(invalid(KeyFault::Other)),
    }
}

/// `_meta` may carry W3C Baggage under the name `baggage`, as the header of that name has it.
fn in_baggage(
    rule: &KeyRule,
    meta: &MetaObject,
    member: &BaggageKey,
) -> Result<Option<String>, Problem> {
    let Some(baggage) = text(meta, "baggage")? else { return Ok(None) };
    let value = HeaderValue::from_str(baggage).map_err(|_| invalid(KeyFault::MalformedBaggage))?;
    let headers = HeaderMap::from_iter([(header::HeaderName::from_static("baggage"), value)]);
    let sources = KeySources::new([], Some(member.clone())).unwrap_or_default();
    let key = sources.find(&headers).map_err(|fault| fault.problem(rule))?;
    Ok(key.map(|key| key.key().as_str().to_owned()))
}

fn invalid(fault: KeyFault) -> Problem {
    ProblemKind::KeyInvalid { fault }.into()
}

/// The key that all places so far agree on.
#[derive(Default)]
struct Agreed(Option<String>);

impl Agreed {
    fn add(&mut self, key: Option<&str>) -> Result<(), Problem> {
        let Some(key) = key else { return Ok(()) };
        if let Some(rejected) = KeyRejected::of_blank(key) {
            return Err(invalid((&rejected).into()));
        }
        match &self.0 {
            Some(first) if first != key => Err(invalid(KeyFault::SourcesDisagree)),
            Some(_) => Ok(()),
            None => {
                self.0 = Some(key.to_owned());
                Ok(())
            }
        }
    }
}
