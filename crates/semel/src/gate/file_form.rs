//! What a file gate's file holds: three lines, of which the last is a digest of those before.

use semel_core::Fence;

/// The first line. Another number is another form, which this version can't read.
const HEAD: &str = "semel fence 1\n";

pub(super) fn write(fence: Fence) -> Vec<u8> {
    let mut text = format!("{HEAD}{fence}\n");
    let digest = blake3::hash(text.as_bytes()).to_hex();
    text.push_str(&digest);
    text.push('\n');
    text.into_bytes()
}

/// The fence of bytes that are exactly what [`write`] makes of it.
pub(super) fn read(bytes: &[u8]) -> Option<Fence> {
    let text = str::from_utf8(bytes).ok()?;
    let (number, _) = text.strip_prefix(HEAD)?.split_once('\n')?;
    let fence = number.parse().ok()?;
    (write(fence) == bytes).then_some(fence)
}
