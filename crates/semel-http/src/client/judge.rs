//! The decision about one try: does it stand, or is there reason for another?

use http::StatusCode;
use semel::{Code, SameKey};

use super::answer::Origin;
use super::failure::Failure;

/// Why another try would make sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// The first call under this key still runs.
    InProgress,
    /// The service, or one in front of it, says "later".
    Busy,
    /// No answer came.
    NoAnswer,
}

impl Reason {
    /// A word for metrics and logs.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Busy => "busy",
            Self::NoAnswer => "no_answer",
        }
    }
}

/// Whether a try stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Final,
    Again(Reason),
}

/// Judges an answer.
pub(super) fn answer(status: StatusCode, origin: &Origin, same_key: Option<SameKey>) -> Verdict {
    let refusal = match origin {
        // What is recorded is what every further try would get too.
        Origin::Replayed => return Verdict::Final,
        Origin::Answered => None,
        Origin::Refused(refusal) => Some(refusal),
    };
    let says = refusal.map_or(same_key, super::answer::Refusal::same_key);
    if says == Some(SameKey::No) {
        return Verdict::Final;
    }
    match refusal {
        Some(refusal) if refusal.is(Code::InProgress) => Verdict::Again(Reason::InProgress),
        Some(refusal) if refusal.is(Code::StoreUnavailable) || refusal.is(Code::StoreFull) => {
            Verdict::Again(Reason::Busy)
        }
        _ if says_later(status) => Verdict::Again(Reason::Busy),
        _ => Verdict::Final,
    }
}

/// Judges a try without an answer.
pub(super) const fn failure(failure: Failure) -> Verdict {
    match failure {
        Failure::NeverSent | Failure::Unknown => Verdict::Again(Reason::NoAnswer),
        Failure::Permanent => Verdict::Final,
    }
}

/// Request Timeout, Too Early, Too Many Requests, and what proxies say for a service behind them.
const fn says_later(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 425 | 429 | 502 | 503 | 504)
}

#[cfg(test)]
mod tests {
    use super::super::answer::Refusal;
    use super::*;

    const LATER: Verdict = Verdict::Again(Reason::Busy);

    fn of(status: u16, origin: &Origin, same_key: Option<SameKey>) -> Verdict {
        answer(StatusCode::from_u16(status).unwrap(), origin, same_key)
    }

    fn refused(code: Code) -> Origin {
        Origin::Refused(Refusal { code: code.code().into(), same_key: Some(code.same_key()) })
    }

    #[test]
    fn of_the_handlers_answers_only_those_that_say_later_are_no_end() {
        for status in 200..600 {
            let later = matches!(status, 408 | 425 | 429 | 502 | 503 | 504);
            let expected = if later { LATER } else { Verdict::Final };
            assert_eq!(of(status, &Origin::Answered, None), expected, "{status}");
        }
    }

    /// S6: a recorded failure is what each further try would get.
    #[test]
    fn s6_a_replay_is_an_end_whatever_its_status() {
        for status in [200, 409, 429, 500, 503] {
            assert_eq!(of(status, &Origin::Replayed, None), Verdict::Final, "{status}");
        }
    }

    /// S2: a conflict that only means "still running" is no failure.
    #[test]
    fn s2_a_first_call_that_still_runs_is_asked_for_again_whatever_the_status() {
        for status in [409, 425, 503] {
            let verdict = of(status, &refused(Code::InProgress), None);
            assert_eq!(verdict, Verdict::Again(Reason::InProgress), "{status}");
        }
    }

    #[test]
    fn of_the_layers_refusals_those_that_pass_are_no_end() {
        for code in Code::ALL {
            let expected = match code {
                Code::InProgress => Verdict::Again(Reason::InProgress),
                Code::StoreUnavailable | Code::StoreFull => LATER,
                _ => Verdict::Final,
            };
            assert_eq!(of(code.status().as_u16(), &refused(code), None), expected, "{code:?}");
        }
    }

    #[test]
    fn what_may_not_be_sent_with_the_same_key_is_never_sent_again() {
        for status in [408, 409, 425, 429, 502, 503, 504] {
            assert_eq!(of(status, &Origin::Answered, Some(SameKey::No)), Verdict::Final);
        }
        let refusal = Refusal { code: "CACHING_CONFLICT_002".into(), same_key: Some(SameKey::No) };
        assert_eq!(of(409, &Origin::Refused(refusal), None), Verdict::Final);
    }

    #[test]
    fn a_business_conflict_is_an_end() {
        assert_eq!(of(409, &Origin::Answered, Some(SameKey::Yes)), Verdict::Final);
    }
}
