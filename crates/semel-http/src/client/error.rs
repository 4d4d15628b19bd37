//! A call that got no answer, and what may be concluded from that.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use super::key::RequestKey;

/// An error of any type.
pub(super) type Boxed = Box<dyn Error + Send + Sync>;

/// What is known of a call that got no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Conclusion {
    /// It was not carried out: no try of it was ever sent. The intent may be given up. This can be
    /// proven only of a client that follows no redirects, see [`Redirects`](super::Redirects).
    NeverSent,
    /// It may have been carried out, or may still be. Ask again with the same key
    /// ([`ClientError::key`]): that gets the answer, or carries it out once. Giving the intent up,
    /// or sending it under another key, may do it never or twice.
    Unknown,
}

/// Why there was no further try.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum GaveUp {
    /// The request carries no key, or none that can be read, and its method is not idempotent
    /// (RFC 9110, 9.2.2).
    NotSafe,
    /// Its body can't be sent a second time: it is too large to be kept, or of unknown length.
    BodyIsGone,
    /// It was sent as often as the settings allow.
    TriesUsedUp,
    /// The time for all tries is over, or would be before the next one.
    DeadlineOver,
    /// The retries that all calls share are used up.
    RetryBudgetEmpty,
    /// The service asked to wait longer than the settings allow.
    AskedToWait(Duration),
    /// Another try can't help.
    NoUse,
}

impl GaveUp {
    /// A word for metrics and logs.
    pub(super) const fn word(&self) -> &'static str {
        match self {
            Self::NotSafe => "not_safe",
            Self::BodyIsGone => "body_is_gone",
            Self::TriesUsedUp => "tries_used_up",
            Self::DeadlineOver => "deadline_over",
            Self::RetryBudgetEmpty => "retry_budget_empty",
            Self::AskedToWait(_) => "asked_to_wait",
            Self::NoUse => "no_use",
        }
    }
}

impl fmt::Display for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSafe => {
                f.write_str("it carries no readable key, and its method is not idempotent")
            }
            Self::BodyIsGone => f.write_str("its body can't be sent again"),
            Self::TriesUsedUp => f.write_str("it was sent as often as client.max_tries allows"),
            Self::DeadlineOver => f.write_str("client.deadline leaves no time for another try"),
            Self::RetryBudgetEmpty => f.write_str("the retries of this client are used up"),
            Self::AskedToWait(after) => {
                write!(f, "the service asked to wait {after:?}, longer than client.max_retry_after")
            }
            Self::NoUse => f.write_str("another try can't help"),
        }
    }
}

/// What the last try came to.
#[derive(Debug)]
#[non_exhaustive]
pub enum Cause {
    /// It took too long.
    TimedOut,
    /// The inner client failed: `reqwest`, or the inner tower service.
    Client(Boxed),
    /// The answer broke off while it was read.
    Answer(Boxed),
    /// The request's own body broke off, or is longer than it says, before anything was sent.
    RequestBody,
}

/// A call that got no answer.
///
/// [`ClientError::conclusion`] is what to act on. `Display` and `Debug` hold no key; the cause is
/// the [source](Error::source), and may name the URL.
#[derive(Debug)]
pub struct ClientError {
    pub(super) conclusion: Conclusion,
    pub(super) gave_up: GaveUp,
    pub(super) tries: u32,
    pub(super) key: Option<RequestKey>,
    pub(super) cause: Cause,
}

impl ClientError {
    /// What may be concluded.
    #[must_use]
    pub const fn conclusion(&self) -> Conclusion {
        self.conclusion
    }

    /// Why there was no further try.
    #[must_use]
    pub const fn gave_up(&self) -> &GaveUp {
        &self.gave_up
    }

    /// How often the request was sent, or was about to be.
    #[must_use]
    pub const fn tries(&self) -> u32 {
        self.tries
    }

    /// The key to ask again with.
    #[must_use]
    pub const fn key(&self) -> Option<&RequestKey> {
        self.key.as_ref()
    }

    /// What the last try came to.
    #[must_use]
    pub const fn cause(&self) -> &Cause {
        &self.cause
    }
}

impl ClientError {
    /// The inner client was not even ready.
    pub(super) fn not_ready(error: Boxed) -> Self {
        Self::before_anything(None, Cause::Client(error))
    }

    pub(super) const fn before_anything(key: Option<RequestKey>, cause: Cause) -> Self {
        let conclusion = Conclusion::NeverSent;
        Self { conclusion, gave_up: GaveUp::NoUse, tries: 0, key, cause }
    }

    /// This error in what a client of `reqwest-middleware` gave; none if it is another one.
    #[must_use]
    pub fn of(error: &reqwest_middleware::Error) -> Option<&Self> {
        match error {
            reqwest_middleware::Error::Middleware(error) => error.downcast_ref(),
            reqwest_middleware::Error::Reqwest(_) => None,
        }
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = match (self.conclusion, &self.key) {
            (Conclusion::NeverSent, _) => "the request was never sent",
            (Conclusion::Unknown, Some(_)) => "the outcome is unknown; ask again with the same key",
            (Conclusion::Unknown, None) => "the outcome is unknown",
        };
        let times = if self.tries == 1 { "try" } else { "tries" };
        write!(f, "no answer after {} {times}: {known} ({})", self.tries, self.gave_up)
    }
}

impl Error for ClientError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.cause {
            Cause::TimedOut | Cause::RequestBody => None,
            Cause::Client(error) | Cause::Answer(error) => Some(&**error),
        }
    }
}
