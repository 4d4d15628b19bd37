//! What the work calls. It answers, or refuses; an answer that is late, lost, or turned into a
//! failure on its way is one that the owner does not hear.

use crate::laws::{self, Law};
use crate::settings::{Settings, Upstream};
use crate::state::{Call, World};

/// A call arrives and has its effect, unless the upstream knows better. Gives the answer, or none
/// where the call is refused.
pub(crate) fn arrive(
    set: &Settings,
    world: &mut World,
    call: Call,
    fence: u8,
) -> (Option<Call>, Option<Law>) {
    if set.upstream == Upstream::ChecksFence {
        if fence < world.top_fence {
            return (None, None);
        }
        world.top_fence = fence;
    }
    let dedups = matches!(set.upstream, Upstream::Dedups | Upstream::DedupsAndAnswersItself);
    let first = *world.first_effect.get_or_insert(call);
    if first == call || !dedups {
        world.effects.add(call);
    }
    let answer = if set.upstream == Upstream::Dedups { first } else { call };
    (Some(answer), laws::of_effect(set, world))
}
