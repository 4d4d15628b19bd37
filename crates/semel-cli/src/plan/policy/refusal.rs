//! Choices that don't go together, said in the words of the flags.

use std::time::Duration;

use semel::PolicyError;
use semel_http::HttpSettingsError;

use crate::args::duration::Shown;
use crate::exit::{Exit, Stop};

pub(super) fn of_policy(error: &PolicyError) -> Stop {
    match error {
        PolicyError::LeaseOverRetention { lease, retention } => {
            pair(("--in-progress-time-to-live", *lease), "at most", ("--time-to-live", *retention))
        }
        PolicyError::CapUnderLease { cap, lease } => {
            pair(("--max-execution", *cap), "at least", ("--in-progress-time-to-live", *lease))
        }
        PolicyError::NotPositive { setting } => {
            Stop::flag(&flag_of(setting), "0", "it must be positive")
        }
        PolicyError::TooLong { setting, got, limit } => Stop::flag(
            &flag_of(setting),
            &Shown(*got).to_string(),
            format_args!("it must be at most {}", Shown(*limit)),
        ),
        other => Stop::new(Exit::Usage, "the policy is refused", other),
    }
}

pub(super) fn of_settings(error: &HttpSettingsError) -> Stop {
    match error {
        HttpSettingsError::NotPositive { setting } => {
            Stop::flag(&flag_of(setting), "0", "it must be positive")
        }
        other => Stop::new(Exit::Usage, "the policy is refused", other),
    }
}

fn pair(wrong: (&str, Duration), relation: &str, other: (&str, Duration)) -> Stop {
    let expected =
        format_args!("it must be {relation} {} ({})", other.0, Shown(other.1)).to_string();
    Stop::flag(wrong.0, &Shown(wrong.1).to_string(), expected)
}

/// Settings end in their unit; flags carry it in their value.
fn flag_of(setting: &str) -> String {
    let name = setting.trim_end_matches("_seconds").trim_end_matches("_bytes");
    format!("--{}", name.replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_named_by_its_flag() {
        assert_eq!(flag_of("in_progress_time_to_live_seconds"), "--in-progress-time-to-live");
        assert_eq!(flag_of("max_request_body_bytes"), "--max-request-body");
    }

    #[test]
    fn two_times_that_do_not_go_together_are_both_named() {
        let error = PolicyError::LeaseOverRetention {
            lease: Duration::from_secs(10),
            retention: Duration::from_secs(5),
        };
        let message = of_policy(&error).message();
        for part in ["--in-progress-time-to-live", "\"10s\"", "--time-to-live (5s)"] {
            assert!(message.contains(part), "{part} is missing in: {message}");
        }
    }
}
