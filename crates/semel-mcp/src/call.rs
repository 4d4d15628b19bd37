//! The call that a request makes: its key, its scope, what it does and with what.

use http::request;
use rmcp::RoleServer;
use rmcp::model::CallToolRequestParams;
use rmcp::service::RequestContext;
use semel::door::ClaimsAround;
use semel::{ByteCount, Call, Fingerprint as Digests, MissingKey, Operation, ProblemKind, Scope};
use semel_http::{Anonymous, Fingerprint, canonical_json};
use serde_json::Value;

use crate::door::Door;
use crate::key;
use crate::refusal::Refusal;

/// The call; none when it is to pass through.
pub(crate) fn of(
    door: &Door,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Option<Call>, Refusal> {
    let rule = door.policy.key_rule();
    let Some(key) = key::find(&door.sources, rule, request, context)? else {
        return keyless(door, &request.name);
    };
    let scope = scope(door, context)?;
    let call = Call::new(&door.policy, &scope, &key, operation(door, &request.name)?)?;
    let around = context.extensions.get::<ClaimsAround>();
    if around.is_some_and(|around| around.hold(&door.once, &call)) {
        return Err(within_itself());
    }
    let arguments = arguments(door, request)?;
    Ok(Some(match fingerprint(&door.fingerprint, &request.name, &arguments)? {
        Some(digests) => call.with_fingerprint(digests),
        None => call,
    }))
}

fn keyless(door: &Door, tool: &str) -> Result<Option<Call>, Refusal> {
    let required =
        door.policy.missing_key() == MissingKey::Require || door.key_required.contains(tool);
    if required {
        let header = ["_meta.", key::META_KEY].concat().into();
        return Err(ProblemKind::KeyMissing { header }.into());
    }
    Ok(None)
}

/// The application's own rule; else what authentication put into the extensions of the message or
/// of the HTTP request that brought it.
fn scope(door: &Door, context: &RequestContext<RoleServer>) -> Result<Scope, Refusal> {
    let scope = match &door.scope {
        Some(scope_of) => scope_of(context),
        None => context.extensions.get::<Scope>().cloned().or_else(|| {
            context.extensions.get::<request::Parts>()?.extensions.get::<Scope>().cloned()
        }),
    };
    match (scope, door.anonymous) {
        (Some(scope), _) => Ok(scope),
        (None, Anonymous::Shared) => Ok(Scope::anonymous()),
        (None, Anonymous::Refuse) => {
            tracing::error!(
                "no Scope for a tool's call: put one into the extensions where the caller is \
                 authenticated, or name a rule, or allow shared keys"
            );
            Err(Refusal::Fault("The server does not know whose call this is."))
        }
    }
}

/// The name that was given to the tool's operation, or `tools/call/` and the tool's name.
fn operation(door: &Door, tool: &str) -> Result<Operation, Refusal> {
    match door.operations.get(tool) {
        Some(operation) => Ok(operation.clone()),
        None => by_name(tool),
    }
}

fn by_name(tool: &str) -> Result<Operation, Refusal> {
    Operation::new(["tools/call/", tool].concat())
        .map_err(|_| Refusal::Fault("The tool's name is too long."))
}

/// Where two doors of one engine are around one handler, the inner one would wait for the outer.
fn within_itself() -> Refusal {
    tracing::error!(
        "a tool's call is under its own key already: two wrappers of one store are around one \
         handler, and would wait for each other; take one away"
    );
    Refusal::Fault("The server would wait for itself to carry out this call.")
}

/// No arguments are the same as none in an object.
fn arguments(door: &Door, request: &CallToolRequestParams) -> Result<Value, Refusal> {
    let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
    let bytes = serde_json::to_vec(&arguments).map_or(usize::MAX, |json| json.len());
    if bytes > door.max_arguments {
        let limit = ByteCount::new(door.max_arguments as u64);
        return Err(ProblemKind::BodyTooLarge { limit }.into());
    }
    Ok(arguments)
}

/// What tells a repeat from another call. What a client adds when it is asked for more (`input`)
/// does not count: the key stands for what it wanted from the start.
fn fingerprint(
    how: &Fingerprint,
    tool: &str,
    arguments: &Value,
) -> Result<Option<Digests>, Refusal> {
    let builder = Digests::builder();
    let digests = match how {
        Fingerprint::Body => builder.part("arguments", &canonical_json(arguments)),
        Fingerprint::Off => return Ok(None),
        Fingerprint::Selected(selection) => {
            // The parser of a selection keeps what this one has made of numbers.
            let json = serde_json::to_vec(arguments).unwrap_or_default();
            let builder = builder.part("tool", tool.as_bytes());
            selection.add_to(builder, &json).map_err(|fault| ProblemKind::KeyInvalid { fault })?
        }
        // What is made by a function of HTTP requests says nothing of a tool's call: all of it counts.
        _ => builder.part("tool", tool.as_bytes()).part("arguments", &canonical_json(arguments)),
    };
    Ok(Some(digests.build()))
}
