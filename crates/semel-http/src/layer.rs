//! The layer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use semel::{Guarantee, InFlight, KeyAlphabet, MissingKey, Once, Operation, Policy, Preset};
use tower_layer::Layer;

use crate::door::Door;
use crate::fingerprint::Fingerprint;
use crate::service::Idempotency;
use crate::settings::{Anonymous, Failures, HttpSettings, HttpSettingsBuilder};

/// Puts [`Idempotency`] around services.
///
/// The defaults are safe: a key is required on POST, PATCH and PUT, a repeat replays the first
/// answer, another request under the same key is refused. Put it inside the layer that
/// authenticates, which puts a [`Scope`](semel::Scope) into the request's extensions, and outside
/// everything whose effect must happen once.
///
/// The setters here are for the choices that routes most often make for themselves; all others are
/// made with [`IdempotencyLayer::policy`] and [`IdempotencyLayer::settings`].
#[derive(Clone)]
#[must_use = "a layer does nothing until it is put around a service"]
pub struct IdempotencyLayer {
    pub(crate) door: Door,
}

impl IdempotencyLayer {
    /// A layer over this engine, with the engine's default policy and the default settings.
    ///
    /// # Panics
    ///
    /// When the engine can't keep its policy's guarantee ([`Once::supports`]): at set-up, not at a
    /// request.
    pub fn new(once: Once) -> Self {
        let policy = visible_ascii(&once.default_policy());
        Self { door: Door { once, policy, settings: Arc::default(), operation: None } }.supported()
    }

    /// How calls are treated. Keys are visible ASCII here, whatever the policy's rule allows.
    ///
    /// # Panics
    ///
    /// As [`IdempotencyLayer::new`].
    pub fn policy(mut self, policy: Arc<Policy>) -> Self {
        self.door.policy = visible_ascii(&policy);
        self.supported()
    }

    /// How the HTTP door treats requests.
    pub fn settings(mut self, settings: HttpSettings) -> Self {
        self.door.settings = Arc::new(settings);
        self
    }

    /// What the requests do, by a name of one's own: `orders.create`. Default: the [`Operation`]
    /// that a layer further out has put into the request's extensions, else the method and the
    /// matched route, else the method and the path.
    ///
    /// # Panics
    ///
    /// When the name is empty or longer than 1024 bytes: at set-up, not at a request.
    pub fn operation(mut self, name: &str) -> Self {
        match Operation::new(name) {
            Ok(operation) => self.door.operation = Some(operation),
            Err(error) => panic!("IdempotencyLayer::operation: {error}"),
        }
        self
    }

    /// Everything that `preset` bundles, for calls and for HTTP. Choices made after it win.
    ///
    /// # Panics
    ///
    /// When it does not go with a choice that was made before: at set-up, not at a request.
    pub fn preset(self, preset: Preset) -> Self {
        let policy = self.door.policy.to_builder().preset(preset);
        self.rebuilt(policy, |settings| settings.preset(preset))
    }

    /// Everything that `guarantee` bundles. Choices made after it win.
    ///
    /// # Panics
    ///
    /// As [`IdempotencyLayer::preset`] and [`IdempotencyLayer::new`].
    pub fn guarantee(self, guarantee: Guarantee) -> Self {
        let policy = self.door.policy.to_builder().guarantee(guarantee);
        self.rebuilt(policy, |settings| {
            if guarantee.freezes_failures() { settings.failures_by_guarantee() } else { settings }
        })
    }

    /// What to do with a request of a protected method that brings no key.
    pub fn missing_key(self, missing_key: MissingKey) -> Self {
        let policy = self.door.policy.to_builder().missing_key(missing_key);
        self.rebuilt(policy, |settings| settings)
    }

    /// What to do when the first call still runs.
    ///
    /// # Panics
    ///
    /// When the wait is zero or longer than ten years: at set-up, not at a request.
    pub fn in_flight(self, in_flight: InFlight) -> Self {
        let policy = self.door.policy.to_builder().in_flight(in_flight);
        self.rebuilt(policy, |settings| settings)
    }

    /// How long a finished call is remembered.
    ///
    /// # Panics
    ///
    /// When it is shorter than the lease or longer than ten years: at set-up, not at a request.
    pub fn time_to_live(self, time_to_live: Duration) -> Self {
        let policy = self.door.policy.to_builder().time_to_live(time_to_live);
        self.rebuilt(policy, |settings| settings)
    }

    /// What tells a repeat from another request.
    pub fn fingerprint(self, fingerprint: Fingerprint) -> Self {
        let policy = self.door.policy.to_builder();
        self.rebuilt(policy, |settings| settings.fingerprint(fingerprint))
    }

    /// Which answers are final.
    pub fn failures(self, failures: Failures) -> Self {
        let policy = self.door.policy.to_builder();
        self.rebuilt(policy, |settings| settings.failures(failures))
    }

    /// What to do with requests that nobody put a scope into.
    pub fn anonymous(self, anonymous: Anonymous) -> Self {
        let policy = self.door.policy.to_builder();
        self.rebuilt(policy, |settings| settings.anonymous(anonymous))
    }

    fn rebuilt(
        mut self,
        policy: semel::PolicyBuilder,
        change: impl FnOnce(HttpSettingsBuilder) -> HttpSettingsBuilder,
    ) -> Self {
        match policy.build() {
            Ok(policy) => self.door.policy = Arc::new(policy),
            Err(error) => panic!("IdempotencyLayer: {error}"),
        }
        match change(self.door.settings.to_builder()).build() {
            Ok(settings) => self.door.settings = Arc::new(settings),
            Err(error) => panic!("IdempotencyLayer: {error}"),
        }
        self.supported()
    }

    /// A guarantee that nothing stands behind must not be found out at the first request.
    fn supported(self) -> Self {
        let guarantee = self.door.policy.guarantee();
        assert!(
            self.door.once.supports(guarantee),
            "IdempotencyLayer: the guarantee `{guarantee}` needs an engine over a store with \
             transactions: make it by Once::with_transactions"
        );
        self
    }
}

/// The same policy with keys as HTTP fields can carry them.
fn visible_ascii(policy: &Policy) -> Arc<Policy> {
    let rule = policy.key_rule().clone().with_alphabet(KeyAlphabet::VisibleAscii);
    let policy = policy.to_builder().key_rule(rule).build();
    Arc::new(policy.expect("a sound policy stays sound under another key rule"))
}

impl<S> Layer<S> for IdempotencyLayer {
    type Service = Idempotency<S>;

    fn layer(&self, inner: S) -> Idempotency<S> {
        Idempotency::new(inner, self.door.clone())
    }
}

impl fmt::Debug for IdempotencyLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdempotencyLayer")
            .field("operation", &self.door.operation)
            .finish_non_exhaustive()
    }
}
