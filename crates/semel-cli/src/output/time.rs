//! Times for people.

use std::fmt;
use std::time::Duration;

use semel::core::StoreTime;

/// A store's time, in UTC: `2026-11-30 12:04:10 UTC`. What it says is the store's, whose clock and
/// place need not be ours.
pub(crate) fn clock_time(time: StoreTime) -> String {
    semel::rfc3339(time).replace('T', " ").replace('Z', " UTC")
}

/// The same without the date: `12:04:10 UTC`.
pub(crate) fn day_time(time: StoreTime) -> String {
    clock_time(time).split_off("2026-11-30 ".len())
}

/// A duration in its two largest units: `4m12s`, `2d3h`, `850ms`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span(pub(crate) Duration);

const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

impl fmt::Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let Some(first) = UNITS.iter().position(|(_, size)| seconds >= *size) else {
            return write!(out, "{}ms", self.0.as_millis());
        };
        let (unit, size) = UNITS[first];
        write!(out, "{}{unit}", seconds / size)?;
        match UNITS.get(first + 1) {
            Some((next, below)) if seconds % size / below > 0 => {
                write!(out, "{}{next}", seconds % size / below)
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_largest_units_are_told() {
        for (millis, text) in [
            (0, "0ms"),
            (850, "850ms"),
            (1_999, "1s"),
            (252_000, "4m12s"),
            (300_000, "5m"),
            (3_600_000, "1h"),
            (3_601_000, "1h"),
            (183_600_000, "2d3h"),
        ] {
            assert_eq!(Span(Duration::from_millis(millis)).to_string(), text);
        }
    }

    #[test]
    fn a_clock_time_says_that_it_is_utc() {
        let time = StoreTime::from_micros(1_796_040_250_000_000);
        assert_eq!(clock_time(time), "2026-11-30 12:04:10 UTC");
    }
}
