//! Retries made harmless: calls that run once, and whose answer is given out again.
//!
//! A reply gets lost, a client times out, a queue delivers twice: whoever asked asks again, and the
//! work is done again. [`Once`] does it once. The first call under a key runs and its outcome is
//! recorded; every later call under that key gets the recorded outcome, in this process or in
//! another one, until the record is forgotten.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use semel::{CallError, Guarantee, InFlight, Once, Policy, Scope};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize)]
//! struct Payment {
//!     order: u64,
//!     cents: u64,
//! }
//!
//! #[derive(Debug, PartialEq, Serialize, Deserialize)]
//! struct Receipt {
//!     number: String,
//! }
//!
//! # #[derive(Debug)] struct Timeout;
//! async fn charge(payment: &Payment, idempotency_key: &str) -> Result<Receipt, Timeout> {
//!     // Calls whoever moves the money, and hands the key down to it.
//! #   Ok(Receipt { number: format!("{idempotency_key}-{}-{}", payment.order, payment.cents) })
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // One store for all who must agree: `sqlite:payments.db` for the processes of one machine.
//! let store = semel::open("memory:").await?;
//!
//! // A policy says how calls are treated. Without one, the defaults are safe.
//! let policy = Policy::builder()
//!     .guarantee(Guarantee::AtMostOnce)
//!     .in_flight(InFlight::Wait(Duration::from_secs(10)))
//!     .build()?;
//! let once = Once::builder(store).policy(Arc::new(policy)).build();
//!
//! let payment = Payment { order: 8812, cents: 1999 };
//! let pay = async || {
//!     once.call("order-8812")                       // the key, which the client chose
//!         .scope(Scope::new("acme", "alice")?)      // whose key it is, as you authenticated it
//!         .operation("payments.charge")             // what it does
//!         .input(&payment)                          // the same key with another input is refused
//!         .run(async |permit| charge(&payment, &permit.derive("psp")).await)
//!         .await
//!         .map_err(|error| match error {
//!             CallError::Work(timeout) => format!("the work failed: {timeout:?}"),
//!             CallError::Refused(problem) => format!("it did not run: {problem}"),
//!             other => other.to_string(),
//!         })
//! #       .map_err(Box::<dyn std::error::Error>::from)
//! };
//! let receipt = pay().await?;
//! assert_eq!(pay().await?, receipt);                // a repeat: `charge` did not run again
//! # Ok(())
//! # }
//! ```
//!
//! # When, and when not
//!
//! Use it for work that must not be done twice and whose callers may ask twice: payments, orders,
//! mails, jobs, messages. The caller chooses the key, before its first try, and sends the same one
//! with each retry; that is the one thing that nobody can do for it.
//!
//! Don't use it
//!
//! * for reading, or for what is the same when it is done again: that needs no protection;
//! * as a cache: a record is kept as long as its policy says and never thrown out for room. A
//!   store that is full refuses new calls. A [`Cache`] may stand in the same store;
//! * as a lock: a key that was used stays used. [`Locks`] are for that;
//! * where callers can't keep a key over a retry: a fresh key each time is a new call each time.
//!
//! HTTP services take the layer of crate `semel-http`, which finds key, scope, operation and
//! fingerprint in the request, and records responses as they are.
//!
//! # What of a function is recorded
//!
//! Its value, as CBOR by serde ([`run`](CallBuilder::run)), or its bytes as they are
//! ([`run_bytes`](CallBuilder::run_bytes)). Its error only where a rule calls it final
//! ([`failures`](CallBuilder::failures)): a card that was declined stays declined, while after a
//! timeout a retry may run. What is recorded comes back equal, and what is not of the type that is
//! asked for is refused as [unavailable](ProblemKind::ResponseUnavailable), what another door
//! recorded as [reused](ProblemKind::KeyReused); neither runs again. A call
//! may have no operation, and is then bound to none; it may have no key, where the policy says so
//! ([`Once::call_opt`]), and is then not protected. [`peek`](CallBuilder::peek) and
//! [`attach`](CallBuilder::attach) tell what became of one. `docs/functions.md` has all of it.
//!
//! # What is promised
//!
//! "Exactly once" does not exist without saying how. A [`Guarantee`] names a promise together with
//! the condition it holds under:
//!
//! | guarantee | owner gone without a word | work failed or panicked | promise | condition |
//! | --- | --- | --- | --- | --- |
//! | [`Retryable`](Guarantee::Retryable) (default) | the next caller takes over once the lease has ended | the key is free | one effect as long as a failed or crashed attempt left none behind | the work rolls back when it fails |
//! | [`AtMostOnce`](Guarantee::AtMostOnce) | in doubt, never taken over | in doubt | at most one effect; every retry gets the first answer, "in progress", or "outcome unknown" | the store keeps what it acknowledged |
//! | [`Cooperative`](Guarantee::Cooperative) | the next caller takes over, with a higher fence | the key is free | one effect, one answer | what the work calls dedups by the key that it is handed ([`Permit::derive`], [`Permit::fence`]) |
//! | [`Transactional`](Guarantee::Transactional) | its claim is rolled back with its rows | rolled back | exactly one effect | record and rows commit in one transaction of the store ([`Once::with_transactions`]) |
//!
//! Whatever the guarantee:
//!
//! * of calls that begin together, one runs; the others wait for its answer or are told that it is
//!   in progress, as [`InFlight`] says;
//! * an outcome is recorded by whoever holds the claim, and by nobody else: an owner that comes
//!   back late changes nothing, and is told what stands in its place ([`Finished::Superseded`]);
//! * a store that can't be reached is never taken for a free key: the work does not run, unless the
//!   policy says so ([`StoreDown`]), and then the answer says so;
//! * a record that can't be read is never taken for an absent one;
//! * no log, metric or error holds a client's key, a value or a token.
//!
//! # How a call goes
//!
//! ```text
//!             begin                    complete
//!   absent ----------> held(lease) -------------> done(outcome) --keep ends--> absent
//!      ^                  |  |  renew
//!      |   release        |  +--------> held
//!      +------------------+
//!                         |  lease ends, or doubt
//!                         v
//!                      in doubt --(rerun | reject | reconcile)--> held / stays / done
//! ```
//!
//! A first call costs two round trips to the store, a replay one. While the work runs its claim is
//! renewed at a third of its lease, for [`max_execution`](PolicyBuilder::max_execution) at most; so
//! a crash blocks its key for one lease (a minute), and work may take longer than that. The claim's
//! owner judges its lease on its own monotonic clock, from before it asked for it, and learns
//! without any help of the store when it is over ([`Permit::lost`]). An outcome that the store
//! does not take is tried again in the background; [`Once::drain`] waits for that at shutdown.
//!
//! # Map
//!
//! * [`Once`]: the engine over one store. [`Once::call`] is the function form, a [`CallBuilder`];
//!   [`Once::begin`] with [`Claim`] is what doors are built from; [`Once::attach`] and
//!   [`Once::peek`] only look.
//! * [`Permit`]: what the work of a call knows: its fence, keys for calls further down, whether its
//!   claim was lost, and by what it is protected.
//! * [`inbox`]: messages that are handled once, however often they are delivered.
//! * [`Locks`]: who may work on a resource, for how long, and how they learn that it is over.
//! * [`Gate`]: the other half of a lock, which refuses a holder that comes late: [`StoreGate`],
//!   [`FileGate`], and those of the crates of the stores and of `semel-http`.
//! * [`cache`]: values with a lifetime, in the same store.
//! * [`Policy`]: every choice, checked when it is built. [`Guarantee`] and [`Preset`] are bundles.
//! * [`Problem`]: what a caller is told, with a [`Code`] and texts in two languages.
//! * [`KeyRule`]: what clients' keys must look like.
//! * [`open`]: a store from its URL. [`core`] has the contract that every store keeps, and wrappers
//!   that seal, prefix and observe stores.
//! * [`timer`]: the only clock, which tests can pause.
//!
//! Everything here needs a tokio runtime with time enabled.
//!
//! # Features
//!
//! | feature | what |
//! | --- | --- |
//! | `sqlite` (default) | the store `sqlite:FILE` |
//! | `redis` | the stores `redis:`, `rediss:`, `redis-sentinel:` and `redis-cluster:` |
//! | `postgres` | the store `postgres:` |
//! | `macros` | the attribute `#[semel::once(..)]` for functions |

#[cfg(feature = "macros")]
mod attribute;
pub mod cache;
mod client_key;
pub mod door;
mod drive;
mod false_hints;
mod gate;
pub mod inbox;
mod keeper;
mod lock;
mod once;
mod open;
mod owner;
mod policy;
mod problem;
mod run;
mod sweep;
pub mod timer;
mod wait;

#[cfg(feature = "macros")]
pub use attribute::once;
pub use cache::{Cache, Lifetime};
pub use client_key::{
    ClientKey, KeyAlphabet, KeyFormat, KeyFormatError, KeyPattern, KeyPatternError, KeyRejected,
    KeyRule, MaxKeyChars, MaxKeyCharsError, UnixMillis,
};
pub use gate::{FileGate, FilePass, FilePassage, Gate, StoreGate};
pub use lock::{
    AcquiredWithin, AllBuilder, Election, Extended, HeldBy, Led, ListedLock, LockBuilder,
    LockError, LockGuard, LockLoss, LockPage, LockSet, LockSettingError, LockTicket, LockView,
    Locks, LocksShutdown, ReleaseOutcome, ResumeBuilder, Resumed, ScopeError, TryAcquired,
    WorkerId, WorkerIdBuilder,
};
pub use once::{
    Attached, Begun, Busy, Call, Claim, Drained, Finished, GivenUp, LossReason, NotCommitted, Once,
    OnceBuilder, Permit, Protection, Replay, Unprotected,
};
pub use open::{OpenError, open, open_with_transactions, preflight};
pub use policy::{
    BindOperation, DetectExpired, Doubtful, Finality, Guarantee, InDoubtPolicy, InFlight,
    KeyStorage, MissingKey, OnException, Policy, PolicyBuilder, PolicyError, Preset, Reconcile,
    Reconciled, RetryAfter, StoreDown, UnknownWord,
};
pub use problem::{
    ByteCount, Code, ErrorStatus, GrpcStatus, KeyFault, Language, Param, ParamValue, Problem,
    ProblemKind, SameKey, rfc3339,
};
pub use run::{
    AllTransient, CallBuilder, CallError, CallStatus, CodecError, ErrorRule, FinishAnyway, Judged,
    RecordedError,
};
pub use semel_core as core;
pub use semel_core::cocommit::{TransactionHandle, Transactions};
pub use semel_core::lock::{LockKind, Mode, Permits, PermitsError, Reason};
pub use semel_core::protocol::lock::{
    ForceHow, ForceTarget, Forced, HolderStatus, LockStatus, Occupant, StageStatus, WaiterStatus,
};
pub use semel_core::{
    Extent, Fence, FenceError, Fingerprint, Form, GateAnswer, GateError, Key, MemoryLimits,
    MemoryStore, Operation, Outcome, Owner, PartDigest, PartHasher, Scope, Store, StoreError,
    Token,
};
