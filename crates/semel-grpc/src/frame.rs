//! Messages on the wire: a flag, a length, and the message's bytes.

use bytes::{BufMut, Bytes, BytesMut};

const PREFIX: usize = 5;

/// A message as it was sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    pub(crate) is_compressed: bool,
    pub(crate) bytes: &'a [u8],
}

/// The one message of a unary body; none where there are more, or less.
pub(crate) fn only(body: &[u8]) -> Option<Message<'_>> {
    let end = first_end(body)?;
    let bytes = body.get(PREFIX..).filter(|_| end == body.len())?;
    Some(Message { is_compressed: body[0] != 0, bytes })
}

/// Whether more than one message has begun.
pub(crate) fn are_several(body: &[u8]) -> bool {
    first_end(body).is_some_and(|end| body.len() > end)
}

/// Where the first message ends, as it says itself.
fn first_end(body: &[u8]) -> Option<usize> {
    let (prefix, _) = body.split_at_checked(PREFIX)?;
    let length = u32::from_be_bytes(prefix[1..].try_into().ok()?);
    usize::try_from(length).ok()?.checked_add(PREFIX)
}

/// A body of one message that is not compressed; none where it is longer than a frame can say.
pub(crate) fn of(message: &[u8]) -> Option<Bytes> {
    let mut body = BytesMut::with_capacity(PREFIX + message.len());
    body.put_u8(0);
    body.put_u32(u32::try_from(message.len()).ok()?);
    body.put_slice(message);
    Some(body.freeze())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_is_read_back_as_it_was_written() {
        for message in [&b""[..], b"m", &[0; 300]] {
            let body = of(message).unwrap();
            assert_eq!(only(&body), Some(Message { is_compressed: false, bytes: message }));
            assert!(!are_several(&body));
        }
    }

    #[test]
    fn anything_but_one_whole_message_is_none() {
        for body in [&b""[..], &[0, 0, 0, 0], &[0, 0, 0, 0, 2, b'm'], &[0, 0, 0, 0, 0, 0]] {
            assert_eq!(only(body), None, "{body:?}");
        }
        assert!(are_several(&[0, 0, 0, 0, 1, b'm', 0]));
        assert!(only(&[1, 0, 0, 0, 1, b'm']).unwrap().is_compressed);
    }
}
