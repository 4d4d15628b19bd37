//! What tells a repeat from another call under the same key.

use bytes::Bytes;
use http::request;
use semel::Fingerprint as Digests;

use crate::{frame, media};

/// What of a call is compared with the one that was first sent under its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum GrpcFingerprint {
    /// The method (`rpc`), the message's codec and compression (`encoding`) and the message's
    /// bytes (`message`). Default.
    ///
    /// The bytes are compared as they were sent. Whoever sends a call again sends the same bytes;
    /// a message that was encoded or compressed anew, in another way, is another one.
    #[default]
    Call,
    /// Nothing: the first reply is given to any call.
    Off,
}

/// The digests of a call. The names of the parts are no other door's, so that a call is never
/// compared with what came through one: that is for what both doors share.
pub(crate) fn of(head: &request::Parts, body: &Bytes) -> Digests {
    let message = frame::only(body);
    let mut encoding = media::codec(&head.headers).unwrap_or_default();
    if message.as_ref().is_some_and(|message| message.is_compressed) {
        encoding.push(b' ');
        let compression = head.headers.get("grpc-encoding");
        encoding.extend(
            compression.map(|value| value.as_bytes().to_ascii_lowercase()).iter().flatten(),
        );
    }
    Digests::builder()
        .part("rpc", head.uri.path().as_bytes())
        .part("encoding", &encoding)
        // A body that is not one message is compared as it is; it is for the handler to refuse.
        .part("message", message.map_or(body, |message| message.bytes))
        .build()
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn call(path: &str, media: &str, encoding: Option<&str>, body: &'static [u8]) -> Digests {
        let mut request = Request::post(path).header("content-type", media);
        if let Some(encoding) = encoding {
            request = request.header("grpc-encoding", encoding);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        of(&head, &Bytes::from_static(body))
    }

    fn differs(other: &Digests) -> Vec<String> {
        let first = call("/s/M", "application/grpc", None, &[0, 0, 0, 0, 1, b'm']);
        first.differs_from(other).iter().map(|part| part.as_str().to_owned()).collect()
    }

    #[test]
    fn a_mismatch_says_which_part_differs() {
        let plain = &[0, 0, 0, 0, 1, b'm'][..];
        assert!(differs(&call("/s/M", "application/grpc+proto", Some("gzip"), plain)).is_empty());
        assert_eq!(differs(&call("/s/N", "application/grpc", None, plain)), ["rpc"]);
        assert_eq!(differs(&call("/s/M", "application/grpc+json", None, plain)), ["encoding"]);
        let other = &[0, 0, 0, 0, 1, b'n'];
        assert_eq!(differs(&call("/s/M", "application/grpc", None, other)), ["message"]);
        let compressed = &[1, 0, 0, 0, 1, b'm'];
        let gzip = call("/s/M", "application/grpc", Some("gzip"), compressed);
        assert_eq!(differs(&gzip), ["encoding"]);
        let deflate = call("/s/M", "application/grpc", Some("deflate"), compressed);
        assert_eq!(gzip.differs_from(&deflate).len(), 1);
    }
}
