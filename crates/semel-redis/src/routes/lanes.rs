//! Connections that take one write at a time, because the server lets each of them wait until
//! replicas have acknowledged.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::link::{Dialer, Link, Live};
use crate::timer::{Instant, by};
use crate::trouble::Failure;

#[derive(Debug)]
pub(super) struct Lanes {
    links: Vec<Link>,
    free: Mutex<Vec<usize>>,
    permits: Semaphore,
}

/// One of them, for one write. It goes back when it is dropped.
#[derive(Debug)]
pub(crate) struct Lane<'a> {
    pub(crate) live: Live,
    lanes: &'a Lanes,
    place: usize,
    _permit: SemaphorePermit<'a>,
}

impl Lanes {
    pub(super) fn start(dialer: &Dialer, count: usize) -> Self {
        Self {
            links: (0..count).map(|_| Link::start(dialer.clone())).collect(),
            free: Mutex::new((0..count).collect()),
            permits: Semaphore::new(count),
        }
    }

    pub(super) async fn take(
        &self,
        deadline: Instant,
        patience: Duration,
    ) -> Result<Lane<'_>, Failure> {
        let busy = || Failure::not_applied("all connections wait for replicas");
        let permit = by(deadline, self.permits.acquire()).await.ok_or_else(busy)?;
        let permit = permit.map_err(|_| busy())?;
        // As many places are free as there are permits.
        let place = self.free.lock().pop().ok_or_else(busy)?;
        let back = Back { lanes: self, place };
        let live = self.links[place].ready(deadline, patience).await?;
        std::mem::forget(back);
        Ok(Lane { live, lanes: self, place, _permit: permit })
    }
}

/// Puts a place back that did not become a lane.
struct Back<'a> {
    lanes: &'a Lanes,
    place: usize,
}

impl Drop for Back<'_> {
    fn drop(&mut self) {
        self.lanes.free.lock().push(self.place);
    }
}

impl Drop for Lane<'_> {
    fn drop(&mut self) {
        // Before the permit, which is dropped after this.
        self.lanes.free.lock().push(self.place);
    }
}
