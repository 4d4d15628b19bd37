//! One step, and what it means to those who were promised something.

use semel_core::lock::Reason;
use semel_core::protocol::Verdict;
use semel_core::protocol::lock::{Force, ForceHow, ForceTarget, LockSeen};
use semel_core::{Owner, Ttl};

use crate::client::{Client, Hold, LEASE, Manners, Message, Phase, Then, What, acquire};
use crate::laws::Law;
use crate::model::{Settings, Sight, State, token};
use crate::rules::Rules;

/// A state in the middle of a step.
pub(crate) struct World<'a, R> {
    pub(crate) rules: &'a R,
    pub(crate) set: Settings,
    pub(crate) state: State,
    pub(crate) broken: Option<Law>,
    pub(crate) sights: Vec<Sight>,
}

impl<R: Rules> World<'_, R> {
    fn client(&mut self, number: u8) -> &mut Client {
        &mut self.state.clients[usize::from(number)]
    }

    pub(crate) fn begin(&mut self, number: u8) {
        let client = self.client(number);
        client.attempts -= 1;
        client.token = token(number, client.attempts);
        self.ask(number, What::Acquire, &LockSeen::presumed_free(), self.state.store.now);
    }

    /// From a look that is answered at once.
    pub(crate) fn look(&mut self, number: u8, what: What) {
        let (seen, now) = (self.state.store.seen(), self.state.store.now);
        let token = self.client(number).token;
        let entry = seen.entry.as_ref().map(|there| &there.entry);
        let own = entry.and_then(|entry| entry.queue.iter().find(|there| there.token == token));
        // A place that is as good as it can be is not kept.
        if what == What::Keep
            && own.is_none_or(|own| own.alive_until.as_micros() >= now + self.set.alive.as_micros())
        {
            return;
        }
        self.ask(number, what, &seen, now);
    }

    pub(crate) fn hold(&mut self, number: u8, what: What) {
        let now = self.state.store.now;
        let client = self.client(number);
        // Who judges by its own clock that its lease is over asks for no more; and who was just
        // granted one does not ask for another.
        let fresh = |hold: &Hold| hold.deadline >= now + LEASE.as_micros();
        if what == What::Renew && (!client.believes(now) || client.hold.as_ref().is_some_and(fresh))
        {
            return;
        }
        let presumed = client.presumed();
        if what == What::Release {
            // Its work is over.
            client.hold = None;
        }
        match presumed {
            Some(seen) => self.ask(number, what, &seen, now),
            None => self.look(number, what),
        }
    }

    fn ask(&mut self, number: u8, what: What, seen: &LockSeen, asked: u64) {
        let (rules, manners, now) = (self.rules, self.set.manners(), self.state.store.now);
        let queued = seen.entry.as_ref().is_some_and(|there| !there.entry.queue.is_empty());
        let client = self.client(number);
        match client.decide(rules, manners, what, seen) {
            Ok((expect, write, then)) => {
                let token = client.token;
                let message = Message { what, token, asked, sent: now, expect, write, then };
                client.phase = Phase::Asking(message);
                if then == Then::Renewed && queued {
                    self.sights.push(Sight::RenewedBesideQueue);
                }
            }
            Err(then) => {
                client.take(rules, then, (asked, now), None, 0);
                self.told(number, then, true);
            }
        }
    }

    pub(crate) fn arrives(&mut self, number: u8) {
        let Phase::Asking(message) = self.client(number).phase.clone() else { return };
        match self.apply(&message) {
            Some(version) => {
                let wrote = self.state.store.stored.as_ref().map(|there| there.entry.clone());
                self.client(number).phase = Phase::Applied(message, version, wrote);
                self.replies(number);
            }
            None => {
                let seen = self.state.store.seen();
                self.ask(number, message.what, &seen, message.sent);
            }
        }
    }

    /// It is applied, and its sender hears of it later.
    pub(crate) fn is_applied(&mut self, number: u8) {
        let Phase::Asking(message) = self.client(number).phase.clone() else { return };
        if let Some(version) = self.apply(&message) {
            self.state.faults -= 1;
            let wrote = self.state.store.stored.as_ref().map(|there| there.entry.clone());
            self.client(number).phase = Phase::Applied(message, version, wrote);
        }
    }

    pub(crate) fn replies(&mut self, number: u8) {
        let Phase::Applied(message, version, wrote) = self.client(number).phase.clone() else {
            return;
        };
        let (rules, told) = (self.rules, (message.asked, self.state.store.now));
        let wrote = wrote.map(|entry| (entry, version));
        self.client(number).take(rules, message.then, told, wrote, version);
        self.told(number, message.then, false);
    }

    /// It is applied, and its sender has to look.
    pub(crate) fn loses_reply(&mut self, number: u8) {
        let Phase::Asking(message) = self.client(number).phase.clone() else { return };
        self.state.faults -= 1;
        if self.apply(&message).is_some() {
            self.look(number, message.what);
        }
    }

    pub(crate) fn is_dropped(&mut self, number: u8) {
        let Phase::Asking(message) = self.client(number).phase.clone() else { return };
        self.state.faults -= 1;
        self.look(number, message.what);
    }

    /// It is under way yet when its sender has long looked.
    pub(crate) fn is_delayed(&mut self, number: u8) {
        let Phase::Asking(message) = self.client(number).phase.clone() else { return };
        self.state.faults -= 1;
        self.state.strays.push(message.clone());
        self.look(number, message.what);
    }

    pub(crate) fn dies(&mut self, number: u8) {
        let phase = std::mem::replace(&mut self.client(number).phase, Phase::Dead);
        self.client(number).hold = None;
        self.state.faults -= 1;
        // What it had sent may arrive yet.
        if let Phase::Asking(message) = phase {
            self.state.strays.push(message);
        }
    }

    pub(crate) fn force(&mut self, how: ForceHow) {
        self.state.may_force = false;
        let (by, reason) = (Owner::new("eve"), Reason::new("r"));
        let force = Force { target: ForceTarget::Everybody, by, reason, how };
        let Verdict::Write { expect, write, .. } =
            self.rules.force(&force, &self.state.store.seen())
        else {
            return;
        };
        self.state.store.swap(expect, &write);
        self.sights.push(Sight::Forced);
        if how == ForceHow::AtOnce {
            self.state.promises.forced(self.state.store.now);
        }
    }

    /// Applies a message, and looks at what that means to those who were promised something.
    pub(crate) fn apply(&mut self, message: &Message) -> Option<u64> {
        let before = self.state.store.seen().entry.map(|there| there.entry);
        let version = self.state.store.swap(message.expect, &message.write)?;
        let (now, delay) = (self.state.store.now, self.set.delay);
        let after = self.state.store.stored.as_ref().map(|there| there.entry.clone());
        if let Then::Granted { .. } = message.then {
            let queue = before.iter().flat_map(|entry| &entry.queue);
            let mut ahead = queue.take_while(|waiter| waiter.token != message.token).peekable();
            if before.as_ref().is_some_and(|entry| !entry.holders.is_empty()) {
                self.sights.push(Sight::GrantedAfterLease);
            }
            if self.set.waits && ahead.peek().is_some() {
                self.sights.push(Sight::DeadWaiterPassed);
            }
            if before
                .iter()
                .flat_map(|entry| &entry.queue)
                .any(|there| there.token == message.token)
            {
                self.sights.push(Sight::GrantedFromQueue);
            }
        }
        let moment = (now, version, delay);
        let broken = self.state.promises.applied(message, before.as_ref(), after.as_ref(), moment);
        // Who only tries may go past those who wait.
        let broken = broken.filter(|law| *law != Law::Order || self.set.waits);
        self.broken = self.broken.or(broken);
        Some(version)
    }

    /// A client was told something.
    fn told(&mut self, number: u8, then: Then, by_look: bool) {
        let client = self.client(number).clone();
        match then {
            Then::Granted { .. } => {
                self.sights.push(if by_look { Sight::LostReplyWasOurs } else { Sight::Granted });
                let fence = client.hold.map(|hold| hold.fence);
                if fence != self.state.promises.fence_of(client.token) {
                    self.broken = self.broken.or(Some(Law::Fence));
                }
            }
            Then::Renewed => self.sights.push(Sight::Renewed),
            Then::Queued => self.sights.push(Sight::Queued),
            Then::Lost => self.sights.push(Sight::LostToAnother),
            Then::Held | Then::Kept | Then::Released => {}
        }
    }

    /// The laws that hold in every state.
    pub(crate) fn look_at_all(&mut self) {
        let (now, delay) = (self.state.store.now, self.set.delay);
        let stranger =
            acquire(token(u8::MAX, 0), Manners { waits: false, delay, alive: Ttl::ZERO });
        let verdict = self.rules.acquire(&stranger, &self.state.store.seen());
        let free = matches!(verdict, Verdict::Write { .. });
        let believe = self.state.clients.iter().filter(|client| client.believes(now));
        let (forced, believe): (Vec<&Client>, Vec<&Client>) =
            believe.partition(|client| self.state.promises.is_forced(client.token));
        if forced.len() + believe.len() > 1 {
            self.sights.push(Sight::TwoBelieve);
        }
        let law = if believe.len() > 1 || (free && !believe.is_empty()) {
            Some(Law::Belief)
        } else if !free && !self.state.promises.blocks(now, delay, None) {
            Some(Law::Progress)
        } else {
            None
        };
        self.broken = self.broken.or(law);
        let (clients, strays) = (&self.state.clients, &self.state.strays);
        let known = |token| {
            clients.iter().any(|client| client.token == token)
                || strays.iter().any(|message| message.token == token)
        };
        self.state.promises.forget(now, delay, known);
    }
}
