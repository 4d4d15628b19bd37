//! Canonical forms of header values and of JSON.

use std::borrow::Cow;

use serde_json::Value;

/// A header value with its first word in lower case and without white space around `;`. What
/// stands in quotes is left as it is.
pub(super) fn header_value(value: &[u8]) -> Cow<'_, [u8]> {
    let alone = value.trim_ascii();
    if !alone.iter().any(|byte| byte.is_ascii_uppercase() || *byte == b';') {
        return Cow::Borrowed(alone);
    }
    let mut out = Vec::with_capacity(value.len());
    let (mut quoted, mut escaped) = (false, false);
    let parts = value.split(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            _ => {}
        }
        *byte == b';' && !quoted
    });
    for (n, part) in parts.enumerate() {
        let part = part.trim_ascii();
        if n == 0 {
            out.extend(part.iter().map(u8::to_ascii_lowercase));
        } else {
            out.push(b';');
            out.extend_from_slice(part);
        }
    }
    Cow::Owned(out)
}

/// Bytes that are the same for equal JSON, whatever the order of an object's members. They are for
/// digests, and no JSON themselves.
#[must_use]
pub fn canonical_json(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_json(value, &mut out);
    out
}

/// Writes JSON with the members of objects in order, so that their order in the request and white
/// space make no difference. The depth is bounded by the parser.
fn write_json(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            out.push(b'{');
            for (name, member) in members {
                write_json(&Value::String(name.clone()), out);
                out.push(b':');
                write_json(member, out);
                out.push(b',');
            }
            out.push(b'}');
        }
        Value::Array(items) => {
            out.push(b'[');
            for item in items {
                write_json(item, out);
                out.push(b',');
            }
            out.push(b']');
        }
        scalar => out.extend_from_slice(scalar.to_string().as_bytes()),
    }
}
