//! Small steps on the bytes of a field value.

/// Optional white space of RFC 9110, section 5.6.3: spaces and tabs.
pub(super) fn trim_ows(bytes: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !matches!(byte, b' ' | b'\t');
    let Some(start) = bytes.iter().position(is_text) else { return &[] };
    let end = bytes.iter().rposition(is_text).map_or(start, |last| last + 1);
    &bytes[start..end]
}

/// What stands before the first `separator` and what stands after it, if there is one.
pub(super) fn split_first(bytes: &[u8], separator: u8) -> (&[u8], Option<&[u8]>) {
    match bytes.iter().position(|byte| *byte == separator) {
        Some(at) => (&bytes[..at], Some(&bytes[at + 1..])),
        None => (bytes, None),
    }
}
