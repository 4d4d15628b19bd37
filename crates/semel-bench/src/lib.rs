//! Semel measured against its floor.
//!
//! Each file in `benches/` is one subject and prints what it found next to what is aimed at:
//!
//! * `function`: the function form over the memory store, with a value of 1 KiB;
//! * `sqlite`: durable calls, one by one and 64 at a time;
//! * `http`: the layer over the memory store, on loopback, against the same handler without it and
//!   against a layer that checks and stores without protecting anything;
//! * `redis`: the layer over a Redis server, with 64 connections, against the same handler that
//!   sends two plain commands itself;
//! * `postgres`: claims with their outcomes, 8 at a time, against `pgbench` with the same two
//!   statements;
//! * `records`: what a call costs among ten thousand records and among a million
//!   (`SEMEL_BENCH_RECORDS` names another number), on SQLite, Redis and PostgreSQL;
//! * `locks`: acquiring and releasing a lock on Redis against the two raw commands, and how long a
//!   released lock takes to reach the next of eight who wait, on Redis and PostgreSQL.
//!
//! The last four start servers of their own.
//!
//! What is compared is measured in turns within one run, and the median of the turns' ratios is
//! told: so a machine that is busy for a while slows both down. Run them with
//! `cargo xtask bench`.

mod load;
pub mod orders;

pub use load::{Keys, Load, timed};

use std::fmt;
use std::time::Duration;

/// What was measured, and what is aimed at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Figure {
    /// A time; less is better.
    Time {
        /// What was measured.
        got: Duration,
        /// What is aimed at.
        at_most: Duration,
    },
    /// A ratio; more is better.
    Ratio {
        /// What was measured.
        got: f64,
        /// What is aimed at.
        at_least: f64,
    },
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (got, aim, reached) = match self {
            Self::Time { got, at_most } => {
                (format!("{got:.2?}"), format!("at most {at_most:?}"), got <= at_most)
            }
            Self::Ratio { got, at_least } => {
                (format!("{got:.2}"), format!("at least {at_least:.2}"), got >= at_least)
            }
        };
        write!(f, "{got} ({aim}: {})", if reached { "reached" } else { "missed" })
    }
}

/// Prints a figure on a line of its own.
#[expect(clippy::print_stdout, reason = "the output of a bench is its figures")]
pub fn tell(what: &str, figure: Figure) {
    println!("{what:<44} {figure}");
}

/// The middle of some measurements; of an even number the upper one.
///
/// # Panics
///
/// When there are none.
#[must_use]
pub fn median<T: PartialOrd + Copy>(measured: &[T]) -> T {
    let mut sorted = measured.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_says_what_was_aimed_at_and_whether_it_was_reached() {
        let time =
            Figure::Time { got: Duration::from_nanos(1_500), at_most: Duration::from_micros(2) };
        assert_eq!(time.to_string(), "1.50µs (at most 2µs: reached)");
        let ratio = Figure::Ratio { got: 0.79, at_least: 0.8 };
        assert_eq!(ratio.to_string(), "0.79 (at least 0.80: missed)");
    }

    #[test]
    fn the_median_does_not_heed_what_is_far_out() {
        assert_eq!(median(&[5, 1, 1_000]), 5);
        assert_eq!(median(&[2.0, 1.0]), 2.0);
    }
}
