//! How a server's tools are protected.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use semel::{Guarantee, InFlight, MissingKey, Once, Operation, Policy, PolicyBuilder, Scope};
use semel_http::{Anonymous, Fingerprint, KeySources, OnDisconnect};

use crate::choices::{Failures, Tools};
use crate::door::Door;

/// How the tools of a server are protected; [`around`](Self::around) puts it around its
/// handler.
///
/// The defaults are safe, and keep every client working: all tools but those that only read are
/// protected, a call that brings a key runs once, one that brings none passes. Sessions may share
/// one of these; a clone is a second handle to the same engine.
///
/// ```
/// # use rmcp::ServerHandler;
/// use semel::{MissingKey, Once};
/// use semel_mcp::{Failures, IdempotentTools};
///
/// # fn tools(once: Once, handler: impl ServerHandler) -> impl ServerHandler {
/// IdempotentTools::new(once)
///     .operation("create_order", "orders.create")
///     .key_required_for(["create_payment"])
///     .failures(Failures::Results)
///     .around(handler)
/// # }
/// ```
#[derive(Clone)]
#[must_use = "nothing is protected until it is put around a handler"]
pub struct IdempotentTools {
    pub(crate) door: Door,
}

impl IdempotentTools {
    /// Over this engine, with the engine's default policy, except that keys are optional: few MCP
    /// clients send any. [`IdempotentTools::missing_key`] and
    /// [`IdempotentTools::key_required_for`] ask for them.
    ///
    /// # Panics
    ///
    /// When the engine can't keep its policy's guarantee ([`Once::supports`]): at set-up, not at a
    /// call.
    pub fn new(once: Once) -> Self {
        let policy = once.default_policy();
        let door = Door {
            once,
            policy,
            tools: Tools::default(),
            key_required: BTreeSet::new(),
            operations: BTreeMap::new(),
            sources: KeySources::default(),
            scope: None,
            anonymous: Anonymous::default(),
            fingerprint: Fingerprint::default(),
            failures: None,
            on_cancel: OnDisconnect::default(),
            max_arguments: 1 << 20,
            max_cached_result: 256 << 10,
            replay_marker: None,
        };
        Self { door }.missing_key(MissingKey::Optional)
    }

    // ===== Calls =====

    /// How calls are treated, missing keys included: a [`Policy`] asks for keys unless it says
    /// otherwise.
    ///
    /// # Panics
    ///
    /// As [`IdempotentTools::new`].
    pub fn policy(mut self, policy: Arc<Policy>) -> Self {
        self.door.policy = policy;
        self.supported()
    }

    /// Everything that `guarantee` bundles. Choices made after it win.
    ///
    /// # Panics
    ///
    /// When it does not go with a choice that was made before, and as [`IdempotentTools::new`].
    pub fn guarantee(mut self, guarantee: Guarantee) -> Self {
        if guarantee.freezes_failures() {
            self.door.failures = None;
        }
        self.rebuilt(|policy| policy.guarantee(guarantee))
    }

    /// What to do with a call of a protected tool that brings no key. Default: it passes.
    pub fn missing_key(self, missing_key: MissingKey) -> Self {
        self.rebuilt(|policy| policy.missing_key(missing_key))
    }

    /// What to do when the first call still runs.
    ///
    /// # Panics
    ///
    /// When the wait is zero or longer than ten years: at set-up, not at a call.
    pub fn in_flight(self, in_flight: InFlight) -> Self {
        self.rebuilt(|policy| policy.in_flight(in_flight))
    }

    /// How long a finished call is remembered.
    ///
    /// # Panics
    ///
    /// When it is shorter than the lease or longer than ten years: at set-up, not at a call.
    pub fn time_to_live(self, time_to_live: Duration) -> Self {
        self.rebuilt(|policy| policy.time_to_live(time_to_live))
    }

    // ===== Tools =====

    /// Which tools are protected. Default: all but those that only read.
    pub fn tools(mut self, tools: Tools) -> Self {
        self.door.tools = tools;
        self
    }

    /// Tools that never run without a key, whatever is said of missing keys: those whose second run
    /// would cost somebody. They have to be protected ones.
    pub fn key_required_for<'a>(mut self, tools: impl IntoIterator<Item = &'a str>) -> Self {
        self.door.key_required.extend(tools.into_iter().map(Arc::<str>::from));
        self
    }

    /// What a tool does, by a name of one's own: `orders.create`. Default: `tools/call/` and the
    /// tool's name. Two tools may share one name: then they share their keys, and the first of
    /// them decides what is recorded. A tool and another door's operation may share one too: a key
    /// that was used through one is then refused by the other (`key_reused`).
    ///
    /// # Panics
    ///
    /// When the name is empty or longer than 1024 bytes: at set-up, not at a call.
    pub fn operation(mut self, tool: &str, name: &str) -> Self {
        match Operation::new(name) {
            Ok(operation) => drop(self.door.operations.insert(tool.into(), operation)),
            Err(error) => panic!("IdempotentTools::operation: {error}"),
        }
        self
    }

    // ===== Requests =====

    /// Where a key is read from over HTTP, beside `_meta`. Default: header `Idempotency-Key`, then
    /// baggage member `xihan.idempotency-key`. The member's name is also the key's name in `_meta`.
    pub fn sources(mut self, sources: KeySources) -> Self {
        self.door.sources = sources;
        self
    }

    /// Whose call it is, by a rule of one's own. Default: the [`Scope`] in the extensions of the
    /// message, or of the HTTP request that brought it.
    pub fn scope(
        mut self,
        scope: impl Fn(&RequestContext<RoleServer>) -> Option<Scope> + Send + Sync + 'static,
    ) -> Self {
        self.door.scope = Some(Arc::new(scope));
        self
    }

    /// What to do with calls that have no scope. Default: fail them. A server for one person, over
    /// stdio, takes [`Anonymous::Shared`].
    pub fn anonymous(mut self, anonymous: Anonymous) -> Self {
        self.door.anonymous = anonymous;
        self
    }

    /// What tells a repeat from another call. Default, [`Fingerprint::Request`]: the tool's name
    /// and its arguments, whatever the order of their members. [`Fingerprint::Body`] are the
    /// arguments alone.
    pub fn fingerprint(mut self, fingerprint: Fingerprint) -> Self {
        self.door.fingerprint = fingerprint;
        self
    }

    /// The largest arguments, in bytes of JSON. Default: 1 MiB.
    pub const fn max_arguments(mut self, bytes: usize) -> Self {
        self.door.max_arguments = bytes;
        self
    }

    // ===== Answers =====

    /// Which answers are final. Default: results that don't say `isError`; everything under
    /// [`Guarantee::AtMostOnce`].
    pub fn failures(mut self, failures: Failures) -> Self {
        self.door.failures = Some(failures);
        self
    }

    /// What becomes of the tool when its call is called off, by `notifications/cancelled` or by a
    /// connection that ends. Default: it runs on and is recorded.
    pub const fn on_cancel(mut self, on_cancel: OnDisconnect) -> Self {
        self.door.on_cancel = on_cancel;
        self
    }

    /// The largest answer that is kept, in bytes of JSON. Default: 256 KiB. Of a larger one only
    /// that the work was done is recorded: a repeat gets `response_unavailable`.
    pub const fn max_cached_result(mut self, bytes: usize) -> Self {
        self.door.max_cached_result = bytes;
        self
    }

    /// A name in the `_meta` of a result that marks a replay, with the value `true`. Default: none,
    /// so that a repeat is the first answer byte for byte.
    pub fn replay_marker(mut self, name: &str) -> Self {
        self.door.replay_marker = Some(name.into());
        self
    }

    fn rebuilt(mut self, change: impl FnOnce(PolicyBuilder) -> PolicyBuilder) -> Self {
        match change(self.door.policy.to_builder()).build() {
            Ok(policy) => self.door.policy = Arc::new(policy),
            Err(error) => panic!("IdempotentTools: {error}"),
        }
        self.supported()
    }

    /// A guarantee that nothing stands behind must not be found out at the first call.
    fn supported(self) -> Self {
        let guarantee = self.door.policy.guarantee();
        assert!(
            self.door.once.supports(guarantee),
            "IdempotentTools: the guarantee `{guarantee}` needs an engine over a store with \
             transactions: make it by Once::with_transactions"
        );
        self
    }
}

impl fmt::Debug for IdempotentTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdempotentTools").field("tools", &self.door.tools).finish_non_exhaustive()
    }
}
