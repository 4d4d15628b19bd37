//! What the layer puts on the handler's answers.

use http::{Response as HttpResponse, StatusCode};
use semel::StoreDown;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::{Header, ObjectBuilder, Response, Type};

use crate::door::Door;
use crate::marks;
use semel::Finality;

/// Adds the marks to an answer that the document has under `status`.
pub(super) fn mark(door: &Door, status: &str, response: &mut Response) {
    if !may_be_recorded(door, status) {
        return;
    }
    if let Some(marker) = &door.settings.replay_marker {
        let text = "On a recorded answer that is given again: the work did not run.";
        add(response, marker.as_str(), "true", text);
    }
    let text = "On an answer that could not be recorded (yet): a retry may not get it.";
    add(response, marks::DURABLE.as_str(), "false", text);
    if door.policy.store_down() == StoreDown::Open {
        let text = "On an answer whose work ran without protection: the store was out of reach.";
        add(response, marks::UNPROTECTED.as_str(), "true", text);
    }
}

fn add(response: &mut Response, name: &str, value: &str, text: &str) {
    response.headers.insert(shown(name), header(value, text).into());
}

fn header(value: &str, text: &str) -> Header {
    let schema = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([value]));
    HeaderBuilder::new().schema(Some(schema.build())).description(Some(text)).build()
}

/// A header's name the way people write it.
fn shown(name: &str) -> String {
    let part = |part: &str| {
        let (head, tail) = part.split_at(part.len().min(1));
        format!("{}{tail}", head.to_ascii_uppercase())
    };
    name.split('-').map(part).collect::<Vec<_>>().join("-")
}

/// Whether an answer of this status (`201`, `4XX`, `default`) may be recorded.
fn may_be_recorded(door: &Door, status: &str) -> bool {
    let digits = status.replace(['X', 'x'], "0");
    let Ok(status) = digits.parse::<u16>() else { return true };
    let Ok(status) = StatusCode::from_u16(status) else { return true };
    let mut answer = HttpResponse::new(());
    *answer.status_mut() = status;
    let (head, ()) = answer.into_parts();
    door.settings.failures_under(&door.policy).judge(&head) == Finality::Final
}
