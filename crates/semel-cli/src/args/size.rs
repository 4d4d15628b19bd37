//! Sizes as people write them: `4096`, `64KiB`, `1MiB`, `2GiB`.

use std::fmt;

/// Units, largest first, in bytes.
const UNITS: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("", 1)];

/// What a size may look like, for messages.
pub(crate) const FORMS: &str =
    "a whole number of bytes, or one with KiB, MiB or GiB, such as 4096, 64KiB or 1MiB";

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Size(pub(crate) u64);

/// Why a text is no size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SizeError {
    #[error("there is no whole number in front")]
    Number,
    #[error("the unit is unknown")]
    Unit,
    #[error("it is larger than this program can count")]
    TooLarge,
}

/// Reads one number with at most one unit. White space, signs and fractions
/// are refused, and so is `KB`, which means two different things.
pub(crate) fn parse(text: &str) -> Result<Size, SizeError> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    if number.is_empty() {
        return Err(SizeError::Number);
    }
    let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit).ok_or(SizeError::Unit)?;
    let count: u64 = number.parse().map_err(|_| SizeError::TooLarge)?;
    count.checked_mul(*scale).map(Size).ok_or(SizeError::TooLarge)
}

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |scale: u64| self.0 >= scale && self.0.is_multiple_of(scale);
        let (unit, scale) = UNITS.iter().find(|(_, scale)| fits(*scale)).unwrap_or(&("", 1));
        write!(out, "{}{unit}", self.0 / scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_unit_means_what_it_says() {
        assert_eq!(parse("0"), Ok(Size(0)));
        assert_eq!(parse("4096"), Ok(Size(4_096)));
        assert_eq!(parse("64KiB"), Ok(Size(65_536)));
        assert_eq!(parse("1MiB"), Ok(Size(1_048_576)));
        assert_eq!(parse("2GiB"), Ok(Size(2_147_483_648)));
    }

    #[test]
    fn anything_else_is_refused_with_its_reason() {
        for (text, reason) in [
            ("", SizeError::Number),
            ("KiB", SizeError::Number),
            ("-1", SizeError::Number),
            ("1KB", SizeError::Unit),
            ("1kib", SizeError::Unit),
            ("1 MiB", SizeError::Unit),
            ("1.5MiB", SizeError::Unit),
            ("18446744073709551616", SizeError::TooLarge),
            ("18446744073709551615KiB", SizeError::TooLarge),
        ] {
            assert_eq!(parse(text), Err(reason), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(bytes in any::<u64>()) {
            prop_assert_eq!(parse(&Size(bytes).to_string()), Ok(Size(bytes)));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,24}|[0-9]{0,22}(KiB|MiB|GiB)?") {
            if let Ok(size) = parse(&text) {
                prop_assert_eq!(parse(&size.to_string()), Ok(size));
            }
        }
    }
}
