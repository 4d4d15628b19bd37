//! The engine: one store, its renewals and its waiters.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use semel_core::cocommit::Transactions;
use semel_core::protocol::{Inspect, Status};
use semel_core::{Key, Owner, Store, StoreError};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use super::turns::Turns;
use crate::drive::{Address, drive, in_time, look};
use crate::keeper::Keeper;
use crate::owner;
use crate::policy::{Guarantee, Policy};
use crate::timer;
use crate::wait::Waiters;

/// How many claims are given back at once. After a store was out of reach there may be very many,
/// and those who want to work come first.
const GIVEN_BACK_AT_ONCE: usize = 32;

/// Idempotent calls over one store.
///
/// A clone is a second handle to the same engine. Doors, routes and functions with different
/// [policies](crate::Policy) may share one: a policy belongs to a call, never to the engine.
///
/// It needs a tokio runtime from the first call on.
#[derive(Debug, Clone)]
pub struct Once(pub(crate) Arc<Engine>);

#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) owner: Option<Owner>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) tasks: TaskTracker,
    /// For claims that are being given back.
    pub(crate) given_back: Arc<Semaphore>,
    /// Where calls of the guarantee `transactional` run, and whose turn it is.
    pub(crate) transactions: Option<Arc<dyn Transactions>>,
    pub(super) turns: Arc<Turns>,
}

/// Sets up an engine.
#[derive(Debug)]
#[must_use = "call build()"]
pub struct OnceBuilder {
    store: Arc<dyn Store>,
    owner: Option<Owner>,
    policy: Arc<Policy>,
    transactions: Option<Arc<dyn Transactions>>,
}

impl Once {
    /// An engine over this store; its owner label names this host and process.
    ///
    /// One engine a process and store is enough, and best: its callers share renewals and watches.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self::builder(store).build()
    }

    /// An engine to be set up.
    pub fn builder(store: Arc<dyn Store>) -> OnceBuilder {
        let owner = Some(owner::this_process());
        OnceBuilder { store, owner, policy: Arc::default(), transactions: None }
    }

    /// An engine over the store whose transactions these are: for calls of the guarantee
    /// [`Transactional`](crate::Guarantee::Transactional), and for all others too.
    ///
    /// Such calls run through a door that hands the transaction to their work: the layer of crate
    /// `semel-http`, or [`Claim::transaction`](crate::Claim::transaction).
    pub fn with_transactions(transactions: Arc<dyn Transactions>) -> Self {
        Self::builder_with_transactions(transactions).build()
    }

    /// The same, to be set up.
    pub fn builder_with_transactions(transactions: Arc<dyn Transactions>) -> OnceBuilder {
        let plain = Self::builder(transactions.store());
        OnceBuilder { transactions: Some(transactions), ..plain }
    }

    /// Whether calls can have this guarantee here: not all stores have transactions.
    #[must_use]
    pub fn supports(&self, guarantee: Guarantee) -> bool {
        !guarantee.needs_transaction() || self.0.transactions.is_some()
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }

    /// How calls are treated that bring no policy of their own.
    #[must_use]
    pub fn default_policy(&self) -> Arc<Policy> {
        Arc::clone(&self.0.policy)
    }

    /// What became of the call under a key, whatever its operation. It changes nothing and waits
    /// for no call; one round trip. For functions, [`CallBuilder::peek`](crate::CallBuilder::peek)
    /// gives the value.
    ///
    /// # Errors
    ///
    /// The store's; `Unknown` when it gave no answer within five seconds.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, if the store does not answer at once.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves nothing behind.
    pub async fn peek(&self, key: &Key) -> Result<Status, StoreError> {
        let at = Address::of(key.clone());
        let store = &*self.0.store;
        let peek = async { drive(store, &at, &Inspect, look(store, &at).await?).await };
        Ok(in_time(pin!(peek)).await?.answer)
    }

    /// Work that must not be cut off by a shutdown: detached handlers, records to be written,
    /// claims to be given back. Doors spawn on it; [`Once::drain`] waits for it.
    #[must_use]
    pub fn tasks(&self) -> &TaskTracker {
        &self.0.tasks
    }

    /// Waits until nothing of [`Once::tasks`] is left, at most for `limit`. For a graceful
    /// shutdown, after the doors were closed.
    ///
    /// It closes nothing: what is begun meanwhile, or afterwards, goes on as ever. Calls of the
    /// function form run in their caller's own task and are waited for there; what they still had
    /// to write when their caller went away is waited for here.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, if there is anything to wait for.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it has changed nothing.
    pub async fn drain(&self, limit: Duration) -> Drained {
        self.0.tasks.close();
        match timer::within(limit, self.0.tasks.wait()).await {
            Some(()) => Drained::All,
            None => Drained::StillRunning(self.0.tasks.len()),
        }
    }

    /// How many claims are held by this engine now.
    #[must_use]
    pub fn held(&self) -> usize {
        self.0.keeper.kept()
    }

    /// How many keys are waited for in this engine now.
    #[must_use]
    pub fn watched(&self) -> usize {
        self.0.waiters.watched()
    }
}

/// How draining ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drained {
    /// Nothing is in flight.
    All,
    /// The time was up with so much still in flight. Its claims run out by themselves.
    StillRunning(usize),
}

impl OnceBuilder {
    /// Who holds the claims of this engine, for people: host and process, or free text.
    pub fn owner(self, label: &str) -> Self {
        Self { owner: Some(Owner::new(label)), ..self }
    }

    /// How calls are treated that bring no policy of their own. Default: [`Policy::default`].
    pub fn policy(self, policy: Arc<Policy>) -> Self {
        Self { policy, ..self }
    }

    /// The engine.
    #[must_use]
    pub fn build(self) -> Once {
        let store = self.store;
        Once(Arc::new(Engine {
            keeper: Keeper::new(Arc::clone(&store)),
            waiters: Waiters::new(Arc::clone(&store)),
            tasks: TaskTracker::new(),
            given_back: Arc::new(Semaphore::new(GIVEN_BACK_AT_ONCE)),
            transactions: self.transactions,
            turns: Arc::default(),
            owner: self.owner,
            policy: self.policy,
            store,
        }))
    }
}
