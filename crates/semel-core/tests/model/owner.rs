//! What an owner does: it asks the store, works, and asks again, as the engine drives it.

use crate::bridge::Decided;
use crate::laws::{self, Law};
use crate::model::{Model, Sight};
use crate::rules::Rules;
use crate::settings::{OnFailure, Owner, Upstream};
use crate::state::{Answer, Asked, Call, Claimed, Entry, Phase, Progress, Wire, World};

/// A step in the making: the world it leads to, what breaks and what is seen on the way.
pub(crate) struct Making {
    pub(crate) world: World,
    pub(crate) broken: Option<Law>,
    pub(crate) sights: Vec<Sight>,
}

impl Making {
    pub(crate) fn from(world: &World) -> Self {
        Self { world: world.clone(), broken: None, sights: Vec::new() }
    }

    pub(crate) fn judge(&mut self, broken: Option<Law>) {
        self.broken = self.broken.or(broken);
    }

    pub(crate) fn see(&mut self, sight: Sight, seen: bool) {
        if seen {
            self.sights.push(sight);
        }
    }
}

impl<R: Rules> Model<R> {
    /// The present call of an owner.
    pub(crate) fn call_of(&self, world: &World, owner: usize) -> Call {
        let before = u8::try_from(owner).unwrap() * self.set.calls;
        before + world.owners[owner].made.saturating_sub(1)
    }

    /// The owner that is in the middle of this call, if one is.
    pub(crate) fn owner_of(&self, world: &World, call: Call) -> Option<usize> {
        let is_at = |owner: &usize| {
            world.owners[*owner].phase != Phase::Idle && self.call_of(world, *owner) == call
        };
        (0..usize::from(self.set.owners)).find(is_at)
    }

    /// An owner that holds its claim asks, starting from what it presumes.
    pub(crate) fn ask(&self, making: &mut Making, owner: usize, version: u8, asked: Asked) {
        let token = self.call_of(&making.world, owner);
        let claimed = Claimed { token, progress: Progress::Held };
        self.decide(making, owner, Some(Entry { version, live: true, claimed }), asked);
    }

    /// An owner decides on what it presumes or has seen.
    pub(crate) fn decide(
        &self,
        making: &mut Making,
        owner: usize,
        seen: Option<Entry>,
        asked: Asked,
    ) {
        let call = self.call_of(&making.world, owner);
        match self.decision.on(seen, call, asked) {
            Decided::Send(swap) => making.world.owners[owner].phase = Phase::Asking(swap),
            Decided::Told(answer) => {
                if answer == Answer::Fresh {
                    let ours = seen.is_some_and(|e| e.live && e.claimed.token == call);
                    making.judge((!ours).then_some(Law::I8));
                    making.see(Sight::LostReplyWasOurs, ours);
                }
                let version = seen.map_or(0, |entry| entry.version);
                self.act(making, owner, asked, answer, version);
            }
        }
    }

    /// An owner acts upon an answer.
    pub(crate) fn act(
        &self,
        making: &mut Making,
        owner: usize,
        asked: Asked,
        answer: Answer,
        version: u8,
    ) {
        making.world.owners[owner].phase = Phase::Idle;
        match (asked, answer) {
            (Asked::Begin, Answer::Fresh) => self.work(making, owner, version),
            (_, Answer::Replay { answer, whole: true }) => {
                making.see(Sight::Replayed, true);
                self.tell(making, answer, true);
            }
            (_, Answer::SupersededBy { answer, whole: true }) => {
                making.see(Sight::LateOwnerWasSuperseded, true);
                self.tell(making, answer, true);
            }
            (Asked::Complete { answer, whole }, Answer::Recorded) => {
                self.tell(making, answer, true);
                if !whole {
                    self.ask_for_the_rest(making, owner, answer, version);
                }
            }
            // Nobody else's outcome is there: its client gets what came of its own work.
            (Asked::Complete { answer, .. }, Answer::Superseded) => {
                self.tell(making, answer, false)
            }
            (_, Answer::Unknown) => making.see(Sight::InDoubt, true),
            (_, Answer::Wait) => making.see(Sight::InFlight, true),
            _ => {}
        }
    }

    fn ask_for_the_rest(&self, making: &mut Making, owner: usize, answer: Call, version: u8) {
        let token = self.call_of(&making.world, owner);
        let progress = Progress::Done { answer, whole: false };
        let part = Entry { version, live: false, claimed: Claimed { token, progress } };
        self.decide(making, owner, Some(part), Asked::Complete { answer, whole: true });
    }

    fn tell(&self, making: &mut Making, answer: Call, recorded: bool) {
        let broken = laws::of_answer(&self.set, &mut making.world, answer, recorded);
        making.judge(broken);
    }

    // ===== work =====

    /// The claim is its own: it works. When its call really leaves is up to the wire.
    fn work(&self, making: &mut Making, owner: usize, version: u8) {
        let call = self.call_of(&making.world, owner);
        let held = making.world.held.has(call);
        let silent = self.set.owner == Owner::RunsOnSilence;
        making.judge((!held).then_some(if silent { Law::I10 } else { Law::I8 }));
        let fence = if self.set.upstream == Upstream::ChecksFence { version } else { 0 };
        making.world.wires[usize::from(call)] = Wire::There { fence };
        making.world.owners[owner].phase = Phase::Working { version };
        making.world.owners[owner].renewals = self.set.renewals;
    }

    /// The work is refused before anything left: it can't have had an effect.
    pub(crate) fn refuse(&self, making: &mut Making, owner: usize, version: u8) {
        let call = self.call_of(&making.world, owner);
        making.world.wires[usize::from(call)] = Wire::Quiet;
        self.ask(making, owner, version, Asked::Release);
    }

    /// The work failed, panicked, or did not answer in time: nobody knows what it did, or will do.
    pub(crate) fn fail(&self, making: &mut Making, owner: usize, version: u8) {
        self.harm(making, owner);
        let asked = match self.set.on_failure {
            OnFailure::Release => Asked::Release,
            OnFailure::Doubt => Asked::Doubt,
        };
        self.ask(making, owner, version, asked);
    }

    /// The process ends. What it sent may still arrive.
    pub(crate) fn crash(&self, making: &mut Making, owner: usize) {
        self.harm(making, owner);
        making.world.owners[owner].phase = Phase::Idle;
    }

    fn harm(&self, making: &mut Making, owner: usize) {
        let call = self.call_of(&making.world, owner);
        making.world.harmed.add(call);
    }

    /// The work answered, or was refused, and the owner hears it.
    pub(crate) fn hear(&self, making: &mut Making, owner: usize, answer: Option<Call>) {
        let Phase::Working { version } = making.world.owners[owner].phase else { return };
        match answer {
            Some(answer) => {
                let asked = Asked::Complete { answer, whole: !self.set.streams };
                self.ask(making, owner, version, asked);
            }
            None => self.fail(making, owner, version),
        }
    }

    /// The store does not answer, and the owner tries no more. A crash on the way to the store
    /// leaves the same behind.
    pub(crate) fn give_up(&self, making: &mut Making, owner: usize, asked: Asked) {
        let call = self.call_of(&making.world, owner);
        making.world.owners[owner].phase = Phase::Idle;
        match asked {
            Asked::Begin if self.set.owner == Owner::RunsOnSilence => self.work(making, owner, 0),
            // Its claim may have been made, or be made yet: it gives it back, as far as it can.
            Asked::Begin => making.world.owners[owner].phase = Phase::Looking(Asked::Release),
            // The effect is there and its client gets the answer, recorded or not.
            Asked::Complete { answer, .. } => {
                making.world.harmed.add(call);
                self.tell(making, answer, false);
            }
            _ => making.world.harmed.add(call),
        }
    }
}
