//! Giving back a claim of which nobody knows whether it was made.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use semel_core::protocol::{Release, Released};
use semel_core::{Store, Token};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::background::wait_to_try;
use super::call::Call;
use super::engine::Once;
use crate::drive::{Address, PATIENCE, drive, in_time, look};
use crate::policy::InDoubtPolicy;
use crate::timer;

/// A claim that is being written. Dropped before it is known what became of that, the claim is
/// given back in the background: nobody works under it.
pub(super) struct Unsure<'a> {
    once: &'a Once,
    call: &'a Call,
    token: Token,
    runtime: &'a Handle,
    settled: bool,
}

impl<'a> Unsure<'a> {
    pub(super) fn new(once: &'a Once, call: &'a Call, token: Token, runtime: &'a Handle) -> Self {
        Self { once, call, token, runtime, settled: false }
    }

    /// It is known: there is nothing to be given back.
    pub(super) fn settled(mut self) -> &'a Handle {
        self.settled = true;
        self.runtime
    }

    /// How long it is worth trying. Where nobody takes over, a claim that nobody worked under
    /// would otherwise stay in doubt.
    fn limit(&self) -> Duration {
        let policy = &self.call.policy;
        match policy.in_doubt {
            InDoubtPolicy::Rerun => policy.lease.as_duration(),
            InDoubtPolicy::Reject | InDoubtPolicy::Reconcile(_) => policy.max_execution,
        }
    }
}

impl Drop for Unsure<'_> {
    fn drop(&mut self) {
        if !self.settled {
            let giving_back = GivingBack {
                store: Arc::clone(&self.once.0.store),
                permits: Arc::clone(&self.once.0.given_back),
                at: self.call.at.clone(),
                token: self.token,
            };
            self.once.0.tasks.spawn_on(giving_back.run(self.limit()), self.runtime);
        }
    }
}

struct GivingBack {
    store: Arc<dyn Store>,
    permits: Arc<Semaphore>,
    at: Address,
    token: Token,
}

impl GivingBack {
    async fn run(self, limit: Duration) {
        let began = timer::now();
        for tries in 0_u32.. {
            wait_to_try(tries).await;
            let spent = timer::now() - began;
            match self.try_once().await {
                Some(Released::Released | Released::NotOurs) => return,
                // Not there (yet): a write that was sent may land late.
                Some(Released::AlreadyGone) if spent >= PATIENCE => return,
                Some(Released::AlreadyGone) | None => {}
            }
            if spent >= limit {
                tracing::warn!(key = %self.at.digest, "a claim could not be given back");
                return;
            }
        }
    }

    async fn try_once(&self) -> Option<Released> {
        let _permit = self.permits.acquire().await.ok()?;
        let release = async {
            let seen = look(&*self.store, &self.at).await?;
            drive(&*self.store, &self.at, &Release { token: self.token }, seen).await
        };
        in_time(pin!(release)).await.ok().map(|driven| driven.answer)
    }
}
