//! Reading a key that travels as a member of W3C Baggage.

use http::{HeaderMap, HeaderValue};

use super::fault::BaggageFault;
use super::found::UncheckedKey;
use super::octets::{split_first, trim_ows};
use super::place::BaggageKey;

/// The header that carries all baggage.
pub(super) const BAGGAGE: &str = "baggage";

impl BaggageKey {
    /// Reads the member from a request: none if no baggage names it.
    ///
    /// # Errors
    ///
    /// [`BaggageFault`].
    pub fn read(&self, headers: &HeaderMap) -> Result<Option<UncheckedKey>, BaggageFault> {
        let lines = headers.get_all(BAGGAGE);
        let bytes = lines.iter().map(HeaderValue::len).sum();
        if bytes > Self::MAX_BYTES {
            return Err(BaggageFault::TooLarge { bytes });
        }
        let members = lines
            .iter()
            .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
            .map(trim_ows)
            .filter(|member| !member.is_empty());
        let mut found = None;
        for (n, member) in members.enumerate() {
            if n == Self::MAX_MEMBERS {
                return Err(BaggageFault::TooManyMembers);
            }
            if let Some(value) = self.value_in(member)?
                && found.replace(decode(value)?).is_some()
            {
                return Err(BaggageFault::Twice);
            }
        }
        Ok(found.map(UncheckedKey::new))
    }

    /// The undecoded value of `member` if it is ours.
    fn value_in<'h>(&self, member: &'h [u8]) -> Result<Option<&'h [u8]>, BaggageFault> {
        let (pair, _properties) = split_first(member, b';');
        let (name, value) = split_first(pair, b'=');
        if trim_ows(name) != self.as_str().as_bytes() {
            return Ok(None);
        }
        value.map(trim_ows).map(Some).ok_or(BaggageFault::Malformed)
    }
}

/// Undoes the percent-encoding of a value.
fn decode(value: &[u8]) -> Result<String, BaggageFault> {
    if value.is_empty() {
        return Err(BaggageFault::Empty);
    }
    let mut decoded = Vec::with_capacity(value.len());
    let mut bytes = value.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' => decoded.push(hex_pair(bytes.next(), bytes.next())?),
            // The octets of a baggage value: visible ASCII without `"`, `,`, `;` and `\`.
            b'!' | b'#'..=b'+' | b'-'..=b':' | b'<'..=b'[' | b']'..=b'~' => decoded.push(*byte),
            _ => return Err(BaggageFault::Malformed),
        }
    }
    String::from_utf8(decoded).map_err(|_| BaggageFault::NotUtf8)
}

fn hex_pair(high: Option<&u8>, low: Option<&u8>) -> Result<u8, BaggageFault> {
    let digit = |byte: Option<&u8>| byte.and_then(|b| char::from(*b).to_digit(16));
    match (digit(high), digit(low)) {
        (Some(high), Some(low)) => {
            u8::try_from(high << 4 | low).map_err(|_| BaggageFault::BadPercent)
        }
        _ => Err(BaggageFault::BadPercent),
    }
}
