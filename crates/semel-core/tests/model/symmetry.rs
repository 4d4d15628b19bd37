//! Owners are alike: a world in which two of them have changed places differs in nothing but
//! names. Each world is given the names it has with its owners in a fixed order.

use crate::settings::Settings;
use crate::state::{
    Answer, Asked, CALLS, Call, Calls, Change, Claimed, OWNERS, Phase, Progress, Swap, Wire, World,
};

/// Puts the owners in order. Owners that look alike in all that is compared keep theirs, so that
/// some worlds are left under two names: that costs time, not truth.
pub(crate) fn put_in_order(set: &Settings, world: &mut World) {
    let mut order: [usize; OWNERS] = std::array::from_fn(|owner| owner);
    let looks: [_; OWNERS] = std::array::from_fn(|owner| look(set, world, owner));
    order.sort_by(|a, b| looks[*b].cmp(&looks[*a]));
    if order.is_sorted() {
        return;
    }
    rename(set, world, order);
}

/// What an owner looks like, without its name.
fn look(set: &Settings, world: &World, owner: usize) -> (u8, u32, u64) {
    let state = &world.owners[owner];
    let phase = match state.phase {
        Phase::Idle => 0,
        Phase::Asking(swap) => {
            100 + kind(swap.asked) * 8 + u32::from(swap.change != Change::Delete)
        }
        Phase::Looking(asked) => 200 + kind(asked),
        Phase::Working { version } => 300 + u32::from(version.min(1)),
    };
    let mut calls = 0;
    for call in calls_of(set, owner).filter(|call| usize::from(*call) < CALLS) {
        calls = calls << 16 | u64::from(marks(world, call));
    }
    (state.made, phase * 4 + u32::from(state.renewals), calls)
}

/// What there is of a call in the world, one bit each.
fn marks(world: &World, call: Call) -> u16 {
    let entry = world.shelf.entry;
    let of_strays = |wanted: fn(&Asked) -> bool| {
        world.strays.iter().any(|swap| swap.call == call && wanted(&swap.asked))
    };
    let answer = entry.and_then(|entry| match entry.claimed.progress {
        Progress::Done { answer, .. } => Some(answer),
        Progress::Held | Progress::Doubt => None,
    });
    let marks = [
        world.wires[usize::from(call)] != Wire::Quiet,
        world.held.has(call),
        world.harmed.has(call),
        world.effects.has(call),
        world.first_effect == Some(call),
        world.told == Some(call),
        world.told_recorded == Some(call),
        entry.is_some_and(|entry| entry.claimed.token == call),
        answer == Some(call),
        of_strays(|asked| *asked == Asked::Begin),
        of_strays(|asked| *asked == Asked::Renew),
        of_strays(|asked| matches!(asked, Asked::Complete { .. })),
        of_strays(|asked| matches!(asked, Asked::Release | Asked::Doubt)),
    ];
    marks.iter().fold(0, |bits, mark| bits << 1 | u16::from(*mark))
}

const fn kind(asked: Asked) -> u32 {
    match asked {
        Asked::Begin => 0,
        Asked::Complete { whole, .. } => 1 + whole as u32,
        Asked::Release => 3,
        Asked::Doubt => 4,
        Asked::Renew => 5,
        Asked::Resolve { .. } => 6,
    }
}

fn calls_of(set: &Settings, owner: usize) -> std::ops::Range<Call> {
    let first = u8::try_from(owner).unwrap() * set.calls;
    first..first + set.calls
}

/// The new names: at each place of `order` the owner that comes to it.
fn rename(set: &Settings, world: &mut World, order: [usize; OWNERS]) {
    let mut names: [Call; 16] = std::array::from_fn(|call| u8::try_from(call).unwrap());
    for (place, owner) in order.into_iter().enumerate() {
        for (old, new) in calls_of(set, owner).zip(calls_of(set, place)) {
            names[usize::from(old)] = new;
        }
    }
    let renamed = |call: Call| names[usize::from(call)];
    world.owners = order.map(|owner| world.owners[owner]);
    for owner in &mut world.owners {
        match &mut owner.phase {
            Phase::Asking(swap) => rename_swap(swap, renamed),
            Phase::Looking(asked) => rename_asked(asked, renamed),
            Phase::Idle | Phase::Working { .. } => {}
        }
    }
    for swap in &mut world.strays {
        rename_swap(swap, renamed);
    }
    world.strays.sort_unstable();
    let wires = world.wires;
    for (call, wire) in (0..).zip(wires) {
        world.wires[usize::from(renamed(call))] = wire;
    }
    if let Some(entry) = &mut world.shelf.entry {
        rename_claimed(&mut entry.claimed, renamed);
    }
    for calls in [&mut world.effects, &mut world.held, &mut world.harmed] {
        let old: Calls = std::mem::take(calls);
        (0..16).filter(|call| old.has(*call)).for_each(|call| calls.add(renamed(call)));
    }
    for call in [&mut world.first_effect, &mut world.told, &mut world.told_recorded] {
        *call = call.map(renamed);
    }
}

fn rename_swap(swap: &mut Swap, renamed: impl Fn(Call) -> Call + Copy) {
    swap.call = renamed(swap.call);
    rename_asked(&mut swap.asked, renamed);
    if let Change::Put(claimed) = &mut swap.change {
        rename_claimed(claimed, renamed);
    }
    match &mut swap.answer {
        Answer::Replay { answer, .. } | Answer::SupersededBy { answer, .. } => {
            *answer = renamed(*answer);
        }
        Answer::Fresh | Answer::Wait | Answer::Unknown | Answer::Recorded => {}
        Answer::Superseded | Answer::Settled => {}
    }
}

fn rename_asked(asked: &mut Asked, renamed: impl Fn(Call) -> Call) {
    match asked {
        Asked::Complete { answer, .. } => *answer = renamed(*answer),
        Asked::Resolve { answer, .. } => *answer = answer.map(renamed),
        Asked::Begin | Asked::Release | Asked::Doubt | Asked::Renew => {}
    }
}

fn rename_claimed(claimed: &mut Claimed, renamed: impl Fn(Call) -> Call) {
    claimed.token = renamed(claimed.token);
    if let Progress::Done { answer, .. } = &mut claimed.progress {
        *answer = renamed(*answer);
    }
}
