//! Durations as people write them: `500ms`, `30s`, `5m`, `24h`, `7d`.

use std::fmt;
use std::time::Duration;

/// Units, largest first, in milliseconds.
const UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// What a duration may look like, for messages.
pub(crate) const FORMS: &str = "a whole number with a unit, such as 500ms, 30s, 5m, 24h or 7d";

/// Why a text is no duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DurationError {
    #[error("there is no whole number in front")]
    Number,
    #[error("the unit is missing or unknown")]
    Unit,
    #[error("it is longer than this program can count")]
    TooLong,
}

/// Reads one number with one unit. White space, signs and fractions are refused.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    if number.is_empty() {
        return Err(DurationError::Number);
    }
    let (_, scale) = UNITS.iter().find(|(name, _)| *name == unit).ok_or(DurationError::Unit)?;
    let count: u64 = number.parse().map_err(|_| DurationError::TooLong)?;
    count.checked_mul(*scale).map(Duration::from_millis).ok_or(DurationError::TooLong)
}

/// Shows a duration in the largest unit that divides it, so that [`parse`]
/// reads it back. Parts below a millisecond are cut off.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shown(pub(crate) Duration);

impl fmt::Display for Shown {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis();
        let fits =
            |scale: u64| millis >= u128::from(scale) && millis.is_multiple_of(u128::from(scale));
        let (unit, scale) = UNITS.iter().find(|(_, scale)| fits(*scale)).unwrap_or(&("s", 1_000));
        write!(out, "{}{unit}", millis / u128::from(*scale))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn each_unit_means_what_it_says() {
        let seconds = |text| parse(text).map(|d| d.as_secs_f64());
        assert_eq!(seconds("500ms"), Ok(0.5));
        assert_eq!(seconds("30s"), Ok(30.0));
        assert_eq!(seconds("5m"), Ok(300.0));
        assert_eq!(seconds("24h"), Ok(86_400.0));
        assert_eq!(seconds("7d"), Ok(604_800.0));
        assert_eq!(seconds("0s"), Ok(0.0));
    }

    #[test]
    fn anything_else_is_refused_with_its_reason() {
        for (text, reason) in [
            ("", DurationError::Number),
            ("s", DurationError::Number),
            ("-5s", DurationError::Number),
            (" 5s", DurationError::Number),
            ("5", DurationError::Unit),
            ("5 s", DurationError::Unit),
            ("5s ", DurationError::Unit),
            ("5S", DurationError::Unit),
            ("1.5s", DurationError::Unit),
            ("5µs", DurationError::Unit),
            ("18446744073709551616ms", DurationError::TooLong),
            ("18446744073709551615d", DurationError::TooLong),
        ] {
            assert_eq!(parse(text), Err(reason), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(millis in any::<u64>()) {
            let duration = Duration::from_millis(millis);
            prop_assert_eq!(parse(&Shown(duration).to_string()), Ok(duration));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,24}|[0-9]{0,22}(ms|s|m|h|d)?") {
            if let Ok(duration) = parse(&text) {
                let shown = Shown(duration).to_string();
                prop_assert_eq!(parse(&shown), Ok(duration));
            }
        }
    }
}
