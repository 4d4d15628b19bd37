//! The laws, each looked at where it could break.

use crate::settings::{Guarantee, Settings};
use crate::state::{Asked, Call, Entry, Progress, Swap, Wire, World};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Law {
    I1,
    I2,
    I3,
    I4,
    I5,
    I6,
    I7,
    I8,
    I9,
    I10,
    I11,
}

/// A swap has won: it put `after` in place of `before`.
pub(crate) fn of_change(
    set: &Settings,
    world: &World,
    before: Entry,
    after: Option<Entry>,
    swap: &Swap,
) -> Option<Law> {
    let was = before.claimed;
    let own = swap.call == was.token;
    let resolves = matches!(swap.asked, Asked::Resolve { .. });
    let takes_over =
        swap.asked == Asked::Begin && set.guarantee != Guarantee::AtMostOnce && !before.live;
    match was.progress {
        Progress::Done { answer, whole } => {
            let now = after.map(|entry| (entry.claimed.token, entry.claimed.progress));
            let kept = now == Some((was.token, was.progress));
            let rest = now == Some((was.token, Progress::Done { answer, whole: true }));
            (!kept && (whole || !rest)).then_some(Law::I2)
        }
        Progress::Held => {
            let wire = world.wires[usize::from(was.token)];
            let sent = wire != Wire::Quiet || world.effects.has(was.token);
            let may = own || (!before.live && resolves) || takes_over;
            let freed = after.is_none() && !resolves && sent;
            match set.guarantee {
                _ if !may => Some(Law::I5),
                Guarantee::AtMostOnce if freed => Some(Law::I7),
                _ => None,
            }
        }
        Progress::Doubt => {
            let completes = own && matches!(swap.asked, Asked::Complete { .. });
            (!completes && !resolves && !takes_over).then_some(Law::I9)
        }
    }
}

/// A key was given this version.
pub(crate) fn of_version(world: &mut World, version: u8) -> Option<Law> {
    let rises = version > world.top_version;
    world.top_version = world.top_version.max(version);
    (!rises).then_some(Law::I6)
}

/// An effect has taken place.
pub(crate) fn of_effect(set: &Settings, world: &World) -> Option<Law> {
    let counted = match set.guarantee {
        Guarantee::Retryable => world.effects.without(world.harmed),
        Guarantee::AtMostOnce | Guarantee::Cooperative => world.effects,
    };
    (counted.count() > 1).then_some(Law::I1)
}

/// An answer goes to a client; `recorded` if it rests on a record.
pub(crate) fn of_answer(
    set: &Settings,
    world: &mut World,
    answer: Call,
    recorded: bool,
) -> Option<Law> {
    if !world.effects.has(answer) {
        return Some(Law::I4);
    }
    let told = *world.told.get_or_insert(answer);
    let told_recorded = if recorded { *world.told_recorded.get_or_insert(answer) } else { answer };
    let agrees = match set.guarantee {
        Guarantee::Retryable => told_recorded == answer,
        Guarantee::AtMostOnce | Guarantee::Cooperative => told == answer,
    };
    (!agrees).then_some(Law::I3)
}
