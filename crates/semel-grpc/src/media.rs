//! What kind of content a message has.

use http::{HeaderMap, header};

const GRPC: &[u8] = b"application/grpc";

/// The codec of a gRPC message: `proto` unless its type names another. None where it is no gRPC.
///
/// gRPC for browsers (`application/grpc-web`) is another protocol: tonic-web translates it, and
/// stands further out.
pub(crate) fn codec(headers: &HeaderMap) -> Option<Vec<u8>> {
    let media = media(headers)?;
    match media.strip_prefix(GRPC)? {
        [] => Some(b"proto".to_vec()),
        [b'+', codec @ ..] if !codec.is_empty() => Some(codec.to_vec()),
        _ => None,
    }
}

/// Whether this is a document that tells of a problem (RFC 9457).
pub(crate) fn is_problem(headers: &HeaderMap) -> bool {
    media(headers).is_some_and(|media| media == b"application/problem+json")
}

fn media(headers: &HeaderMap) -> Option<Vec<u8>> {
    let value = headers.get(header::CONTENT_TYPE)?.as_bytes();
    let media = value.split(|byte| *byte == b';').next()?;
    Some(media.trim_ascii().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codec_of(media: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, media.parse().unwrap());
        codec(&headers).map(|codec| String::from_utf8(codec).unwrap())
    }

    #[test]
    fn the_codec_is_proto_unless_the_type_names_another() {
        for (media, codec) in [
            ("application/grpc", Some("proto")),
            ("Application/GRPC", Some("proto")),
            ("application/grpc; charset=utf-8", Some("proto")),
            ("application/grpc+proto", Some("proto")),
            ("application/grpc+json", Some("json")),
            ("application/grpc+", None),
            ("application/grpc-web", None),
            ("application/grpc-web+proto", None),
            ("application/json", None),
        ] {
            assert_eq!(codec_of(media).as_deref(), codec, "{media}");
        }
        assert_eq!(codec(&HeaderMap::new()), None);
    }
}
