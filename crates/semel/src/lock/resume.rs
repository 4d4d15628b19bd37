//! Taking a lock up again.

use std::pin::pin;

use semel_core::protocol::lock::Lost;
use semel_core::protocol::lock::{Renew, Renewed};

use super::builder::LockBuilder;
use super::drive::{Start, drive};
use super::error::LockError;
use super::guard::LockGuard;
use super::held::Granted;
use super::lost::LockLoss;
use super::ticket::LockTicket;
use crate::drive::in_time;

/// What taking a lock up again came to.
#[derive(Debug)]
#[must_use = "a guard that is dropped releases its lock"]
pub enum Resumed {
    /// It still was held under the ticket's token, and its lease begins anew.
    Resumed(LockGuard),
    /// It was not. Nothing was changed.
    Lost(LockLoss),
}

impl LockBuilder {
    /// Takes up the lock of a ticket on the terms set here: after a connection broke, or in another
    /// process. The lease begins anew with this builder's `ttl`; least time and delay stay what they
    /// were. The builder is to be one of the same resource: [`Locks::resume`](crate::Locks::resume)
    /// makes it.
    ///
    /// # Errors
    ///
    /// [`LockError`]: the store's. The lock is as it was, or its lease has begun anew.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the lease may have begun anew or not. The ticket is as good as before.
    pub(super) async fn resumed(&self, ticket: &LockTicket) -> Result<Resumed, LockError> {
        let mut request = self.request()?;
        request.token = ticket.token();
        let renew = Renew { token: ticket.token(), lease: request.terms.ttl };
        let store = &*request.locks.0.store;
        let driven = in_time(pin!(drive(store, &request.at, &renew, Start::Look))).await;
        let driven = driven.map_err(LockError::of)?;
        match driven.answer.clone() {
            Renewed::Lost(Lost::Gone) => Ok(Resumed::Lost(LockLoss::Expired)),
            Renewed::Lost(lost) => Ok(Resumed::Lost(LockLoss::of(lost))),
            Renewed::Renewed => {
                let left = request.terms.ttl;
                let granted = Granted::of(driven, Some(ticket.fence()), left);
                let guard = granted.and_then(|granted| request.guard(granted));
                Ok(guard.map_or(Resumed::Lost(LockLoss::Expired), Resumed::Resumed))
            }
        }
    }
}

impl super::locks::Locks {
    /// A lock that was handed on, to be taken up again.
    pub fn resume(&self, ticket: &LockTicket) -> ResumeBuilder {
        ResumeBuilder { lock: self.lock(ticket.resource()), ticket: ticket.clone() }
    }
}

/// A lock that is to be taken up again, and the terms on which.
#[derive(Debug, Clone)]
#[must_use = "nothing is taken up before `resume`"]
pub struct ResumeBuilder {
    lock: LockBuilder,
    ticket: LockTicket,
}

impl ResumeBuilder {
    /// As [`LockBuilder::ttl`].
    pub fn ttl(self, ttl: std::time::Duration) -> Self {
        Self { lock: self.lock.ttl(ttl), ..self }
    }

    /// As [`LockBuilder::renewed`].
    pub fn renewed(self) -> Self {
        Self { lock: self.lock.renewed(), ..self }
    }

    /// As [`LockBuilder::max_hold`], counted from now.
    pub fn max_hold(self, max_hold: std::time::Duration) -> Self {
        Self { lock: self.lock.max_hold(max_hold), ..self }
    }

    /// Takes the lock up if it still is held under the ticket's token; its lease begins anew with
    /// `ttl`. Least time and delay stay what they were.
    ///
    /// # Errors
    ///
    /// [`LockError`]: the store's. The lock is as it was, or its lease has begun anew.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the lease may have begun anew or not. The ticket is as good as before.
    pub async fn resume(&self) -> Result<Resumed, LockError> {
        self.lock.resumed(&self.ticket).await
    }
}
