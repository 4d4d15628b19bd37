//! The headers: how they are written, and how they are read.

use std::fmt::Write;

use http::{HeaderMap, HeaderName, HeaderValue};
use semel::Fence;

/// The fence of the lock that a request is sent under: its number in decimal digits.
pub const LOCK_FENCE: HeaderName = HeaderName::from_static("lock-fence");

/// The resource of that lock, where the service takes it from the request
/// ([`FenceResource::Header`](crate::FenceResource::Header)). What is not visible ASCII, and `%`, is
/// percent-encoded.
pub const LOCK_RESOURCE: HeaderName = HeaderName::from_static("lock-resource");

/// Adds the fence of a guard to a request that is about to be sent, in place of one that it has.
///
/// ```
/// # let fence = semel::Fence::new(7);
/// let mut request = http::Request::post("/orders/42").body(())?;
/// semel_http::add_lock_fence(request.headers_mut(), fence);       // guard.fence()
/// assert_eq!(request.headers()["lock-fence"], "7");
/// # Ok::<(), http::Error>(())
/// ```
pub fn add_lock_fence(headers: &mut HeaderMap, fence: Fence) {
    headers.insert(LOCK_FENCE, HeaderValue::from(fence.get()));
}

/// Adds the resource of a guard to a request, in place of one that it has: for services that take
/// it from there.
pub fn add_lock_resource(headers: &mut HeaderMap, resource: &str) {
    let mut encoded = String::with_capacity(resource.len());
    for byte in resource.bytes() {
        if byte.is_ascii_graphic() && byte != b'%' {
            encoded.push(char::from(byte));
        } else {
            // Writing into a String can't fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    if let Ok(value) = HeaderValue::try_from(encoded) {
        headers.insert(LOCK_RESOURCE, value);
    }
}

/// Why a header is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

/// The fence that a request shows; none when it shows none.
pub(super) fn fence(headers: &HeaderMap) -> Result<Option<Fence>, Malformed> {
    let Some(text) = single(headers, &LOCK_FENCE)? else { return Ok(None) };
    text.parse().map(Some).map_err(|_| Malformed)
}

/// The resource that a request names; none when it names none.
pub(super) fn resource(headers: &HeaderMap) -> Result<Option<String>, Malformed> {
    single(headers, &LOCK_RESOURCE)?.map(decoded).transpose()
}

/// A header that may be there once. Two of them are two opinions, whatever they say.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Malformed> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| Malformed),
        (Some(_), Some(_)) => Err(Malformed),
    }
}

fn decoded(text: &str) -> Result<String, Malformed> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.bytes());
    while let Some(byte) = rest.next() {
        let byte = if byte == b'%' { hex(rest.next())? << 4 | hex(rest.next())? } else { byte };
        bytes.push(byte);
    }
    String::from_utf8(bytes).map_err(|_| Malformed)
}

fn hex(digit: Option<u8>) -> Result<u8, Malformed> {
    match digit.ok_or(Malformed)? {
        digit @ b'0'..=b'9' => Ok(digit - b'0'),
        digit @ b'a'..=b'f' => Ok(digit - b'a' + 10),
        digit @ b'A'..=b'F' => Ok(digit - b'A' + 10),
        _ => Err(Malformed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_arrives_as_it_was_sent_whatever_is_in_it() {
        for name in ["orders:42", "100%", "%2F", "ключ", "a,b", "\"", "a b", "{}"] {
            let mut headers = HeaderMap::new();
            add_lock_resource(&mut headers, name);
            assert_eq!(resource(&headers), Ok(Some(name.to_owned())), "{name}");
        }
    }

    #[test]
    fn what_is_cut_off_twice_or_not_utf_8_is_malformed() {
        for text in ["%", "%4", "%4x", "%ff", "a%"] {
            let mut headers = HeaderMap::new();
            headers.insert(LOCK_RESOURCE, HeaderValue::from_static(text));
            assert_eq!(resource(&headers), Err(Malformed), "{text}");
        }
        for text in ["", "-1", "+7", "7, 8", "0x7", "7.0", "18446744073709551616", "seven"] {
            let mut headers = HeaderMap::new();
            headers.insert(LOCK_FENCE, HeaderValue::from_static(text));
            assert_eq!(fence(&headers), Err(Malformed), "{text}");
        }
        let mut headers = HeaderMap::new();
        add_lock_fence(&mut headers, Fence::new(7));
        assert_eq!(fence(&headers), Ok(Some(Fence::new(7))));
        headers.append(LOCK_FENCE, HeaderValue::from_static("7"));
        assert_eq!(fence(&headers), Err(Malformed));
    }
}
