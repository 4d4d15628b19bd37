//! The retries that all calls of a client share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use semel::core::StoreTime;

/// A millionth of a retry, so that calls and time can each give a part of one.
const RETRY: u64 = 1_000_000;

/// A bucket of retries, shared by all calls of a client, so that retries can't multiply a storm:
/// while a service is down, a client of a thousand calls a second sends not five thousand but
/// little more than a thousand.
///
/// A retry takes one out. Calls and time put some back, never beyond the burst. Where none is left,
/// the failure is handed out as it is. Clones share one bucket.
#[derive(Debug, Clone)]
pub struct RetryBudget {
    rates: Rates,
    bucket: Arc<Mutex<Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Rates {
    burst: u64,
    per_call: u64,
    per_minute: u64,
}

#[derive(Debug)]
struct Bucket {
    left: u64,
    /// When time last gave something; none before the first call.
    at: Option<StoreTime>,
}

impl RetryBudget {
    /// A bucket that holds up to `burst` retries and is full at first; each hundred calls put
    /// `per_hundred_calls` back, and each minute `per_minute`.
    ///
    /// With a burst of 0 nothing is ever tried again.
    #[must_use]
    pub fn new(burst: u32, per_hundred_calls: u32, per_minute: u32) -> Self {
        let rates = Rates {
            burst: u64::from(burst) * RETRY,
            per_call: u64::from(per_hundred_calls) * (RETRY / 100),
            per_minute: u64::from(per_minute),
        };
        let bucket = Bucket { left: rates.burst, at: None };
        Self { rates, bucket: Arc::new(Mutex::new(bucket)) }
    }

    /// How many retries are left, rounded down.
    #[must_use]
    pub fn left(&self) -> u32 {
        u32::try_from(self.bucket().left / RETRY).unwrap_or(u32::MAX)
    }

    /// A call begins.
    pub(super) fn put_back(&self, now: StoreTime) {
        let mut bucket = self.bucket();
        bucket.pass_time(self.rates, now);
        bucket.add(self.rates, self.rates.per_call);
    }

    /// Takes one retry out, if there is one.
    pub(super) fn take(&self, now: StoreTime) -> Taken {
        let mut bucket = self.bucket();
        bucket.pass_time(self.rates, now);
        match bucket.left.checked_sub(RETRY) {
            Some(left) => {
                bucket.left = left;
                Taken::One
            }
            None => Taken::Nothing,
        }
    }

    fn bucket(&self) -> MutexGuard<'_, Bucket> {
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether there was a retry to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    One,
    Nothing,
}

impl Bucket {
    fn add(&mut self, rates: Rates, amount: u64) {
        self.left = self.left.saturating_add(amount).min(rates.burst);
    }

    fn pass_time(&mut self, rates: Rates, now: StoreTime) {
        let passed = self.at.map_or(Duration::ZERO, |at| now.since(at));
        self.at = Some(self.at.map_or(now, |at| at.max(now)));
        let micros = u64::try_from(passed.as_micros()).unwrap_or(u64::MAX);
        self.add(rates, micros.saturating_mul(rates.per_minute) / 60);
    }
}

impl Default for RetryBudget {
    /// Up to 100 at once; twenty for each hundred calls, and sixty a minute.
    fn default() -> Self {
        Self::new(100, 20, 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> StoreTime {
        StoreTime::from_micros(seconds * 1_000_000)
    }

    fn taken(budget: &RetryBudget, now: StoreTime) -> usize {
        std::iter::repeat_with(|| budget.take(now)).take_while(|taken| *taken == Taken::One).count()
    }

    #[test]
    fn a_storm_gets_the_burst_and_a_share_of_its_calls() {
        let budget = RetryBudget::new(10, 20, 0);
        assert_eq!(taken(&budget, at(1)), 10);
        for _ in 0..100 {
            budget.put_back(at(1));
        }
        assert_eq!(taken(&budget, at(1)), 10, "the burst bounds what is put back");
        for _ in 0..15 {
            budget.put_back(at(1));
        }
        assert_eq!(taken(&budget, at(1)), 3);
    }

    #[test]
    fn time_puts_back_too() {
        let budget = RetryBudget::new(10, 0, 60);
        assert_eq!(taken(&budget, at(1)), 10);
        assert_eq!(taken(&budget, at(4)), 3);
        assert_eq!(taken(&budget, at(1_000_000)), 10);
        assert_eq!(taken(&budget, at(5)), 0, "time that goes back gives nothing");
    }

    #[test]
    fn clones_share_one_bucket() {
        let budget = RetryBudget::new(2, 0, 0);
        assert_eq!(taken(&budget.clone(), at(1)), 2);
        assert_eq!(budget.left(), 0);
        assert_eq!(RetryBudget::new(0, 100, 60).take(at(9)), Taken::Nothing);
    }
}
