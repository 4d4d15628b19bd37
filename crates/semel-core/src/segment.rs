//! The encoding of a segment inside a composed key.
//!
//! `:` separates segments and `-` alone stands for "absent", so both must not come out of a
//! caller's text; `%` must not either, or the encoding itself could be forged. White space and
//! control characters are encoded because a key takes none. Everything else stays readable.

/// Appends `segment` to `out`, percent-encoded where it must be.
pub(crate) fn push_segment(out: &mut String, segment: &str) {
    if segment == "-" {
        out.push_str("%2D");
        return;
    }
    // Nearly all segments stay as they are, and that can be told without decoding them.
    if segment.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':' && byte != b'%') {
        out.push_str(segment);
        return;
    }
    for c in segment.chars() {
        if needs_encoding(c) {
            push_encoded(out, c);
        } else {
            out.push(c);
        }
    }
}

fn needs_encoding(c: char) -> bool {
    c == ':' || c == '%' || c.is_whitespace() || c.is_control()
}

fn push_encoded(out: &mut String, c: char) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut utf8 = [0; 4];
    for byte in c.encode_utf8(&mut utf8).bytes() {
        out.push('%');
        out.push(char::from(HEX[usize::from(byte >> 4)]));
        out.push(char::from(HEX[usize::from(byte & 15)]));
    }
}
