//! A function call that is being put together.

use std::sync::{Arc, LazyLock};

use semel_core::{Fingerprint, Operation, Scope};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::CallError;
use super::input;
use super::value::{CodecError, from_outcome, to_bytes};
use super::work::run_claimed;
use crate::once::{Begun, Call, Once, Permit};
use crate::policy::Policy;

/// The operation of a call that names none.
static UNNAMED: LazyLock<Operation> =
    LazyLock::new(|| Operation::new("call").expect("a name that is short enough"));

/// A function call that is being put together.
#[derive(Debug)]
#[must_use = "nothing runs until run()"]
pub struct CallBuilder<'a> {
    once: &'a Once,
    key: &'a str,
    scope: Scope,
    operation: Option<&'a str>,
    policy: Arc<Policy>,
    input: Result<Option<Fingerprint>, CodecError>,
}

impl Once {
    /// A call of a function under a key, with the default policy, for nobody in particular.
    pub fn call<'a>(&'a self, key: &'a str) -> CallBuilder<'a> {
        CallBuilder {
            once: self,
            key,
            scope: Scope::anonymous(),
            operation: None,
            policy: self.default_policy(),
            input: Ok(None),
        }
    }
}

impl<'a> CallBuilder<'a> {
    /// Whose key it is. Default: nobody's in particular, so that all callers share their keys.
    pub fn scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// What the function does: 1 to 1024 bytes. The same key on another operation is refused.
    /// Default: `call`.
    pub const fn operation(mut self, operation: &'a str) -> Self {
        self.operation = Some(operation);
        self
    }

    /// How the call is treated. Default: as the engine's policy says.
    pub fn policy(self, policy: Arc<Policy>) -> Self {
        Self { policy, ..self }
    }

    /// What the function is called with: the same key with another input is refused. Default:
    /// inputs are not compared.
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
    /// equal, for all types that serde carries without loss. (`Some(None)` comes back as `None`.)
    /// If a recorded value is not of type `T`, because that has changed since, the call is refused
    /// with [`ResponseUnavailable`](crate::ProblemKind::ResponseUnavailable), and the work does not
    /// run again.
    ///
    /// An error is not recorded: the key is freed and a retry runs, unless the guarantee is at
    /// most one effect: then the call is in doubt. An error that is an answer for good, such as a
    /// card that was declined, belongs into the value: `Ok(Err(declined))`. A panic goes on after
    /// the key was treated as the policy for exceptions says.
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
        W: AsyncFnOnce(Permit) -> Result<T, E>,
    {
        let once = self.once;
        if self.policy.guarantee().needs_transaction() {
            return Err(CallError::NoTransaction);
        }
        let call = self.build()?;
        match once.begin(&call).await {
            Begun::Fresh(claim) => run_claimed(once, &call, claim, work).await,
            Begun::Replay(replay) => Ok(from_outcome(&replay.outcome)?),
            Begun::Busy(busy) => Err(CallError::Refused(busy.into())),
            Begun::Refused(problem) => Err(CallError::Refused(problem)),
            Begun::Unprotected(_) => {
                work(Permit::unprotected(&call)).await.map_err(CallError::Work)
            }
        }
    }

    fn build<E>(self) -> Result<Call, CallError<E>> {
        let operation = match self.operation {
            Some(name) => Operation::new(name)?,
            None => UNNAMED.clone(),
        };
        let call = Call::new(&self.policy, &self.scope, self.key, operation)?;
        Ok(match self.input? {
            Some(input) => call.with_fingerprint(input),
            None => call,
        })
    }
}
