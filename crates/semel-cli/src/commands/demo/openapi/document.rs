//! The document: the business by hand, its protection by the layer.

use http::Method;
use semel_http::IdempotencyLayer;
use semel_http::openapi::DescribeError;
use utoipa::openapi::OpenApi;

/// What the handlers do.
const BUSINESS: &str = include_str!("document.json");

/// The operations that stand behind the layer.
const BEHIND_THE_LAYER: [(&str, Method); 5] = [
    ("/orders", Method::POST),
    ("/orders", Method::GET),
    ("/orders/{id}", Method::GET),
    ("/orders/{id}", Method::DELETE),
    ("/payments", Method::POST),
];

/// The document of the service behind this layer.
///
/// # Errors
///
/// [`DescribeError`] when the two lists above don't fit: a test sees to it that they do.
pub(super) fn document(layer: &IdempotencyLayer) -> Result<OpenApi, DescribeError> {
    let mut document = business();
    env!("CARGO_PKG_VERSION").clone_into(&mut document.info.version);
    for (path, method) in BEHIND_THE_LAYER {
        if layer.protects(&method) {
            layer.describe(&mut document, path, &method)?;
        }
    }
    Ok(document)
}

fn business() -> OpenApi {
    serde_json::from_str(BUSINESS).expect("document.json is an OpenAPI document")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn nothing_of_what_was_written_by_hand_is_lost() {
        let written: Value = serde_json::from_str(BUSINESS).unwrap();
        assert_eq!(serde_json::to_value(business()).unwrap(), written);
    }
}
