//! Bundles that behave as a known system or protocol does.

use super::{BindOperation, InFlight, MissingKey, PolicyBuilder};

/// A named bundle of choices. Each can still be set on its own afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Preset {
    /// Semel's own defaults.
    #[default]
    Default,
    /// The header protocol of REST middlewares.
    Rest,
    /// A framework's pipeline stage: the key travels in baggage and is optional.
    Xihan,
    /// As the payment API of that name answers.
    Stripe,
    /// The IETF draft, version 07.
    Ietf,
}

impl Preset {
    /// Each sets all that its row of the table says, so that the last one named holds.
    pub(super) fn apply(self, builder: PolicyBuilder) -> PolicyBuilder {
        builder
            .missing_key(match self {
                Self::Default | Self::Rest | Self::Ietf => MissingKey::Require,
                Self::Xihan | Self::Stripe => MissingKey::Optional,
            })
            .in_flight(match self {
                Self::Default | Self::Rest => InFlight::default(),
                Self::Xihan | Self::Stripe | Self::Ietf => InFlight::Reject,
            })
            .bind_operation(match self {
                Self::Rest => BindOperation::Separate,
                Self::Default | Self::Xihan | Self::Stripe | Self::Ietf => BindOperation::Reject,
            })
            .exceptions_recorded(matches!(self, Self::Stripe))
    }
}
