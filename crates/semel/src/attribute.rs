//! The attribute `#[semel::once(..)]`, with its manual.

/// Makes an `async fn` run once for each key: its body becomes the work of
/// [`Once::call`](crate::Once::call), and nothing else of it changes. Feature `macros`.
///
/// ```
/// use semel::{CallError, Once, Problem};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, thiserror::Error)]
/// enum PayError {
///     #[error("the bank gave no answer")]
///     Timeout,
///     #[error(transparent)]
///     Refused(#[from] Problem),
///     #[error("{0}")]
///     Other(String),
/// }
///
/// // How the function says that it did not run: its own error holds that too.
/// impl From<CallError<PayError>> for PayError {
///     fn from(error: CallError<PayError>) -> Self {
///         match error {
///             CallError::Work(error) => error,
///             CallError::Refused(problem) => Self::Refused(problem),
///             other => Self::Other(other.to_string()),
///         }
///     }
/// }
///
/// struct Payments {
///     once: Once,
/// }
///
/// impl Payments {
///     #[semel::once(with = self.once, key = key, operation = "payments.charge", input(order, cents), permit = permit)]
///     async fn charge(&self, key: &str, order: u64, cents: u64) -> Result<String, PayError> {
///         Ok(format!("{order} for {cents}, {}", permit.derive("psp")))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let payments = Payments { once: Once::new(semel::open("memory:").await?) };
/// let receipt = payments.charge("key-1", 8812, 1999).await?;
/// assert_eq!(payments.charge("key-1", 8812, 1999).await?, receipt);   // it did not run again
/// assert!(payments.charge("key-1", 8812, 5).await.is_err());          // another input
/// # Ok(())
/// # }
/// ```
///
/// | option | what it is | |
/// | --- | --- | --- |
/// | `with = EXPR` | the [`Once`](crate::Once) to run on; it is cloned | needed |
/// | `key = EXPR` | the client's key: what is `AsRef<str>` | needed |
/// | `operation = "NAME"` | what the function does, as in [`CallBuilder::operation`](crate::CallBuilder::operation) | needed: two functions without would take each other's answers |
/// | `input(EXPR, ..)` | what is compared, as in [`CallBuilder::input`](crate::CallBuilder::input) | nothing is compared without |
/// | `scope = EXPR` | whose key it is, a [`Scope`](crate::Scope) | nobody's in particular |
/// | `policy = EXPR` | an `Arc<Policy>` | the engine's |
/// | `failures = EXPR` | which errors stand, as in [`CallBuilder::failures`](crate::CallBuilder::failures) | none |
/// | `permit = NAME` | the name of the [`Permit`](crate::Permit) in the body | it has none |
///
/// The expressions see the arguments, and are evaluated before the body. The function returns a
/// `Result<T, E>`: `T` is recorded as [`CallBuilder::run`](crate::CallBuilder::run) says, and
/// `E: From<CallError<E>>` says how a refusal looks. It stays what it was to its callers, also in
/// an `impl` block; in a trait it goes on the implementation. What the attribute can't say (no key,
/// bytes, looking without running) the builder can.
///
/// # Errors, panics, cancel safety
///
/// As [`CallBuilder::run`](crate::CallBuilder::run).
///
/// # What does not compile
///
/// A function that is not `async`:
///
/// ```compile_fail
/// #[semel::once(with = once, key = "k", operation = "o")]
/// fn charge(once: &semel::Once) -> Result<u8, semel::Problem> { Ok(1) }
/// ```
///
/// One that can't say that it was refused:
///
/// ```compile_fail,E0277
/// #[semel::once(with = once, key = "k", operation = "o")]
/// async fn charge(once: &semel::Once) -> Result<u8, String> { Ok(1) }
/// ```
///
/// One without an operation, and one with an option that there is not:
///
/// ```compile_fail
/// # struct E; impl From<semel::CallError<E>> for E { fn from(_: semel::CallError<E>) -> E { E } }
/// #[semel::once(with = once, key = "k")]
/// async fn charge(once: &semel::Once) -> Result<u8, E> { Ok(1) }
/// ```
///
/// ```compile_fail
/// # struct E; impl From<semel::CallError<E>> for E { fn from(_: semel::CallError<E>) -> E { E } }
/// #[semel::once(with = once, key = "k", operation = "o", ttl = 5)]
/// async fn charge(once: &semel::Once) -> Result<u8, E> { Ok(1) }
/// ```
///
/// An answer that can't be recorded:
///
/// ```compile_fail,E0277
/// # struct E; impl From<semel::CallError<E>> for E { fn from(_: semel::CallError<E>) -> E { E } }
/// #[semel::once(with = once, key = "k", operation = "o")]
/// async fn charge(once: &semel::Once) -> Result<std::time::Instant, E> { unreachable!() }
/// ```
pub use semel_macros::once;
