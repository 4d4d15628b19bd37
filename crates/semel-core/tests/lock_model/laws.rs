//! What must never happen, kept apart from what the store says: who was promised what.

use semel_core::lock::{LockEntry, Stage};
use semel_core::protocol::Write;
use semel_core::{Token, Ttl};

use crate::client::{Message, Then, What};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Law {
    Exclusion,
    Belief,
    Fence,
    Release,
    Order,
    Progress,
}

/// What was promised: written down when a client's own write is applied, whatever others write
/// into the entry afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Promises {
    leases: Vec<Lease>,
    last_fence: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Lease {
    token: Token,
    fence: u64,
    until: u64,
    /// It was taken at once, by force: its holder may believe what it likes.
    forced: bool,
}

impl Promises {
    /// Whether anybody's lease or delay keeps others out.
    pub(crate) fn blocks(&self, now: u64, delay: Ttl, except: Option<Token>) -> bool {
        let others = self.leases.iter().filter(|lease| Some(lease.token) != except);
        others.into_iter().any(|lease| now < lease.until + delay.as_micros())
    }

    pub(crate) fn fence_of(&self, token: Token) -> Option<u64> {
        self.leases.iter().find(|lease| lease.token == token).map(|lease| lease.fence)
    }

    pub(crate) fn is_forced(&self, token: Token) -> bool {
        self.leases.iter().any(|lease| lease.token == token && lease.forced)
    }

    /// A client's write was applied to what was there before. The law that this breaks.
    pub(crate) fn applied(
        &mut self,
        message: &Message,
        before: Option<&LockEntry>,
        after: Option<&LockEntry>,
        (now, version, delay): (u64, u64, Ttl),
    ) -> Option<Law> {
        let token = message.token;
        let broken = match (message.what, message.then) {
            (What::Acquire, Then::Granted { .. }) => {
                let broken = self.granted(message, before, (now, version, delay));
                self.lease(token).until = until(message, now);
                broken
            }
            (What::Renew, Then::Renewed) => {
                self.lease(token).until = until(message, now);
                None
            }
            (What::Release, _) => {
                self.leases.retain(|lease| lease.token != token);
                None
            }
            _ => None,
        };
        let kept = |token| after.is_some_and(|entry| holds(entry, token));
        let gone = |lease: &Lease| now < lease.until + delay.as_micros() && !kept(lease.token);
        let taken = self.leases.iter().any(|lease| !lease.forced && gone(lease));
        broken.or(taken.then_some(Law::Release))
    }

    fn granted(
        &mut self,
        message: &Message,
        before: Option<&LockEntry>,
        (now, version, delay): (u64, u64, Ttl),
    ) -> Option<Law> {
        let token = message.token;
        let first = self.fence_of(token).is_none();
        let blocked = self.blocks(now, delay, Some(token));
        let mut ahead = before.into_iter().flat_map(|entry| &entry.queue);
        let passed = ahead
            .by_ref()
            .take_while(|waiter| waiter.token != token)
            .any(|waiter| now < waiter.alive_until.as_micros());
        let fence = match message.then {
            Then::Granted { fence, .. } => fence.unwrap_or(version),
            _ => version,
        };
        let risen = !first || fence > self.last_fence;
        self.last_fence = self.last_fence.max(fence);
        self.lease(token).fence = fence;
        if blocked {
            return Some(Law::Exclusion);
        }
        if !risen {
            return Some(Law::Fence);
        }
        passed.then_some(Law::Order)
    }

    /// All that hold it lost it at once.
    pub(crate) fn forced(&mut self, now: u64) {
        for lease in &mut self.leases {
            (lease.until, lease.forced) = (lease.until.min(now), true);
        }
    }

    fn lease(&mut self, token: Token) -> &mut Lease {
        let at = self.leases.iter().position(|lease| lease.token == token);
        let at = at.unwrap_or_else(|| {
            self.leases.push(Lease { token, fence: 0, until: 0, forced: false });
            self.leases.len() - 1
        });
        &mut self.leases[at]
    }

    /// What is long over does not tell states apart.
    pub(crate) fn forget(&mut self, now: u64, delay: Ttl, known: impl Fn(Token) -> bool) {
        self.leases.retain(|lease| now < lease.until + delay.as_micros() || known(lease.token));
    }
}

fn holds(entry: &LockEntry, token: Token) -> bool {
    entry.holders.iter().any(|holder| holder.token == token && holder.stage != Stage::Resting)
}

/// When the lease of the write's own holder ends.
fn until(message: &Message, now: u64) -> u64 {
    let Write::Put { record, lease, .. } = &message.write else {
        let Write::Renew { lease, .. } = &message.write else { return now };
        return now + lease.as_micros();
    };
    let own = record.holders.iter().find(|holder| holder.token == message.token);
    let moment = own.and_then(|holder| holder.until);
    moment.map_or(now + lease.as_micros(), semel_core::StoreTime::as_micros)
}
