//! What a delivery comes to.

use std::time::Duration;

use semel_core::StoreTime;

use super::error::InboxError;
use crate::problem::Problem;

/// What the delivery of a message comes to, where it comes to something: see
/// [`InboxError`] for the rest.
///
/// [`Disposition::of`] says what to do with the message in each case.
#[derive(Debug)]
#[must_use = "it says whether the message may be acknowledged"]
#[non_exhaustive]
pub enum Delivery<E> {
    /// The work was done now: acknowledge the message.
    Handled,
    /// The work was done by an earlier delivery, or by another copy of the message: acknowledge
    /// this one, too. A duplicate that is not acknowledged comes back for ever, and holds up what
    /// stands behind it.
    Duplicate,
    /// The store can't be reached, and the work was done all the same, as
    /// [`StoreDown::Open`](crate::StoreDown::Open) wants: acknowledge the message. A duplicate of
    /// it runs again.
    Unprotected,
    /// The work is being done elsewhere, or its owner has died and its lease has not ended yet: put
    /// the message back, and let it come again after this long. It is what is left of the lease.
    Later(Duration),
    /// The message was tried as often as it may be: dead-letter it. Nothing is remembered of it any
    /// more, so that it runs again when it comes out of there.
    Poison {
        /// How often it was tried.
        attempts: u32,
        /// Why the last attempt failed; none where that crashed, or failed without telling why.
        error: Option<E>,
    },
    /// Nobody knows whether the work was done, and it must not run again
    /// ([`InDoubtPolicy::Reject`](crate::InDoubtPolicy::Reject), as under
    /// [`Guarantee::AtMostOnce`](crate::Guarantee::AtMostOnce)): dead-letter the message, for
    /// somebody to look. [`Once::resolve`](crate::Once::resolve) settles it,
    /// [`Inbox::forget`](super::Inbox::forget) lets it run again.
    InDoubt {
        /// When its owner was last heard of, by the store's clock.
        since: StoreTime,
    },
    /// It is another message under an identity that was used, and was not handled: dead-letter it.
    /// The problem says so, and what differs. Acknowledged, it would be lost.
    Refused(Problem),
}

/// What to do with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Disposition {
    /// It is done with.
    Acknowledge,
    /// Let it come again, after this long where that is known, else at your own pace.
    PutBack(Option<Duration>),
    /// Put it aside: trying again is in vain.
    DeadLetter,
}

impl Disposition {
    /// What to do with a message whose delivery came to this.
    ///
    /// ```
    /// use semel::inbox::{Delivery, Disposition, InboxError};
    ///
    /// let handled: Result<Delivery<()>, InboxError<()>> = Ok(Delivery::Handled);
    /// assert_eq!(Disposition::of(&handled), Disposition::Acknowledge);
    /// let failed = Err(InboxError::Failed { error: (), attempts: 1 });
    /// assert_eq!(Disposition::of(&failed), Disposition::PutBack(None));
    /// ```
    #[must_use]
    pub const fn of<E>(delivered: &Result<Delivery<E>, InboxError<E>>) -> Self {
        match delivered {
            Ok(Delivery::Handled | Delivery::Duplicate | Delivery::Unprotected) => {
                Self::Acknowledge
            }
            Ok(Delivery::Later(after)) => Self::PutBack(Some(*after)),
            Ok(Delivery::Poison { .. } | Delivery::InDoubt { .. } | Delivery::Refused(_)) => {
                Self::DeadLetter
            }
            Err(_) => Self::PutBack(None),
        }
    }
}

/// Counts it. The labels are written out: then they cost nothing where nobody counts.
pub(super) fn count<E>(delivered: &Result<Delivery<E>, InboxError<E>>) {
    macro_rules! counter {
        ($outcome:literal) => {
            metrics::counter!("semel_deliveries_total", "outcome" => $outcome)
        };
    }
    match delivered {
        Ok(Delivery::Handled) => counter!("handled"),
        Ok(Delivery::Duplicate) => counter!("duplicate"),
        Ok(Delivery::Unprotected) => counter!("unprotected"),
        Ok(Delivery::Later(_)) => counter!("later"),
        Ok(Delivery::Poison { .. }) => counter!("poison"),
        Ok(Delivery::InDoubt { .. }) => counter!("in_doubt"),
        Ok(Delivery::Refused(_)) => counter!("refused"),
        Err(InboxError::Failed { .. } | InboxError::Panicked) => counter!("failed"),
        Err(_) => counter!("unavailable"),
    }
    .increment(1);
}
