//! Percent-encoding.

/// Decodes `%XX`; none for what is not that, or no UTF-8.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
        bytes.push(high << 4 | low);
    }
    String::from_utf8(bytes).ok()
}

const fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn what_is_encoded_is_decoded_and_what_is_broken_is_none() {
        for (text, expected) in [
            ("", Some("")),
            ("plain", Some("plain")),
            ("p%40ss%3a%2F", Some("p@ss:/")),
            ("%C3%A4", Some("ä")),
            ("%", None),
            ("%4", None),
            ("%4g", None),
            ("%ff", None),
        ] {
            assert_eq!(decode(text).as_deref(), expected, "{text}");
        }
    }
}
