//! Where a header is written.

use std::convert::Infallible;

use minicbor::encode::Write;

/// Appends to a vector.
///
/// A header is some fifty writes of a byte or two. The vector's own way calls a copy of any length
/// for each; here the short ones are stores.
pub(super) struct Pen<'a>(pub(super) &'a mut Vec<u8>);

impl Write for Pen<'_> {
    type Error = Infallible;

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        match *bytes {
            [one] => self.0.push(one),
            [one, two] => self.0.extend_from_slice(&[one, two]),
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }
}
