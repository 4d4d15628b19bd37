//! Forgetting what can make no difference any more, so that fewer states are left.

use crate::settings::{Guarantee, Settings, Upstream};
use crate::state::{Asked, Call, Calls, Expected, Phase, Progress, Swap, Wire, World};
use crate::symmetry::put_in_order;

pub(crate) fn forget(set: &Settings, world: &mut World) {
    if set.versions_are_only_compared() {
        forget_old_versions(world);
    }
    let asks_who_was_first = set.upstream != Upstream::Plain || set.resolutions > 0;
    if !asks_who_was_first {
        world.first_effect = None;
    }
    if set.guarantee == Guarantee::Retryable {
        world.told = None;
    }
    forget_calls_that_are_over(set, world);
    if set.in_order {
        put_in_order(set, world);
    }
}

/// Calls the present version 1 and every other one 0.
///
/// A version does not come back, so that an old one is as good as any other old one, and a
/// stray that expects an old one will never find it.
fn forget_old_versions(world: &mut World) {
    let present = world.shelf.entry.map(|entry| entry.version);
    let renamed = |version: &mut u8| *version = u8::from(present == Some(*version));
    for swap in &mut world.strays {
        swap.rename_versions(renamed);
    }
    world.strays.retain(|swap| swap.expected != Expected::Version(0));
    world.strays.sort_unstable();
    for owner in &mut world.owners {
        match &mut owner.phase {
            Phase::Working { version } => renamed(version),
            Phase::Asking(swap) => swap.rename_versions(renamed),
            Phase::Idle | Phase::Looking(_) => {}
        }
    }
    if let Some(entry) = &mut world.shelf.entry {
        entry.version = 1;
    }
    world.shelf.last_version = 1;
    world.top_version = 1;
}

/// Whether a call that is over had held the key, or had come to harm, is of interest only as long
/// as something of it is about; and an effect that came to harm is not counted, so that it is of
/// interest only as long as its answer may be told.
fn forget_calls_that_are_over(set: &Settings, world: &mut World) {
    let about = about(set, world);
    world.held = world.held.within(about);
    if set.guarantee == Guarantee::Retryable {
        let over = world.effects.within(world.harmed).without(about);
        world.effects = world.effects.without(over);
        world.harmed = world.harmed.within(about);
    } else {
        world.harmed = Calls::default();
    }
}

/// The calls of which something is about: an owner, a stray, a wire, an entry, or an answer.
fn about(set: &Settings, world: &World) -> Calls {
    let mut about = Calls::default();
    about.add_some(world.first_effect);
    let mut swap = |swap: &Swap| {
        about.add(swap.call);
        about.add_some(answer_of(swap.asked));
    };
    world.strays.iter().for_each(&mut swap);
    for (number, owner) in (0..).zip(world.owners) {
        let call: Call = number * set.calls + owner.made.saturating_sub(1);
        match owner.phase {
            Phase::Idle => continue,
            Phase::Asking(asking) => about.add_some(answer_of(asking.asked)),
            Phase::Looking(asked) => about.add_some(answer_of(asked)),
            Phase::Working { .. } => {}
        }
        about.add(call);
    }
    for (call, wire) in (0..).zip(world.wires) {
        if wire != Wire::Quiet {
            about.add(call);
        }
    }
    if let Some(entry) = world.shelf.entry {
        about.add(entry.claimed.token);
        if let Progress::Done { answer, .. } = entry.claimed.progress {
            about.add(answer);
        }
    }
    about
}

const fn answer_of(asked: Asked) -> Option<Call> {
    match asked {
        Asked::Complete { answer, .. } => Some(answer),
        Asked::Resolve { answer, .. } => answer,
        Asked::Begin | Asked::Release | Asked::Doubt | Asked::Renew => None,
    }
}

impl Swap {
    fn rename_versions(&mut self, rename: impl Fn(&mut u8)) {
        if let Expected::Version(version) = &mut self.expected {
            rename(version);
        }
        if let Asked::Resolve { version, .. } = &mut self.asked {
            rename(version);
        }
    }
}
