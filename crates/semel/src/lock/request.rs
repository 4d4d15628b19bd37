//! One acquisition: what is asked for, and what it leaves behind if it is not seen through.

use std::sync::Arc;

use semel_core::protocol::lock::{Acquire, Queueing};
use semel_core::{Key, Token};
use tokio::runtime::Handle;

use super::drive::Start;
use super::error::LockError;
use super::guard::LockGuard;
use super::held::{Granted, Held};
use super::locks::Locks;
use super::queue::ALIVE;
use super::reaper::Left;
use super::terms::{Terms, Wishes};
use crate::drive::{Address, PATIENCE};
use semel_core::lock::Want;

/// One acquisition, with a token of its own.
pub(super) struct Request {
    pub(super) locks: Locks,
    pub(super) at: Address,
    pub(super) resource: Arc<str>,
    pub(super) want: Want,
    pub(super) terms: Terms,
    pub(super) token: Token,
    /// Where what is left behind is given back: the runtime that the caller was in.
    pub(super) runtime: Handle,
}

impl Request {
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub(super) fn new(
        locks: &Locks,
        resource: &Arc<str>,
        want: Want,
        wishes: &Wishes,
    ) -> Result<Self, LockError> {
        let terms = wishes.checked()?;
        let at = Address::of(Key::lock(resource).map_err(LockError::Resource)?);
        let (locks, resource, token) = (locks.clone(), Arc::clone(resource), Token::fresh());
        Ok(Self { locks, at, resource, want, terms, token, runtime: Handle::current() })
    }

    pub(super) fn ask(&self, queueing: Queueing) -> Acquire {
        Acquire {
            token: self.token,
            want: self.want,
            owner: Some(self.terms.owner.clone()),
            lease: self.terms.ttl,
            lock_delay: self.terms.lock_delay,
            min_hold: self.terms.min_hold,
            queueing,
        }
    }

    /// The guard of what was granted. None if it came so late that nothing is left of it.
    pub(super) fn guard(&self, granted: Granted) -> Option<LockGuard> {
        let place = (self.at.clone(), Arc::clone(&self.resource));
        let held = Held::new(place, self.token, self.terms.clone(), granted);
        if held.remaining().is_zero() {
            return None;
        }
        Some(LockGuard::new(&self.locks, held, &self.runtime))
    }
}

/// What an acquisition may have at the store. Dropped before that is known or given up, it is taken
/// back in the background.
pub(super) struct Loose<'a> {
    request: &'a Request,
    left: Option<Left>,
}

impl<'a> Loose<'a> {
    /// A write is about to be sent.
    pub(super) const fn new(request: &'a Request) -> Self {
        Self { request, left: Some(Left::Unknown) }
    }

    /// A write is about to be sent again.
    pub(super) fn is_unknown(&mut self) {
        self.left = Some(Left::Unknown);
    }

    /// There is a place in the queue and no more.
    pub(super) fn is_place(&mut self) {
        self.left = Some(Left::Place);
    }

    /// There is nothing, or it is somebody else's care now.
    pub(super) fn is_nothing(&mut self) {
        self.left = None;
    }

    /// It was granted and is not wanted any more.
    pub(super) fn is_unwanted(&mut self) {
        self.left = Some(Left::Held(Start::Look));
    }
}

impl Drop for Loose<'_> {
    fn drop(&mut self) {
        let Some(left) = self.left.take() else { return };
        let Request { locks, at, token, terms, runtime, .. } = self.request;
        // What can't be given back ends by itself after that.
        let limit = match left {
            Left::Place => ALIVE.as_duration(),
            Left::Held(_) | Left::Unknown => terms.ttl.as_duration().max(PATIENCE),
        };
        locks.0.reaper.give_back(at.clone(), *token, left, limit, runtime);
    }
}
