//! The layer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderName;
use semel::{Form, Guarantee, InFlight, MissingKey, Once, Policy, Preset};
use semel_http::{
    Anonymous, Failures, Fingerprint, HttpSettings, HttpSettingsBuilder, IdempotencyLayer,
    KeySources, Methods, OnDisconnect,
};
use tower_layer::Layer;

use crate::answer::OUTCOME;
use crate::crossing::Crossings;
use crate::failures::GrpcFailures;
use crate::fingerprint::{self, GrpcFingerprint};
use crate::methods::{MethodList, OtherMethods};
use crate::presented::Presented;
use crate::service::GrpcIdempotency;

/// Puts [`GrpcIdempotency`] around the services of a gRPC server.
///
/// It knows the methods that it is told of: [`unary`](Self::unary) ones are protected, and those
/// that [`pass`](Self::pass) go through untouched. Put it inside the layer that authenticates, which
/// puts a [`Scope`](semel::Scope) into the request's extensions, and outside everything whose effect
/// must happen once.
///
/// All mistakes of set-up are told at set-up, by a panic that names what is wrong.
#[derive(Clone)]
#[must_use = "a layer does nothing until it is put around a service"]
pub struct GrpcIdempotencyLayer {
    calls: IdempotencyLayer,
    guarantee: Guarantee,
    settings: HttpSettingsBuilder,
    max_cached_reply: usize,
    replayed_metadata: Vec<HeaderName>,
    failures: Option<GrpcFailures>,
    fingerprint: GrpcFingerprint,
    methods: MethodList,
}

impl GrpcIdempotencyLayer {
    /// A layer over this engine, with the engine's default policy, which knows no method yet.
    ///
    /// # Panics
    ///
    /// When the engine can't keep its policy's guarantee ([`Once::supports`]).
    pub fn new(once: Once) -> Self {
        Self {
            guarantee: once.default_policy().guarantee(),
            calls: IdempotencyLayer::new(once),
            settings: HttpSettings::builder(),
            max_cached_reply: 256 << 10,
            replayed_metadata: Vec::new(),
            failures: None,
            fingerprint: GrpcFingerprint::default(),
            methods: MethodList::default(),
        }
    }

    // ===== methods =====

    /// Protects a unary method, `package.Service/Method`. Its name is what its calls do, their
    /// operation.
    ///
    /// # Panics
    ///
    /// When it is no name of a method, or the method is named otherwise already.
    pub fn unary(self, method: &str) -> Self {
        let operation = method.strip_prefix('/').unwrap_or(method).to_owned();
        self.unary_as(method, &operation)
    }

    /// Protects a unary method under an operation of one's own, such as `orders.create`: that of
    /// another door, so that a key stands for one order whichever door it comes through.
    ///
    /// # Panics
    ///
    /// As [`GrpcIdempotencyLayer::unary`], and when the operation is empty or longer than 1024 bytes.
    pub fn unary_as(mut self, method: &str, operation: &str) -> Self {
        told(self.methods.protect(method, operation));
        self
    }

    /// Protects all methods of a service that the descriptors name ([`described_by`]). One of them
    /// that is a stream is refused by name, when the layer is put around a service, unless it is to
    /// [`pass`](Self::pass).
    ///
    /// [`described_by`]: Self::described_by
    pub fn service(mut self, service: &str) -> Self {
        self.methods.protect_service(service);
        self
    }

    /// Lets a method pass, untouched and unbuffered: a stream, or one that only reads.
    ///
    /// # Panics
    ///
    /// As [`GrpcIdempotencyLayer::unary`].
    pub fn pass(mut self, method: &str) -> Self {
        told(self.methods.pass(method));
        self
    }

    /// Lets all methods of a service pass that are not named: reflection, health.
    pub fn pass_service(mut self, service: &str) -> Self {
        self.methods.pass_service(service);
        self
    }

    /// What to do with calls of methods that are not named. Default: refuse them.
    pub fn other_methods(mut self, others: OtherMethods) -> Self {
        self.methods.others = others;
        self
    }

    /// The methods there are, by an encoded `google.protobuf.FileDescriptorSet`, as code generators
    /// write it. With it every name of a protected method is checked: that there is such a method,
    /// and that it is no stream.
    ///
    /// # Panics
    ///
    /// When it can't be read.
    pub fn described_by(mut self, file_descriptor_set: &[u8]) -> Self {
        told(self.methods.describe(file_descriptor_set));
        self
    }

    // ===== calls =====

    /// How calls are treated. Keys are visible ASCII here, whatever the policy's rule allows.
    ///
    /// # Panics
    ///
    /// When the engine can't keep its guarantee.
    pub fn policy(mut self, policy: Arc<Policy>) -> Self {
        self.guarantee = policy.guarantee();
        self.calls = self.calls.policy(policy);
        self
    }

    /// Everything that `guarantee` bundles. Choices made after it win.
    ///
    /// # Panics
    ///
    /// When it does not go with a choice that was made before, or the engine can't keep it.
    pub fn guarantee(mut self, guarantee: Guarantee) -> Self {
        self.guarantee = guarantee;
        self.calls = self.calls.guarantee(guarantee);
        if guarantee.freezes_failures() {
            self.failures = None;
        }
        self
    }

    /// Everything that `preset` bundles, as far as gRPC has it: HTTP statuses it has not. Choices
    /// made after it win.
    ///
    /// # Panics
    ///
    /// When it does not go with a choice that was made before.
    pub fn preset(mut self, preset: Preset) -> Self {
        self.calls = self.calls.preset(preset);
        self.settings = self.settings.preset(preset);
        if matches!(preset, Preset::Xihan | Preset::Stripe) {
            self.failures = Some(GrpcFailures::All);
        }
        if preset == Preset::Xihan {
            self.fingerprint = GrpcFingerprint::Off;
        }
        self
    }

    /// What to do with a call of a protected method that brings no key. Default: refuse it.
    pub fn missing_key(mut self, missing_key: MissingKey) -> Self {
        self.calls = self.calls.missing_key(missing_key);
        self
    }

    /// What to do when the first call still runs. Default: wait five seconds for it.
    ///
    /// # Panics
    ///
    /// When the wait is zero or longer than ten years.
    pub fn in_flight(mut self, in_flight: InFlight) -> Self {
        self.calls = self.calls.in_flight(in_flight);
        self
    }

    /// How long a finished call is remembered. Default: 24 hours.
    ///
    /// # Panics
    ///
    /// When it is shorter than the lease or longer than ten years.
    pub fn time_to_live(mut self, time_to_live: Duration) -> Self {
        self.calls = self.calls.time_to_live(time_to_live);
        self
    }

    // ===== gRPC =====

    /// All that an HTTP door's settings say and gRPC has too: for services that have both.
    ///
    /// Taken over are the sources, the sizes, the marker of a replay, what happens to the handlers
    /// of clients that hang up, callers without a scope, and shared operations; that nothing is
    /// compared; and which answers are final, unless a function of one's own says so. Choices made
    /// after it win.
    pub fn settings_of(mut self, http: &HttpSettings) -> Self {
        self.settings = http.to_builder();
        self.max_cached_reply = http.max_cached_response();
        if matches!(http.fingerprint(), Fingerprint::Off) {
            self.fingerprint = GrpcFingerprint::Off;
        }
        self.failures = match http.failures() {
            Some(Failures::FinalBelow500) => Some(GrpcFailures::ClientErrorsAreFinal),
            Some(Failures::All) => Some(GrpcFailures::All),
            Some(Failures::SuccessOnly) => Some(GrpcFailures::SuccessOnly),
            Some(Failures::Custom(_)) | None => None,
        };
        self
    }

    /// Where the key is read from. Default: metadata `idempotency-key`, then the member
    /// `xihan.idempotency-key` of metadata `baggage`.
    pub fn sources(self, sources: KeySources) -> Self {
        self.set(|settings| settings.sources(sources))
    }

    /// What tells a repeat from another call. Default: method, encoding and message.
    pub fn fingerprint(mut self, fingerprint: GrpcFingerprint) -> Self {
        self.fingerprint = fingerprint;
        self
    }

    /// Which replies are final. Default: `OK` and what the client did wrong; everything under
    /// [`Guarantee::AtMostOnce`].
    pub fn failures(mut self, failures: GrpcFailures) -> Self {
        self.failures = Some(failures);
        self
    }

    /// The largest request message, in bytes, its prefix of five included; it is buffered.
    /// Default: 1 MiB.
    ///
    /// # Panics
    ///
    /// When it is zero.
    pub fn max_request_body(self, bytes: usize) -> Self {
        self.set(|settings| settings.max_request_body(bytes))
    }

    /// The largest reply message that is kept, in bytes, its prefix of five included. Whoever
    /// repeats a call with a larger reply is told that it was not kept. Default: 256 KiB.
    pub fn max_cached_reply(mut self, bytes: usize) -> Self {
        self.max_cached_reply = bytes;
        self
    }

    /// Which metadata of a reply is replayed beside its status, whether it comes before the message
    /// or after it. Default: none, for most of it belongs to one exchange.
    ///
    /// # Panics
    ///
    /// When one of them is never replayed, such as `set-cookie`.
    pub fn replayed_metadata(mut self, names: impl IntoIterator<Item = HeaderName>) -> Self {
        self.replayed_metadata = names.into_iter().collect();
        drop(self.http());
        self
    }

    /// The metadata that marks a replay; none for no mark. Default: `idempotent-replayed`.
    ///
    /// # Panics
    ///
    /// When it has another meaning.
    pub fn replay_marker(self, marker: Option<HeaderName>) -> Self {
        self.set(|settings| settings.replay_marker(marker))
    }

    /// What becomes of the handler when its client cancels, hangs up, or its deadline passes.
    /// Default: it runs on.
    pub fn on_disconnect(self, on_disconnect: OnDisconnect) -> Self {
        self.set(|settings| settings.on_disconnect(on_disconnect))
    }

    /// What to do with calls that nobody put a scope into. Default: fail them.
    pub fn anonymous(self, anonymous: Anonymous) -> Self {
        self.set(|settings| settings.anonymous(anonymous))
    }

    /// How operations that can be called through HTTP too are the same through both doors.
    /// Default: none is shared, and a key that was used through the other door is refused.
    pub fn crossings(self, crossings: &Crossings) -> Self {
        let shared = crossings.for_grpc();
        self.set(|settings| settings.shared(Some(shared)))
    }

    fn set(mut self, change: impl FnOnce(HttpSettingsBuilder) -> HttpSettingsBuilder) -> Self {
        self.settings = change(self.settings);
        drop(self.http());
        self
    }

    /// The settings of the layer within.
    fn http(&self) -> HttpSettings {
        let replayed: Vec<_> = OUTCOME.into_iter().chain(self.replayed_metadata.clone()).collect();
        let failures = self.failures.clone();
        let failures = failures.unwrap_or_else(|| GrpcFailures::of_guarantee(self.guarantee));
        let fingerprint = match self.fingerprint {
            GrpcFingerprint::Call => Fingerprint::Custom(Arc::new(fingerprint::of)),
            GrpcFingerprint::Off => Fingerprint::Off,
        };
        let settings = self.settings.clone().methods(Methods::All).form(Form::Grpc);
        told(
            settings
                .max_cached_response(self.max_cached_reply)
                .replayed_headers(replayed.clone())
                .replayed_trailers(Some(replayed))
                .failures(failures.into_http())
                .fingerprint(fingerprint)
                .oversized(semel_http::Oversized::Unavailable)
                .build(),
        )
    }
}

/// A mistake of set-up must not be found out at the first call.
fn told<T, E: fmt::Display>(checked: Result<T, E>) -> T {
    checked.unwrap_or_else(|error| panic!("GrpcIdempotencyLayer: {error}"))
}

impl<S> Layer<S> for GrpcIdempotencyLayer {
    type Service = GrpcIdempotency<S>;

    /// # Panics
    ///
    /// When a method that is to be protected is a stream, or there is none of its name.
    fn layer(&self, inner: S) -> GrpcIdempotency<S> {
        let methods = Arc::new(told(self.methods.build()));
        let presented = Presented::new(inner, self.max_cached_reply);
        let within = self.calls.clone().settings(self.http()).layer(presented);
        GrpcIdempotency::new(within, methods)
    }
}

impl fmt::Debug for GrpcIdempotencyLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GrpcIdempotencyLayer")
            .field("methods", &self.methods)
            .finish_non_exhaustive()
    }
}
