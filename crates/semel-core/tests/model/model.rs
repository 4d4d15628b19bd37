//! Every step that the world can take.

use semel_core::protocol::InDoubt;

use crate::bridge::{Decided, Decision};
use crate::explore::{Explorable, Taken};
use crate::forget::forget;
use crate::laws::Law;
use crate::owner::Making;
use crate::rules::Rules;
use crate::settings::Settings;
use crate::state::{
    Answer, Asked, Expected, OPERATOR, PASSER_BY, Phase, Progress, Swap, Wire, World,
};
use crate::store::arrive;
use crate::upstream;

pub(crate) struct Model<R> {
    pub(crate) set: Settings,
    pub(crate) decision: Decision<R>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Begins {
        owner: usize,
    },
    /// Its swap arrives; the reply is heard or not; the swap may arrive once more later.
    Arrives {
        owner: usize,
        heard: bool,
        again: bool,
    },
    Vanishes {
        owner: usize,
    },
    IsDelayed {
        owner: usize,
    },
    Looks {
        owner: usize,
    },
    GivesUp {
        owner: usize,
    },
    RefusesWork {
        owner: usize,
    },
    UpstreamGets {
        call: u8,
        heard: bool,
    },
    /// It panics, is told of a failure, or waits no more.
    Fails {
        owner: usize,
    },
    Crashes {
        owner: usize,
    },
    Renews {
        owner: usize,
    },
    StrayArrives {
        swap: Swap,
    },
    LeaseEnds,
    OperatorResolves,
    SomebodyAsks,
}

/// What must have been seen somewhere, or a check has not checked it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sight {
    Replayed,
    InFlight,
    InDoubt,
    TakenOver,
    LostReplyWasOurs,
    LateOwnerWasSuperseded,
    EffectAfterTakeOver,
    StrayWon,
    Renewed,
    Resolved,
    TwoEffects,
}

impl<R: Rules> Model<R> {
    pub(crate) fn new(rules: R, set: Settings) -> Self {
        Self { set, decision: Decision::new(rules, set.in_doubt) }
    }
}

/// Where the steps from a world are gathered.
struct Steps<'a, R: Rules> {
    model: &'a Model<R>,
    from: &'a World,
    to: &'a mut Vec<Taken<Model<R>>>,
}

impl<R: Rules> Explorable for Model<R> {
    type State = World;
    type Step = Step;
    type Law = Law;
    type Sight = Sight;

    fn start(&self) -> World {
        World::new(self.set.resolutions)
    }

    fn steps(&self, from: &World, to: &mut Vec<Taken<Self>>) {
        let mut steps = Steps { model: self, from, to };
        for owner in 0..usize::from(self.set.owners) {
            steps.of_owner(owner);
        }
        steps.of_wires();
        steps.of_store();
    }
}

impl<R: Rules> Steps<'_, R> {
    fn take(&mut self, step: Step, make: impl FnOnce(&Model<R>, &mut Making)) {
        let mut making = Making::from(self.from);
        make(self.model, &mut making);
        let Making { mut world, broken, sights } = making;
        forget(&self.model.set, &mut world);
        self.to.push(Taken { step, state: world, broken, sights });
    }

    fn may_stray(&self) -> bool {
        self.from.strays.len() < self.model.set.strays
    }

    // ===== owners =====

    fn of_owner(&mut self, owner: usize) {
        match self.from.owners[owner].phase {
            Phase::Idle => self.of_idle(owner),
            Phase::Asking(swap) => self.of_asking(owner, swap),
            Phase::Looking(asked) => self.of_looking(owner, asked),
            Phase::Working { version } => self.of_working(owner, version),
        }
        self.of_keeper(owner);
    }

    fn of_idle(&mut self, owner: usize) {
        // Owners are alike: they begin for the first time in order, for every other order is
        // the same under other names.
        let in_turn = owner == 0 || self.from.owners[owner - 1].made > 0;
        if in_turn && self.from.owners[owner].made < self.model.set.calls {
            self.take(Step::Begins { owner }, |model, making| {
                making.world.owners[owner].made += 1;
                making.world.owners[owner].renewals = 0;
                model.decide(making, owner, None, Asked::Begin);
            });
        }
    }

    fn of_asking(&mut self, owner: usize, swap: Swap) {
        let silent = |making: &mut Making| {
            making.world.owners[owner].phase = Phase::Looking(swap.asked);
        };
        for (heard, again) in [(true, false), (false, false), (true, true)] {
            if again && !(self.may_stray() && self.can_win_twice(&swap)) {
                continue;
            }
            self.take(Step::Arrives { owner, heard, again }, |model, making| {
                let before = making.world.shelf.entry;
                let arrived = arrive(&model.set, &mut making.world, &swap);
                making.judge(arrived.broken);
                if again {
                    making.world.stray(swap);
                }
                let taken_over = arrived.won.is_some()
                    && before.is_some_and(|entry| entry.claimed.token != swap.call);
                making.see(Sight::TakenOver, swap.asked == Asked::Begin && taken_over);
                match arrived.won {
                    _ if !heard => silent(making),
                    Some(version) => model.act(making, owner, swap.asked, swap.answer, version),
                    None => model.decide(making, owner, making.world.shelf.entry, swap.asked),
                }
            });
        }
        self.take(Step::Vanishes { owner }, |_, making| silent(making));
        if self.may_stray() {
            self.take(Step::IsDelayed { owner }, |_, making| {
                making.world.stray(swap);
                silent(making);
            });
        }
    }

    /// Whether a copy of what has arrived can win later.
    fn can_win_twice(&self, swap: &Swap) -> bool {
        !matches!(swap.expected, Expected::Version(_)) || self.model.set.versions_restart
    }

    fn of_looking(&mut self, owner: usize, asked: Asked) {
        self.take(Step::Looks { owner }, |model, making| {
            model.decide(making, owner, making.world.shelf.entry, asked);
        });
        self.take(Step::GivesUp { owner }, |model, making| model.give_up(making, owner, asked));
    }

    fn of_working(&mut self, owner: usize, version: u8) {
        let call = self.model.call_of(self.from, owner);
        if self.from.wires[usize::from(call)] != Wire::Quiet {
            self.take(Step::RefusesWork { owner }, |model, making| {
                model.refuse(making, owner, version);
            });
        }
        self.take(Step::Fails { owner }, |model, making| model.fail(making, owner, version));
        self.take(Step::Crashes { owner }, |model, making| model.crash(making, owner));
    }

    /// A renewal may be under way when the work has ended: it decides on what it finds.
    fn of_keeper(&mut self, owner: usize) {
        if self.from.owners[owner].renewals == 0 || !self.may_stray() {
            return;
        }
        let call = self.model.call_of(self.from, owner);
        let renew = self.model.decision.on(self.from.shelf.entry, call, Asked::Renew);
        if let Decided::Send(swap) = renew {
            self.take(Step::Renews { owner }, |_, making| {
                making.world.owners[owner].renewals -= 1;
                making.world.stray(swap);
            });
        }
    }

    // ===== wires =====

    fn of_wires(&mut self) {
        for (call, wire) in (0..).zip(self.from.wires) {
            let Wire::There { fence } = wire else { continue };
            let owner = self
                .model
                .owner_of(self.from, call)
                .filter(|owner| matches!(self.from.owners[*owner].phase, Phase::Working { .. }));
            self.of_upstream(call, fence, None);
            if owner.is_some() {
                self.of_upstream(call, fence, owner);
            }
        }
        for (at, swap) in self.from.strays.iter().copied().enumerate() {
            self.of_stray(at, swap);
        }
    }

    /// A call arrives at the upstream, and an owner hears what it says, or nobody does.
    fn of_upstream(&mut self, call: u8, fence: u8, hears: Option<usize>) {
        self.take(Step::UpstreamGets { call, heard: hears.is_some() }, |model, making| {
            making.world.wires[usize::from(call)] = Wire::Quiet;
            let (answer, broken) = upstream::arrive(&model.set, &mut making.world, call, fence);
            making.judge(broken);
            let entry = making.world.shelf.entry;
            let other = entry.is_some_and(|entry| entry.claimed.token != call);
            let two = making.world.effects.count() > 1;
            making.see(Sight::EffectAfterTakeOver, other);
            making.see(Sight::TwoEffects, two);
            if let Some(owner) = hears {
                model.hear(making, owner, answer);
            }
        });
    }

    fn of_stray(&mut self, at: usize, swap: Swap) {
        self.take(Step::StrayArrives { swap }, |model, making| {
            making.world.strays.remove(at);
            let arrived = arrive(&model.set, &mut making.world, &swap);
            making.judge(arrived.broken);
            let won = arrived.won.is_some();
            making.see(Sight::StrayWon, won);
            making.see(Sight::Renewed, won && swap.asked == Asked::Renew);
            making.see(Sight::Resolved, won && swap.call == OPERATOR);
        });
    }

    // ===== the store, and those who look at it =====

    fn of_store(&mut self) {
        let Some(entry) = self.from.shelf.entry else { return };
        let held = entry.claimed.progress == Progress::Held;
        if held && entry.live {
            self.take(Step::LeaseEnds, |model, making| {
                making.world.shelf.entry = Some(crate::state::Entry { live: false, ..entry });
                let token = entry.claimed.token;
                let owner = model.owner_of(&making.world, token);
                if owner.is_some_and(|owner| at_work(making.world.owners[owner].phase)) {
                    making.world.harmed.add(token);
                }
            });
        } else if held || entry.claimed.progress == Progress::Doubt {
            self.of_doubtful(entry);
        }
    }

    fn of_doubtful(&mut self, entry: crate::state::Entry) {
        let told = self.model.decision.on(Some(entry), PASSER_BY, Asked::Begin);
        let right = match self.model.set.in_doubt {
            InDoubt::Rerun => matches!(told, Decided::Send(_)),
            InDoubt::Reject | InDoubt::Reconcile => {
                matches!(told, Decided::Told(Answer::Unknown))
            }
        };
        if !right {
            self.take(Step::SomebodyAsks, |_, making| making.judge(Some(Law::I11)));
        }
        if self.from.resolutions > 0 && self.may_stray() {
            self.of_operator(entry);
        }
    }

    /// An operator who knows the truth: the first effect's answer, or that there is no effect and
    /// none can come any more.
    fn of_operator(&mut self, entry: crate::state::Entry) {
        let answer = self.from.first_effect;
        let may_come = self.from.wires.iter().any(|wire| matches!(wire, Wire::There { .. }))
            || self.model.owner_of(self.from, entry.claimed.token).is_some();
        if answer.is_none() && may_come {
            return;
        }
        let asked = Asked::Resolve { version: entry.version, answer };
        if let Decided::Send(swap) = self.model.decision.on(Some(entry), OPERATOR, asked) {
            self.take(Step::OperatorResolves, |_, making| {
                making.world.resolutions -= 1;
                making.world.stray(swap);
            });
        }
    }
}

fn at_work(phase: Phase) -> bool {
    match phase {
        Phase::Idle => false,
        Phase::Asking(swap) => swap.asked != Asked::Begin,
        Phase::Looking(asked) => asked != Asked::Begin,
        Phase::Working { .. } => true,
    }
}
