//! How long to wait before the next try.

use std::time::Duration;

use http::{HeaderMap, HeaderName, header};
use semel::timer;

use super::settings::ClientSettings;

/// A wait of exponential back-off with full jitter: anything from zero to a bound that doubles
/// with each wait, so that clients which failed together don't come back together.
pub(super) fn backoff(settings: &ClientSettings, waits_before: u32) -> Duration {
    let factor = 1_u32.checked_shl(waits_before.min(31)).unwrap_or(u32::MAX);
    let bound = settings.first_backoff.saturating_mul(factor).min(settings.longest_backoff);
    up_to(bound)
}

/// Never earlier than the service asked for, and a little later for all but the luckiest.
pub(super) fn as_asked(settings: &ClientSettings, after: Duration) -> Duration {
    after.saturating_add(up_to(settings.first_backoff))
}

fn up_to(bound: Duration) -> Duration {
    rand::random_range(Duration::ZERO..=bound)
}

/// What `Retry-After` says (RFC 9110, 10.2.3): seconds, or a date. None where it says nothing
/// that can be read.
///
/// A date is compared with the answer's own `Date`, so that a client whose clock is wrong waits as
/// long as the service meant; with this machine's clock where the answer has none.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than a number holds mean longer than anybody waits.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let until = unix_time(text)?;
    let now = date(headers, &header::DATE).unwrap_or_else(timer::unix_time);
    Some(until.saturating_sub(now))
}

fn date(headers: &HeaderMap, name: &HeaderName) -> Option<Duration> {
    unix_time(headers.get(name)?.to_str().ok()?)
}

fn unix_time(date: &str) -> Option<Duration> {
    httpdate::parse_http_date(date).ok()?.duration_since(std::time::UNIX_EPOCH).ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter().cloned();
        pairs.map(|(name, value)| (name, HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn seconds_are_read_and_nonsense_is_not() {
        for (text, expected) in [
            ("0", Some(0)),
            ("5", Some(5)),
            ("00120", Some(120)),
            ("99999999999999999999999999", Some(u64::MAX)),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
            ("+5", None),
        ] {
            let headers = headers(&[(header::RETRY_AFTER, text)]);
            assert_eq!(retry_after(&headers), expected.map(Duration::from_secs), "{text:?}");
        }
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }

    #[test]
    fn a_date_is_measured_by_the_date_of_the_answer() {
        for until in [
            "Mon, 30 Nov 2026 12:04:10 GMT",
            "Monday, 30-Nov-26 12:04:10 GMT",
            "Mon Nov 30 12:04:10 2026",
        ] {
            let headers = headers(&[
                (header::RETRY_AFTER, until),
                (header::DATE, "Mon, 30 Nov 2026 12:03:40 GMT"),
            ]);
            assert_eq!(retry_after(&headers), Some(Duration::from_secs(30)), "{until}");
        }
    }

    #[test]
    fn a_date_that_is_past_means_now() {
        let past = headers(&[(header::RETRY_AFTER, "Mon, 30 Nov 2020 12:04:10 GMT")]);
        assert_eq!(retry_after(&past), Some(Duration::ZERO));
    }

    #[test]
    fn waits_are_spread_over_a_bound_that_doubles_up_to_the_longest() {
        let settings = ClientSettings::default();
        for (waits_before, bound) in [(0, 100), (1, 200), (3, 800), (7, 10_000), (60, 10_000)] {
            let bound = Duration::from_millis(bound);
            let waits: Vec<_> = (0..400).map(|_| backoff(&settings, waits_before)).collect();
            assert!(waits.iter().all(|wait| *wait <= bound), "{bound:?}");
            assert!(waits.iter().any(|wait| *wait > bound * 3 / 4), "{bound:?}");
            assert!(waits.iter().any(|wait| *wait < bound / 4), "{bound:?}");
        }
    }

    #[test]
    fn nobody_comes_back_before_it_was_asked_to() {
        let after = Duration::from_secs(5);
        for _ in 0..100 {
            let wait = as_asked(&ClientSettings::default(), after);
            assert!(wait >= after && wait <= after + Duration::from_millis(100));
        }
        assert_eq!(as_asked(&ClientSettings::default(), Duration::MAX), Duration::MAX);
    }
}
