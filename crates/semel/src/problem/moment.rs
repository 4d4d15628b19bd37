//! A moment as people and programs read it.

use semel_core::StoreTime;

const DAY: u64 = 86_400;

/// A store's time as RFC 3339 writes it, in UTC and to the second: `2026-11-30T12:04:10Z`.
#[must_use]
pub fn rfc3339(at: StoreTime) -> String {
    let seconds = at.as_micros() / 1_000_000;
    let (year, month, day) = date(seconds / DAY);
    let in_day = seconds % DAY;
    let (hour, minute, second) = (in_day / 3_600, in_day / 60 % 60, in_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of the Gregorian calendar, so many days after 1970-01-01.
///
/// Counted in years that begin in March: leap days then stand at a year's end, and the months
/// before them have the regular lengths that `5 * d + 2` over 153 walks through.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_utc() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_796_040_250, "2026-11-30T12:04:10Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(StoreTime::from_micros(seconds * 1_000_000 + 999_999)), text);
        }
    }

    #[test]
    fn the_last_moment_of_all_is_written_too() {
        assert!(rfc3339(StoreTime::from_micros(u64::MAX)).ends_with('Z'));
    }
}
