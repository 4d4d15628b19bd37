//! Giving a claim up: free its key, or call it doubtful.

use std::sync::Arc;

use semel_core::Doubt;
use semel_core::protocol::{Ask, MarkDoubt, Marked, Release, Released};

use super::background::{persist, put};
use super::claim::Claim;

/// How giving a claim up ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GivenUp {
    /// The store took it: the key is free, or the call is in doubt.
    Settled,
    /// There was nothing under the key any more: an earlier try was applied, or it was forgotten.
    AlreadyGone,
    /// The claim was lost, or had ended already. Nothing was changed.
    NotOurs,
    /// The store did not answer. It is tried again in the background; if that fails for good the
    /// call is in doubt once its lease ends.
    Pending,
}

impl Claim {
    /// Frees the key: the work did not happen, or failed in a way that a retry may mend.
    ///
    /// One round trip. If the store can't be reached it is tried again in the background.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, if the store does not answer at once.
    ///
    /// # Cancel safety
    ///
    /// Dropped at its await, the key may have been freed or not; if not, the call is in doubt once
    /// its lease ends.
    pub async fn release(self) -> GivenUp {
        let ask = Release { token: self.held.claim.token };
        self.give_up(ask, "release", |released| match released {
            Released::Released => GivenUp::Settled,
            Released::AlreadyGone => GivenUp::AlreadyGone,
            Released::NotOurs => GivenUp::NotOurs,
        })
        .await
    }

    /// Says that the outcome can't be known. The policy for doubt decides what follows.
    ///
    /// In a transaction nothing is in doubt: it is rolled back, and the key is free.
    ///
    /// One round trip. If the store can't be reached it is tried again in the background.
    ///
    /// # Panics
    ///
    /// As [`Claim::release`].
    ///
    /// # Cancel safety
    ///
    /// As [`Claim::release`].
    pub async fn doubt(self, doubt: Doubt) -> GivenUp {
        let ask = MarkDoubt { token: self.held.claim.token, doubt, keep: self.held.keep };
        self.give_up(ask, "doubt", |marked| match marked {
            Marked::InDoubt => GivenUp::Settled,
            Marked::NotOurs => GivenUp::NotOurs,
        })
        .await
    }

    async fn give_up<A>(
        mut self,
        ask: A,
        event: &'static str,
        told: fn(A::Answer) -> GivenUp,
    ) -> GivenUp
    where
        A: Ask + Send + Sync + 'static,
        A::Answer: Send,
    {
        if let Some(transaction) = self.transaction.take() {
            Box::pin(self.roll_back(*transaction)).await;
            return GivenUp::Settled;
        }
        self.leave_keeper();
        self.held.finish();
        let presumed = self.held.presumed();
        let Ok(driven) = put(&*self.once.0.store, &self.held, &ask, presumed).await else {
            self.give_up_later(ask);
            return GivenUp::Pending;
        };
        let given_up = told(driven.answer);
        if given_up == GivenUp::NotOurs {
            self.superseded(event);
        }
        given_up
    }

    fn give_up_later<A>(&self, ask: A)
    where
        A: Ask + Send + Sync + 'static,
        A::Answer: Send,
    {
        let (store, held) = (Arc::clone(&self.once.0.store), Arc::clone(&self.held));
        let limit = self.worth_trying();
        self.once.0.tasks.spawn(async move {
            if persist(&*store, &held, &ask, limit).await.is_none() {
                tracing::error!(key = %held.at.digest, "a claim could not be given up");
            }
        });
    }
}
