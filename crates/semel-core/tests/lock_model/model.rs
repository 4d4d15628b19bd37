//! Everything that can happen.

use semel_core::lock::Reason;
use semel_core::protocol::Verdict;
use semel_core::protocol::lock::{Force, ForceHow, ForceTarget, LockSeen};
use semel_core::{Owner, Token, Ttl};

use crate::client::{
    Client, Hold, LEASE, Manners, Message, Phase, TICK, Then, What, acquire, ticks,
};
use crate::explore::{Explorable, Taken};
use crate::laws::{Law, Promises};
use crate::rules::Rules;
use crate::store::Store;

/// The bounds of a check.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) clients: u8,
    pub(crate) attempts: u8,
    pub(crate) waits: bool,
    pub(crate) ticks: u64,
    pub(crate) delay: Ttl,
    /// How long a place is good.
    pub(crate) alive: Ttl,
    /// How often a message or a reply is lost or late, or a client dies.
    pub(crate) faults: u8,
    pub(crate) force: Option<ForceHow>,
}

impl Settings {
    pub(crate) const fn two() -> Self {
        Self {
            clients: 2,
            attempts: 1,
            waits: false,
            ticks: 3,
            delay: Ttl::ZERO,
            alive: ticks(1),
            faults: 1,
            force: None,
        }
    }

    pub(crate) const fn waiting() -> Self {
        Self { clients: 2, waits: true, ticks: 2, ..Self::two() }
    }

    /// With places that are good for long enough to be kept.
    pub(crate) const fn keeping() -> Self {
        Self { alive: ticks(2), ticks: 3, faults: 0, ..Self::waiting() }
    }

    pub(crate) const fn manners(&self) -> Manners {
        Manners { waits: self.waits, delay: self.delay, alive: self.alive }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    store: Store,
    clients: Vec<Client>,
    strays: Vec<Message>,
    faults: u8,
    may_force: bool,
    promises: Promises,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Tick,
    Send(u8, What),
    Arrives(u8),
    IsApplied(u8),
    Replies(u8),
    LosesReply(u8),
    IsDelayed(u8),
    IsDropped(u8),
    StrayArrives,
    Dies(u8),
    Forced,
}

/// What can be seen on the way, so that nobody takes a check for exhaustive that never got there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sight {
    Granted,
    GrantedAfterLease,
    LostReplyWasOurs,
    Renewed,
    RenewedBesideQueue,
    LostToAnother,
    Queued,
    GrantedFromQueue,
    DeadWaiterPassed,
    StrayWon,
    Forced,
    TwoBelieve,
}

pub(crate) struct Model<R> {
    rules: R,
    set: Settings,
}

impl<R: Rules> Model<R> {
    pub(crate) const fn new(rules: R, set: Settings) -> Self {
        Self { rules, set }
    }
}

impl<R: Rules> Explorable for Model<R> {
    type State = State;
    type Step = Step;
    type Law = Law;
    type Sight = Sight;

    fn start(&self) -> State {
        let client = |number| Client {
            token: token(number, 0),
            attempts: self.set.attempts,
            phase: Phase::Idle,
            hold: None,
        };
        State {
            store: Store::default(),
            clients: (0..self.set.clients).map(client).collect(),
            strays: Vec::new(),
            faults: self.set.faults,
            may_force: self.set.force.is_some(),
            promises: Promises::default(),
        }
    }

    fn steps(&self, from: &State, to: &mut Vec<Taken<Self>>) {
        if from.store.now < self.set.ticks * TICK {
            self.push(from, to, Step::Tick, |world| world.state.store.now += TICK);
        }
        for number in 0..self.set.clients {
            self.client_steps(from, to, number);
        }
        if !from.strays.is_empty() {
            self.push(from, to, Step::StrayArrives, |world| {
                let message = world.state.strays.remove(0);
                if world.apply(&message).is_some() {
                    world.sights.push(Sight::StrayWon);
                }
            });
        }
        if let (true, Some(how)) = (from.may_force, self.set.force) {
            self.push(from, to, Step::Forced, |world| world.force(how));
        }
    }
}

impl<R: Rules> Model<R> {
    fn client_steps(&self, from: &State, to: &mut Vec<Taken<Self>>, number: u8) {
        let client = &from.clients[usize::from(number)];
        match &client.phase {
            Phase::Dead => {}
            Phase::Idle if client.attempts > 0 => {
                self.push(from, to, Step::Send(number, What::Acquire), |world| {
                    world.begin(number);
                });
            }
            Phase::Idle => {}
            Phase::Asking(_) => {
                self.push(from, to, Step::Arrives(number), |world| world.arrives(number));
                if from.faults > 0 {
                    self.push(from, to, Step::IsApplied(number), |world| world.is_applied(number));
                    self.push(from, to, Step::LosesReply(number), |world| {
                        world.loses_reply(number)
                    });
                    self.push(from, to, Step::IsDropped(number), |world| world.is_dropped(number));
                    self.push(from, to, Step::IsDelayed(number), |world| world.is_delayed(number));
                }
            }
            Phase::Applied(..) => {
                self.push(from, to, Step::Replies(number), |world| world.replies(number));
            }
            Phase::Queued => {
                for what in [What::Acquire, What::Keep, What::Release] {
                    self.push(from, to, Step::Send(number, what), |world| world.look(number, what));
                }
            }
            Phase::Holding => {
                for what in [What::Renew, What::Release] {
                    self.push(from, to, Step::Send(number, what), |world| world.hold(number, what));
                }
            }
        }
        if from.faults > 0 && !matches!(client.phase, Phase::Dead | Phase::Idle) {
            self.push(from, to, Step::Dies(number), |world| world.dies(number));
        }
    }

    fn push(
        &self,
        from: &State,
        to: &mut Vec<Taken<Self>>,
        step: Step,
        change: impl FnOnce(&mut World<'_, R>),
    ) {
        let mut world = World {
            rules: &self.rules,
            set: self.set,
            state: from.clone(),
            broken: None,
            sights: Vec::new(),
        };
        change(&mut world);
        world.look_at_all();
        if world.state != *from {
            let World { state, broken, sights, .. } = world;
            to.push(Taken { step, state, broken, sights });
        }
    }
}

/// A state in the middle of a step.
struct World<'a, R> {
    rules: &'a R,
    set: Settings,
    state: State,
    broken: Option<Law>,
    sights: Vec<Sight>,
}

impl<R: Rules> World<'_, R> {
    fn client(&mut self, number: u8) -> &mut Client {
        &mut self.state.clients[usize::from(number)]
    }

    fn begin(&mut self, number: u8) {
        let client = self.client(number);
        client.attempts -= 1;
        client.token = token(number, client.attempts);
        self.ask(number, What::Acquire, &LockSeen::presumed_free(), self.state.store.now);
    }

    /// From a look that is answered at once.
    fn look(&mut self, number: u8, what: What) {
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

    fn hold(&mut self, number: u8, what: What) {
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

    fn arrives(&mut self, number: u8) {
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
    fn is_applied(&mut self, number: u8) {
        let Phase::Asking(message) = self.client(number).phase.clone() else { return };
        if let Some(version) = self.apply(&message) {
            self.state.faults -= 1;
            let wrote = self.state.store.stored.as_ref().map(|there| there.entry.clone());
            self.client(number).phase = Phase::Applied(message, version, wrote);
        }
    }

    fn replies(&mut self, number: u8) {
        let Phase::Applied(message, version, wrote) = self.client(number).phase.clone() else {
            return;
        };
        let (rules, told) = (self.rules, (message.asked, self.state.store.now));
        let wrote = wrote.map(|entry| (entry, version));
        self.client(number).take(rules, message.then, told, wrote, version);
        self.told(number, message.then, false);
    }

    /// It is applied, and its sender has to look.
    fn loses_reply(&mut self, number: u8) {
        let Phase::Asking(message) = self.client(number).phase.clone() else { return };
        self.state.faults -= 1;
        if self.apply(&message).is_some() {
            self.look(number, message.what);
        }
    }

    fn is_dropped(&mut self, number: u8) {
        let Phase::Asking(message) = self.client(number).phase.clone() else { return };
        self.state.faults -= 1;
        self.look(number, message.what);
    }

    /// It is under way yet when its sender has long looked.
    fn is_delayed(&mut self, number: u8) {
        let Phase::Asking(message) = self.client(number).phase.clone() else { return };
        self.state.faults -= 1;
        self.state.strays.push(message.clone());
        self.look(number, message.what);
    }

    fn dies(&mut self, number: u8) {
        let phase = std::mem::replace(&mut self.client(number).phase, Phase::Dead);
        self.client(number).hold = None;
        self.state.faults -= 1;
        // What it had sent may arrive yet.
        if let Phase::Asking(message) = phase {
            self.state.strays.push(message);
        }
    }

    fn force(&mut self, how: ForceHow) {
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
    fn apply(&mut self, message: &Message) -> Option<u64> {
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
    fn look_at_all(&mut self) {
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

fn token(client: u8, attempt: u8) -> Token {
    let mut bytes = [0; 16];
    (bytes[0], bytes[1]) = (client, attempt);
    Token::from_bytes(bytes)
}

/// A delay of one tick.
pub(crate) const DELAY: Ttl = ticks(1);
