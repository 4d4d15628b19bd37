//! What is given back in the background: locks and places whose owners have gone.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt;
use semel_core::protocol::Backoff;
use semel_core::protocol::lock::{Ending, Release, Released};
use semel_core::{Store, Token};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use super::drive::{Start, drive};
use crate::drive::{Address, PATIENCE, in_time};
use crate::timer;

/// How many are given back at once. After a store was out of reach there may be very many, and
/// those who want to work come first.
const AT_ONCE: usize = 32;

const BACKOFF: Backoff = Backoff { first: Duration::from_millis(50), most: Duration::from_secs(5) };

/// The background work of one engine. Each piece has its own budget, and nothing of it hangs on
/// the future that left it behind.
#[derive(Debug)]
pub(super) struct Reaper {
    store: Arc<dyn Store>,
    tasks: TaskTracker,
    permits: Arc<Semaphore>,
}

/// What is known of what is given back.
#[derive(Debug, Clone)]
pub(super) enum Left {
    /// It is held.
    Held(Start),
    /// It has a place in the queue, no more.
    Place,
    /// Nobody knows: a write may still be under way.
    Unknown,
}

impl Reaper {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, tasks: TaskTracker::new(), permits: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// Gives back what this token has, for at most so long.
    pub(super) fn give_back(
        &self,
        at: Address,
        token: Token,
        left: Left,
        limit: Duration,
        runtime: &Handle,
    ) {
        let (store, permits) = (Arc::clone(&self.store), Arc::clone(&self.permits));
        self.tasks.spawn_on(GivingBack { store, permits, at, token, left, limit }.run(), runtime);
    }

    /// How much is under way.
    pub(super) fn pending(&self) -> usize {
        self.tasks.len()
    }

    /// Waits until nothing is left.
    pub(super) async fn flushed(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
    }
}

struct GivingBack {
    store: Arc<dyn Store>,
    permits: Arc<Semaphore>,
    at: Address,
    token: Token,
    left: Left,
    limit: Duration,
}

impl GivingBack {
    async fn run(mut self) {
        let began = timer::now();
        for tries in 0_u32.. {
            let spent = timer::now() - began;
            match self.try_once().await {
                // Not there (yet): a write that was sent may land late.
                Some(Released::NotHeld(_))
                    if matches!(self.left, Left::Unknown) && spent < PATIENCE => {}
                Some(Released::NotHeld(_)) => return,
                Some(Released::Released { .. } | Released::Already | Released::Lapsed) => return,
                None => {}
            }
            if spent >= self.limit {
                tracing::warn!(lock = %self.at.digest, "a lock could not be given back");
                return;
            }
            // Out of the way of the await: the generator belongs to its thread.
            let dice = rand::rng().random();
            timer::sleep(BACKOFF.wait(tries, dice)).await;
        }
    }

    async fn try_once(&mut self) -> Option<Released> {
        let _permit = self.permits.acquire().await.ok()?;
        let (ending, start) = match &mut self.left {
            // What was presumed holds for the first try only.
            Left::Held(start) => (Ending::Used, std::mem::replace(start, Start::Look)),
            Left::Place | Left::Unknown => (Ending::Unused, Start::Look),
        };
        let release = Release { token: self.token, ending };
        let driven = in_time(pin!(drive(&*self.store, &self.at, &release, start))).await;
        driven.ok().map(|driven| driven.answer)
    }
}
