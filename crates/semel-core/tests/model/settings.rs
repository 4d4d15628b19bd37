//! What is checked: a guarantee, the world it is put into, and the bounds.

use semel_core::protocol::InDoubt;

/// Whose laws hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guarantee {
    Retryable,
    AtMostOnce,
    Cooperative,
}

/// What an owner does whose work failed, panicked or did not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFailure {
    Release,
    Doubt,
}

/// What the work calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Upstream {
    /// Every call that arrives has an effect.
    Plain,
    /// It dedups by key and gives its first answer again.
    Dedups,
    /// It refuses a smaller fence than the last one, and does nothing else.
    ChecksFence,
    /// It dedups, but answers as if the present call had been the one.
    DedupsAndAnswersItself,
}

/// How the owner goes about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Careful,
    /// It works although the store never told it that the claim is its own.
    RunsOnSilence,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) guarantee: Guarantee,
    pub(crate) in_doubt: InDoubt,
    pub(crate) on_failure: OnFailure,
    pub(crate) upstream: Upstream,
    pub(crate) owner: Owner,
    /// Versions begin anew once a key was freed.
    pub(crate) versions_restart: bool,
    // ----- bounds -----
    pub(crate) owners: u8,
    /// Calls that each owner makes, one after the other.
    pub(crate) calls: u8,
    /// Requests on the wires that nobody waits for any more, at one time.
    pub(crate) strays: usize,
    /// Renewals that each call may send.
    pub(crate) renewals: u8,
    /// Resolutions by an operator.
    pub(crate) resolutions: u8,
    /// An outcome is recorded in part first, as for a streamed answer.
    pub(crate) streams: bool,
    /// Owners are named anew in each state, in a fixed order.
    pub(crate) in_order: bool,
}

impl Settings {
    const SMALL: Self = Self {
        guarantee: Guarantee::Retryable,
        in_doubt: InDoubt::Rerun,
        on_failure: OnFailure::Release,
        upstream: Upstream::Plain,
        owner: Owner::Careful,
        versions_restart: false,
        owners: 2,
        calls: 1,
        strays: 1,
        renewals: 0,
        resolutions: 0,
        streams: false,
        in_order: true,
    };

    /// Whether all that matters about a version is if it is the present one.
    pub(crate) fn versions_are_only_compared(&self) -> bool {
        !self.versions_restart && self.upstream != Upstream::ChecksFence
    }

    pub(crate) const fn retryable() -> Self {
        Self::SMALL
    }

    pub(crate) const fn at_most_once() -> Self {
        Self {
            guarantee: Guarantee::AtMostOnce,
            in_doubt: InDoubt::Reject,
            on_failure: OnFailure::Doubt,
            ..Self::SMALL
        }
    }

    pub(crate) const fn cooperative() -> Self {
        Self { guarantee: Guarantee::Cooperative, upstream: Upstream::Dedups, ..Self::SMALL }
    }
}
