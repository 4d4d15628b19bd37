//! The stages, and whether one is there.

use std::fmt;

use tower_layer::Layer;

/// A stage that a request passes, in the order in which [`Stage::ALL`] has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Who calls? What comes without a credential that holds is refused here.
    Authenticate,
    /// For which tenant? Puts the [`Scope`](semel::Scope) into the request's extensions, unless
    /// authentication has done so.
    Tenant,
    /// May they?
    Authorise,
    /// Is it a request that could be carried out at all?
    Validate,
    /// Did it run already? [`IdempotencyLayer`](crate::IdempotencyLayer).
    Idempotency,
    /// Begins a transaction before the handler and commits it after: a commit that fails is an
    /// answer that fails.
    Transaction,
}

impl Stage {
    /// Every stage, from the outermost to the innermost.
    pub const ALL: [Self; 6] = [
        Self::Authenticate,
        Self::Tenant,
        Self::Authorise,
        Self::Validate,
        Self::Idempotency,
        Self::Transaction,
    ];
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Authenticate => "authenticate",
            Self::Tenant => "tenant",
            Self::Authorise => "authorise",
            Self::Validate => "validate",
            Self::Idempotency => "idempotency",
            Self::Transaction => "transaction",
        })
    }
}

// ===== Slots =====

/// The place of a stage that is not there: a layer that puts nothing around a service.
#[derive(Debug, Clone, Copy, Default)]
pub struct Absent;

/// The place of a stage that is there.
#[derive(Debug, Clone, Copy)]
pub struct Present<L>(pub(super) L);

impl<S> Layer<S> for Absent {
    type Service = S;

    fn layer(&self, inner: S) -> S {
        inner
    }
}

impl<S, L: Layer<S>> Layer<S> for Present<L> {
    type Service = L::Service;

    fn layer(&self, inner: S) -> L::Service {
        self.0.layer(inner)
    }
}

/// Whether a stage is there.
pub(super) trait Slot {
    const IS_THERE: bool;
}

impl Slot for Absent {
    const IS_THERE: bool = false;
}

impl<L> Slot for Present<L> {
    const IS_THERE: bool = true;
}
