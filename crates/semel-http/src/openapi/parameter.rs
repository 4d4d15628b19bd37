//! The parameters that carry the key.

use semel::MissingKey;
use serde_json::Value;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::{ObjectBuilder, Required, Type};

use super::pattern;
use crate::door::Door;
use crate::key::{HeaderSyntax, KeySource};

/// One parameter for each header that a key may stand in; for the baggage where no header can.
pub(super) fn all(door: &Door) -> Vec<Parameter> {
    let places = door.settings.sources.places();
    let headers = places.iter().filter(|place| matches!(place, KeySource::Header(_)));
    let mut parameters: Vec<_> =
        headers.enumerate().map(|(n, place)| in_header(door, place, n == 0)).collect();
    if parameters.is_empty() {
        parameters.extend(places.iter().find_map(|place| in_baggage(door, place)));
    }
    parameters
}

fn in_header(door: &Door, place: &KeySource, is_first: bool) -> Parameter {
    let rule = door.policy.key_rule();
    let syntax = door.settings.sources.syntax();
    let schema = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length(Some(1))
        .max_length(Some(HeaderSyntax::MAX_BYTES))
        .pattern(pattern::of_header(rule, syntax));
    // One of several suffices: the first is the one to send.
    let required = if is_first { required(door) } else { Required::False };
    ParameterBuilder::new()
        .name(place.to_string())
        .parameter_in(ParameterIn::Header)
        .required(required)
        .description(Some(description(door, place)))
        .schema(Some(schema))
        .example(pattern::example(rule).map(|key| Value::from(format!("\"{key}\""))))
        .build()
}

fn in_baggage(door: &Door, place: &KeySource) -> Option<Parameter> {
    let KeySource::Baggage(member) = place else { return None };
    let rule = door.policy.key_rule();
    let parameter = ParameterBuilder::new()
        .name("baggage")
        .parameter_in(ParameterIn::Header)
        .required(required(door))
        .description(Some(description(door, place)))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String).max_length(Some(8192))))
        .example(pattern::example(rule).map(|key| Value::from(format!("{member}={key}"))))
        .build();
    Some(parameter)
}

fn required(door: &Door) -> Required {
    match door.policy.missing_key() {
        MissingKey::Require => Required::True,
        MissingKey::Optional => Required::False,
    }
}

fn description(door: &Door, place: &KeySource) -> String {
    let form = pattern::in_words(door.policy.key_rule());
    let mut text = format!(
        "The key of this request: {form}, new for each request and the same for each retry of it. \
         A retry with the same key gets the first answer; the work runs once."
    );
    text.push_str(match (place, door.settings.sources.syntax()) {
        (KeySource::Baggage(_), _) => {
            " It is a percent-encoded member of the baggage (W3C Baggage)."
        }
        (_, HeaderSyntax::Strict) => " It is a quoted string (RFC 9651).",
        _ => " It is a quoted string (RFC 9651), or the bare key.",
    });
    let others: Vec<String> = door
        .settings
        .sources
        .places()
        .iter()
        .filter(|other| *other != place)
        .map(|other| format!("`{other}`"))
        .collect();
    if !others.is_empty() {
        text.push_str(" It may stand in ");
        text.push_str(&others.join(", "));
        text.push_str(" instead; where several carry one, they must be equal.");
    }
    text
}
