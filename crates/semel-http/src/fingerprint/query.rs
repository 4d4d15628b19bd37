//! The canonical form of a query: the same parameters give the same digest.

use std::borrow::Cow;

use semel::{PartDigest, PartHasher};

/// The digest of a query. The order of parameters with different names makes no difference, nor
/// does the way in which characters are percent-encoded (RFC 3986 §6.2.2); the order of values
/// under one name does.
pub(super) fn digest(query: &str) -> PartDigest {
    if query.is_empty() {
        return PartDigest::empty();
    }
    let mut pairs: Vec<(Cow<'_, str>, Cow<'_, str>)> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (normal(name), normal(value))
        })
        .collect();
    // Stable: values under one name keep their order.
    pairs.sort_by(|(left, _), (right, _)| left.cmp(right));
    let mut hasher = PartHasher::new();
    for (name, value) in pairs {
        hasher.field(name.as_bytes());
        hasher.field(value.as_bytes());
    }
    hasher.finish()
}

/// Decodes what needs no encoding and writes the rest in upper case.
fn normal(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        match rest.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if is_unreserved(byte) => out.push(char::from(byte)),
            Some(byte) => out.push_str(&format!("%{byte:02X}")),
            None => {
                out.push('%');
                rest = &rest[at + 1..];
                continue;
            }
        }
        rest = &rest[at + 3..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

#[cfg(test)]
mod tests {
    use super::digest;

    #[test]
    fn order_of_names_and_encoding_make_no_difference() {
        for (left, right) in [
            ("a=1&b=2", "b=2&a=1"),
            ("a=%41", "a=A"),
            ("a=%2f", "a=%2F"),
            ("a=1&&b=2&", "a=1&b=2"),
            ("%7Ea=1", "~a=1"),
        ] {
            assert_eq!(digest(left), digest(right), "{left} is {right}");
        }
    }

    #[test]
    fn order_of_values_and_all_else_does() {
        for (left, right) in [
            ("a=1&a=2", "a=2&a=1"),
            ("a=1", "a=2"),
            ("a=1", "A=1"),
            ("a=b&c", "a&b=c"),
            ("ab=c", "a=bc"),
            ("a=%2F", "a=/"),
            ("a=%", "a=%25"),
            ("a=1", ""),
        ] {
            assert_ne!(digest(left), digest(right), "{left} is not {right}");
        }
    }

    #[test]
    fn broken_percent_signs_are_taken_as_they_are() {
        for query in ["%", "%%", "a=%f", "a=%zz", "%é", "a=%c3%28", "a=%+1"] {
            assert_eq!(digest(query), digest(query));
        }
    }
}
