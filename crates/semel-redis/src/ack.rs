//! How many replicas must have a write before it counts.

use std::num::NonZeroU8;

/// How many replicas must acknowledge a write.
///
/// Redis replicates after it has answered: a fail-over may lose what was acknowledged last. With
/// [`Ack::Replicas`] or [`Ack::All`] a write is followed by `WAIT` in the same round trip, and one
/// that too few replicas have is not reported as applied: a claim is taken back, and the call ends
/// with `Unknown`. That is no consensus: a replica that acknowledged may still not be the one that
/// is promoted, unless it is `All`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Ack {
    /// None: what a fail-over loses is lost.
    #[default]
    None,
    /// This many.
    Replicas(NonZeroU8),
    /// All that the primary has had since the store connected to it, and at least one. A replica
    /// that is taken away for good makes writes fall short until the store reconnects.
    All,
}

impl Ack {
    /// How many that is, of so many known ones; none when nothing is waited for.
    pub(crate) fn wanted(self, known: u32) -> Option<u32> {
        match self {
            Self::None => None,
            Self::Replicas(count) => Some(u32::from(count.get())),
            Self::All => Some(known.max(1)),
        }
    }

    /// From `none`, `all` or a number.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "none" => Some(Self::None),
            "all" => Some(Self::All),
            number => number.parse().ok().map(Self::Replicas),
        }
    }
}
