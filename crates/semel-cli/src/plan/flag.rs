//! Values of flags, judged: each refusal names the flag, what it got and what
//! it takes. A flag that is not there stays `None`: the preset decides.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use crate::args::{duration, size};
use crate::exit::Stop;

/// A flag as it was written: its name and its value, if it was given.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flag<'a> {
    pub(super) name: &'static str,
    pub(super) value: Option<&'a str>,
}

/// Pairs a field of the arguments with the flag's name.
pub(super) fn flag<'a>(name: &'static str, value: &'a Option<String>) -> Flag<'a> {
    Flag { name, value: value.as_deref() }
}

impl Flag<'_> {
    /// The value through `read`; its error is followed by `expected`.
    pub(super) fn read<T, E: Display>(
        self,
        expected: impl Display,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Option<T>, Stop> {
        let Some(text) = self.value else { return Ok(None) };
        let refused =
            |why: E| Stop::flag(self.name, text, format_args!("{why}; it takes {expected}"));
        read(text).map(Some).map_err(refused)
    }

    /// A time; zero is one.
    pub(super) fn time(self) -> Result<Option<Duration>, Stop> {
        self.read(duration::FORMS, duration::parse)
    }

    /// A time that is not zero.
    pub(super) fn positive_time(self) -> Result<Option<Duration>, Stop> {
        match self.time()? {
            Some(Duration::ZERO) => Err(self.zero()),
            time => Ok(time),
        }
    }

    /// A number of bytes that this machine can hold in memory.
    pub(super) fn bytes(self) -> Result<Option<usize>, Stop> {
        let bytes = self.read(size::FORMS, |text| {
            let size::Size(bytes) = size::parse(text)?;
            usize::try_from(bytes).map_err(|_| size::SizeError::TooLarge)
        })?;
        match bytes {
            Some(0) => Err(self.zero()),
            bytes => Ok(bytes),
        }
    }

    fn zero(self) -> Stop {
        Stop::flag(self.name, self.value.unwrap_or_default(), "it must be positive")
    }

    /// A value that knows its own form and says so in its error.
    pub(super) fn parsed<T>(self) -> Result<Option<T>, Stop>
    where
        T: FromStr,
        T::Err: Display,
    {
        let Some(text) = self.value else { return Ok(None) };
        text.parse().map(Some).map_err(|why| Stop::flag(self.name, text, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_be_positive_is_not_zero() {
        for message in [
            given("0s").positive_time().unwrap_err().message(),
            given("0KiB").bytes().unwrap_err().message(),
        ] {
            assert!(message.contains("--wait \"0") && message.contains("positive"), "{message}");
        }
    }

    fn given(value: &str) -> Flag<'_> {
        Flag { name: "--wait", value: Some(value) }
    }

    #[test]
    fn a_flag_that_is_not_there_decides_nothing() {
        let absent = Flag { name: "--wait", value: None };
        assert!(absent.time().unwrap().is_none() && absent.bytes().unwrap().is_none());
    }

    #[test]
    fn a_refusal_names_the_flag_its_value_and_what_it_takes() {
        let messages = [
            given("5").time().unwrap_err().message(),
            given("5").read("5s", |_| Err::<(), _>("no")).unwrap_err().message(),
            given("1KB").bytes().unwrap_err().message(),
        ];
        for message in messages {
            assert!(message.contains("--wait \"") && message.contains("it takes "), "{message}");
        }
    }
}
