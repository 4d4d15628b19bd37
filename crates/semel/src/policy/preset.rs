//! Bundles that behave as a known system or protocol does.

use super::{BindOperation, InFlight, MissingKey, OnException, PolicyBuilder};

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
    pub(super) fn apply(self, builder: PolicyBuilder) -> PolicyBuilder {
        match self {
            Self::Default => builder,
            Self::Ietf => builder.in_flight(InFlight::Reject),
            Self::Rest => builder.bind_operation(BindOperation::Separate),
            Self::Xihan => builder.missing_key(MissingKey::Optional).in_flight(InFlight::Reject),
            Self::Stripe => builder
                .missing_key(MissingKey::Optional)
                .in_flight(InFlight::Reject)
                .on_exception(OnException::Record),
        }
    }
}
