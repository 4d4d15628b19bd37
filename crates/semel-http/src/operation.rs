//! What a request does.

use std::fmt::Write;

use http::request;
use semel::{Operation, PartDigest};

use crate::door::Door;

/// The operation's name: the layer's own, or what a layer further out has put into the request's
/// extensions, or the method with the matched route, or with the path.
pub(crate) fn of(door: &Door, head: &request::Parts) -> Operation {
    if let Some(operation) = door.operation.as_ref().or_else(|| head.extensions.get()) {
        return operation.clone();
    }
    let route = matched_route(head).unwrap_or_else(|| head.uri.path());
    named([head.method.as_str(), " ", route].concat())
}

/// A name that is too long ends in a digest of all of it: only a client sends such a path, and
/// two of them are two operations.
fn named(name: String) -> Operation {
    let digest = PartDigest::of(name.as_bytes());
    Operation::new(name.as_str())
        .or_else(|_| Operation::new(shortened(&name, digest)))
        .expect("a name with a method in it is not empty, and a shortened one fits")
}

fn shortened(name: &str, digest: PartDigest) -> String {
    let hex = 2 * digest.as_bytes().len();
    let mut short = name[..name.floor_char_boundary(Operation::MAX_BYTES - hex - 1)].to_owned();
    short.push('#');
    for byte in digest.as_bytes() {
        // Writing into a String can't fail.
        let _ = write!(short, "{byte:02x}");
    }
    short
}

#[cfg(feature = "axum")]
fn matched_route(head: &request::Parts) -> Option<&str> {
    head.extensions.get::<axum::extract::MatchedPath>().map(|route| route.as_str())
}

#[cfg(not(feature = "axum"))]
const fn matched_route(_: &request::Parts) -> Option<&str> {
    None
}

#[cfg(test)]
mod tests {
    use semel::Operation;

    use super::named;

    #[test]
    fn long_names_are_shortened_and_stay_apart() {
        let long = |end: &str| named(format!("POST /{}{end}", "é".repeat(600)));
        assert_eq!(named("POST /a".to_owned()).as_str(), "POST /a");
        assert!(long("a").as_str().len() <= Operation::MAX_BYTES);
        assert!(long("a").as_str().starts_with("POST /éé"));
        assert_ne!(long("a"), long("b"));
        assert_eq!(long("a"), long("a"));
    }
}
