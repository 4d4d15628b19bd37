//! The fencing token: the number by which a resource tells a late holder from the present one.

use std::fmt;
use std::str::FromStr;

use crate::store::Version;

/// A number that rises with each grant of a lock, or with each owner of a call.
///
/// It is the version of the write that granted: it rises over releases, expiries, restarts and a
/// wiped store, as far as the store keeps what it promises of [`Version`]. Hand it to whatever the
/// lock protects, and let that refuse a smaller one than it has seen: nothing else keeps out a
/// holder that was stopped in the middle of its work and comes back late.
///
/// Its text form is the number in decimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fence(u64);

impl Fence {
    /// A fence from its number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl From<Version> for Fence {
    fn from(version: Version) -> Self {
        Self(version.get())
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Fence {
    type Err = FenceError;

    /// Decimal digits and nothing else: no sign, no white space.
    fn from_str(text: &str) -> Result<Self, FenceError> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(FenceError);
        }
        text.parse().map(Self).map_err(|_| FenceError)
    }
}

/// A text that is no fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a fence is a whole number from 0 to 18446744073709551615, in decimal digits")]
pub struct FenceError;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_read_as_it_is_written() {
        for number in [0, 1, 1_764_500_000_000_000, u64::MAX] {
            let fence = Fence::new(number);
            assert_eq!(fence.to_string().parse(), Ok(fence));
        }
    }

    #[test]
    fn what_is_no_number_of_digits_is_no_fence() {
        for text in ["", " 1", "1 ", "+1", "-1", "0x1", "1.0", "18446744073709551616", "١"] {
            assert_eq!(text.parse::<Fence>(), Err(FenceError), "{text:?}");
        }
    }

    #[test]
    fn a_later_version_is_a_higher_fence() {
        assert!(Fence::from(Version::new(8)) > Fence::from(Version::new(7)));
    }
}
