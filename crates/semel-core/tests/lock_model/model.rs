//! Everything that can happen.

use semel_core::protocol::lock::ForceHow;
use semel_core::{Token, Ttl};

use crate::client::{Client, Manners, Message, Phase, TICK, What, ticks};
use crate::explore::{Explorable, Taken};
use crate::laws::{Law, Promises};
use crate::rules::Rules;
use crate::store::Store;
use crate::world::World;

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
    pub(crate) store: Store,
    pub(crate) clients: Vec<Client>,
    pub(crate) strays: Vec<Message>,
    pub(crate) faults: u8,
    pub(crate) may_force: bool,
    pub(crate) promises: Promises,
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

pub(crate) fn token(client: u8, attempt: u8) -> Token {
    let mut bytes = [0; 16];
    (bytes[0], bytes[1]) = (client, attempt);
    Token::from_bytes(bytes)
}

/// A delay of one tick.
pub(crate) const DELAY: Ttl = ticks(1);
