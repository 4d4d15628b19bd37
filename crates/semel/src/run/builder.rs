//! A function call that is being put together.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use semel_core::{Fingerprint, Operation, Scope};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::answer::answer;
use super::error::CallError;
use super::failures::{AllTransient, ErrorRule, Judged};
use super::input;
use super::value::{Codec, CodecError, Raw, Typed, to_bytes};
use super::work::Run;
use crate::once::{Begun, Call, Once, Permit};
use crate::policy::{Finality, MissingKey, Policy};
use crate::problem::{Problem, ProblemKind};

/// Made once: most calls are not the first.
static UNNAMED: LazyLock<Operation> = LazyLock::new(Operation::unnamed);

/// The header that a missing key is asked for in, as far as a function knows.
const KEY_HEADER: &str = "Idempotency-Key";

/// A function call that is being put together.
///
/// `R` is what is made of errors: [`AllTransient`] unless [`failures`](CallBuilder::failures) says
/// otherwise.
#[derive(Debug)]
#[must_use = "nothing runs until run()"]
pub struct CallBuilder<'a, R = AllTransient> {
    once: &'a Once,
    key: Option<&'a str>,
    scope: Scope,
    operation: Option<&'a str>,
    policy: Arc<Policy>,
    input: Result<Option<Fingerprint>, CodecError>,
    rule: R,
}

/// A call that can be made.
pub(super) enum Prepared {
    Keyed(Call),
    /// It has no key, and need not have one.
    Keyless(Operation),
}

impl Once {
    /// A call of a function under a key, with the default policy, for nobody in particular.
    pub fn call<'a>(&'a self, key: &'a str) -> CallBuilder<'a> {
        self.call_opt(Some(key))
    }

    /// The same for a key that may be missing. What becomes of a call without one, the policy's
    /// [`missing_key`](crate::PolicyBuilder::missing_key) says: it is refused (default), or its
    /// work runs as if there were no engine, with a permit that
    /// [says so](crate::Protection::NoKey), and nothing is recorded.
    ///
    /// A key that is there and empty is not missing: it is refused as invalid.
    pub fn call_opt<'a>(&'a self, key: Option<&'a str>) -> CallBuilder<'a> {
        CallBuilder {
            once: self,
            key,
            scope: Scope::anonymous(),
            operation: None,
            policy: self.default_policy(),
            input: Ok(None),
            rule: AllTransient,
        }
    }
}

impl<'a> CallBuilder<'a> {
    /// Which errors stand: those that `judge` calls [`Final`](Finality::Final) are recorded and
    /// come back as [`CallError::Work`], equal to the first, to every repeat; the work does not
    /// run again. All others free the key, as without a rule.
    ///
    /// Final is what asking again can't change: a card that was declined. An outage is not, nor is
    /// anything of which it is not known whether it took effect. An error over which `judge`
    /// panics stands.
    ///
    /// ```
    /// # use semel::{CallError, Finality, MemoryStore, Once, timer::SystemClock};
    /// # use serde::{Deserialize, Serialize};
    /// #[derive(Debug, PartialEq, Serialize, Deserialize)]
    /// enum PayError {
    ///     Declined,
    ///     Timeout,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() {
    /// # let once = Once::new(std::sync::Arc::new(MemoryStore::new(SystemClock::new())));
    /// for _ in 0..2 {
    ///     let paid = once.call("order-1")
    ///         .failures(|error: &PayError| match error {
    ///             PayError::Declined => Finality::Final,
    ///             PayError::Timeout => Finality::Transient,
    ///         })
    ///         .run(async |_| Err::<u64, _>(PayError::Declined))   // runs once
    ///         .await;
    ///     assert!(matches!(paid, Err(CallError::Work(PayError::Declined))));
    /// }
    /// # }
    /// ```
    pub fn failures<E, F>(self, judge: F) -> CallBuilder<'a, Judged<E, F>>
    where
        E: Serialize + DeserializeOwned,
        F: Fn(&E) -> Finality,
    {
        let Self { once, key, scope, operation, policy, input, rule: AllTransient } = self;
        CallBuilder { once, key, scope, operation, policy, input, rule: Judged::by(judge) }
    }
}

impl<'a, R> CallBuilder<'a, R> {
    /// Whose key it is. Default: nobody's in particular, so that all callers share their keys.
    pub fn scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// What the function does: 1 to 1024 bytes, not `-`. The same key on another operation is
    /// refused with [`KeyReused`](ProblemKind::KeyReused).
    ///
    /// Default: none. Such a call records its outcome alone, for every other call that names none;
    /// a key that was used without an operation is refused to one with, and the reverse.
    pub fn operation(self, operation: &'a str) -> Self {
        Self { operation: Some(operation), ..self }
    }

    /// How the call is treated. Default: as the engine's policy says.
    pub fn policy(self, policy: Arc<Policy>) -> Self {
        Self { policy, ..self }
    }

    /// What the function is called with: the same key with another input is refused with
    /// [`PayloadMismatch`](ProblemKind::PayloadMismatch). Default: inputs are not compared.
    ///
    /// Inputs are compared as CBOR. The order of a map's entries makes no difference; that of a
    /// set's does, so don't give a `HashSet`.
    pub fn input(self, input: &impl Serialize) -> Self {
        let bytes = to_bytes("input", input);
        let input = bytes.map(|bytes| Some(input::fingerprint(&bytes)));
        Self { input, ..self }
    }

    /// Runs the work once, or gives the value that it had.
    ///
    /// A value is recorded as CBOR and comes back as its `Serialize` and `Deserialize` make it:
    /// equal, for all types that serde carries without loss. `0`, `false`, `""`, `[]`, `()` and
    /// `None` are values like any other; only `Some(None)` comes back as `None`, as in every form
    /// that writes an option as what is in it. If a recorded value is not of type `T`, because that
    /// has changed since, the call is refused with
    /// [`ResponseUnavailable`](ProblemKind::ResponseUnavailable); if another door recorded it, with
    /// [`KeyReused`](ProblemKind::KeyReused). The work runs again in neither case.
    ///
    /// An error is not recorded unless [`failures`](CallBuilder::failures) calls it final: the key
    /// is freed and a retry runs, unless the guarantee is at most one effect: then the call is in
    /// doubt. A panic goes on after the key was treated as the policy for exceptions says.
    ///
    /// # Errors
    ///
    /// [`CallError`].
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, and where the work panics.
    ///
    /// # Cancel safety
    ///
    /// Dropped while the work runs, the work is cut off and its key stays held until the lease
    /// ends. Dropped after the work ended, its value is recorded all the same, in the background.
    /// Dropped before the work began, it leaves nothing behind.
    pub async fn run<T, E, W>(self, work: W) -> Result<T, CallError<E>>
    where
        T: Serialize + DeserializeOwned,
        R: ErrorRule<E>,
        W: AsyncFnOnce(Permit) -> Result<T, E>,
    {
        self.run_as(Typed, work).await
    }

    /// As [`run`](CallBuilder::run), for an answer of bytes: they come back byte for byte, and no
    /// serde is asked. An answer of bytes is no value of type `Bytes`: what one of the two forms
    /// recorded, the other refuses with [`ResponseUnavailable`](ProblemKind::ResponseUnavailable).
    ///
    /// # Errors
    ///
    /// [`CallError`].
    ///
    /// # Panics
    ///
    /// As `run`.
    ///
    /// # Cancel safety
    ///
    /// As `run`.
    pub async fn run_bytes<E, W>(self, work: W) -> Result<Bytes, CallError<E>>
    where
        R: ErrorRule<E>,
        W: AsyncFnOnce(Permit) -> Result<Bytes, E>,
    {
        self.run_as(Raw, work).await
    }

    async fn run_as<T, E, C, W>(self, codec: C, work: W) -> Result<T, CallError<E>>
    where
        C: Codec<T>,
        R: ErrorRule<E>,
        W: AsyncFnOnce(Permit) -> Result<T, E>,
    {
        if self.policy.guarantee().needs_transaction() {
            return Err(CallError::NoTransaction);
        }
        let (once, prepared, rule) = self.prepare()?;
        let call = match &prepared {
            Prepared::Keyed(call) => call,
            Prepared::Keyless(operation) => {
                tracing::debug!(%operation, "a call without a key runs unprotected");
                return work(Permit::without_key(operation)).await.map_err(CallError::Work);
            }
        };
        match once.begin(call).await {
            Begun::Fresh(claim) => Run { once, call, codec, rule }.claimed(claim, work).await,
            Begun::Replay(replay) => answer(call, &codec, &rule, &replay.outcome),
            Begun::Busy(busy) => Err(CallError::Refused(busy.into())),
            Begun::Refused(problem) => Err(CallError::Refused(problem)),
            Begun::Unprotected(_) => work(Permit::unprotected(call)).await.map_err(CallError::Work),
        }
    }

    pub(super) fn prepare<E>(self) -> Result<(&'a Once, Prepared, R), CallError<E>> {
        let operation = match self.operation {
            Some(name) => Operation::new(name)?,
            None => UNNAMED.clone(),
        };
        let input = self.input?;
        let prepared = match self.key {
            Some(key) => {
                let call = Call::new(&self.policy, &self.scope, key, operation)?;
                Prepared::Keyed(match input {
                    Some(input) => call.with_fingerprint(input),
                    None => call,
                })
            }
            None if self.policy.missing_key() == MissingKey::Optional => {
                Prepared::Keyless(operation)
            }
            None => {
                let missing = ProblemKind::KeyMissing { header: KEY_HEADER.into() };
                return Err(CallError::Refused(Problem::from(missing)));
            }
        };
        Ok((self.once, prepared, self.rule))
    }
}
