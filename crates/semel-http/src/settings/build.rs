//! Building the settings, and what makes them unsound.

use std::sync::Arc;

use http::{HeaderName, header};
use semel::{Code, ErrorStatus, Form, Policy, Preset};

use super::{Anonymous, Failures, Methods, OnDisconnect, Oversized};
use crate::fingerprint::Fingerprint;
use crate::key::{BaggageKey, HeaderSyntax, KeySources};
use crate::marks;
use crate::shared::SharedOperations;

/// Settings of the HTTP door, checked.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    pub(crate) sources: KeySources,
    pub(crate) methods: Methods,
    pub(crate) fingerprint: Fingerprint,
    /// None: as the guarantee of the policy says.
    failures: Option<Failures>,
    pub(crate) max_request_body: usize,
    pub(crate) max_cached_response: usize,
    pub(crate) oversized: Oversized,
    pub(crate) replayed_headers: Vec<HeaderName>,
    /// None: all but those that are never replayed.
    pub(crate) replayed_trailers: Option<Vec<HeaderName>>,
    pub(crate) replay_marker: Option<HeaderName>,
    pub(crate) on_disconnect: OnDisconnect,
    pub(crate) anonymous: Anonymous,
    pub(crate) shared: Option<Arc<dyn SharedOperations>>,
    pub(crate) form: Form,
    statuses: Vec<(Code, ErrorStatus)>,
}

impl HttpSettings {
    /// The defaults, to be changed one by one.
    pub fn builder() -> HttpSettingsBuilder {
        HttpSettingsBuilder::default()
    }

    /// These settings, to be changed.
    pub fn to_builder(&self) -> HttpSettingsBuilder {
        HttpSettingsBuilder { settings: self.clone() }
    }

    /// The same settings with these shared operations ([`HttpSettingsBuilder::shared`]).
    #[must_use]
    pub fn with_shared(&self, shared: Option<Arc<dyn SharedOperations>>) -> Self {
        Self { shared, ..self.clone() }
    }

    /// Where the key is read from.
    pub const fn sources(&self) -> &KeySources {
        &self.sources
    }

    /// What tells a repeat from another request.
    #[must_use]
    pub const fn fingerprint(&self) -> &Fingerprint {
        &self.fingerprint
    }

    /// Which answers are final; none where the guarantee of the policy says.
    #[must_use]
    pub const fn failures(&self) -> Option<&Failures> {
        self.failures.as_ref()
    }

    /// The largest answer body that is kept, in bytes.
    #[must_use]
    pub const fn max_cached_response(&self) -> usize {
        self.max_cached_response
    }

    /// The headers that the layer itself may put on an answer: its marks, and `Retry-After`.
    ///
    /// A script in a browser sees them only if the service says so (`Access-Control-Expose-Headers`,
    /// in the Fetch standard): hand these to whatever answers for CORS.
    #[must_use]
    pub fn exposed_headers(&self) -> Vec<HeaderName> {
        let own = [marks::ERROR, marks::UNPROTECTED, marks::DURABLE, header::RETRY_AFTER];
        self.replay_marker.iter().cloned().chain(own).collect()
    }

    /// Which answers are final under a policy: a choice of one's own wins over its guarantee.
    pub(crate) fn failures_under(&self, policy: &Policy) -> &Failures {
        match &self.failures {
            Some(failures) => failures,
            None if policy.guarantee().freezes_failures() => &Failures::All,
            None => &Failures::FinalBelow500,
        }
    }

    /// The status that a code is answered with, where it is not the code's own.
    pub(crate) fn status_of(&self, code: Code) -> Option<ErrorStatus> {
        self.statuses.iter().find(|(of, _)| *of == code).map(|(_, status)| *status)
    }
}

impl Default for HttpSettings {
    fn default() -> Self {
        HttpSettingsBuilder::default().settings
    }
}

/// Gathers settings; [`HttpSettingsBuilder::build`] checks them together.
#[derive(Debug, Clone)]
#[must_use = "call build()"]
pub struct HttpSettingsBuilder {
    settings: HttpSettings,
}

/// What is replayed of an answer's headers: what describes the content and where it is. What
/// belongs to one exchange or one client (cookies, dates, connections) is not.
const REPLAYED: [HeaderName; 9] = [
    header::CONTENT_TYPE,
    header::CONTENT_LANGUAGE,
    header::CONTENT_ENCODING,
    header::CONTENT_LOCATION,
    header::LOCATION,
    header::ETAG,
    header::LAST_MODIFIED,
    header::LINK,
    header::RETRY_AFTER,
];

/// Never replayed, whatever the settings say: they belong to one connection, one moment or one
/// client.
const NEVER_REPLAYED: [&str; 16] = [
    "set-cookie",
    "set-cookie2",
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "date",
    "content-length",
    "idempotency-error",
    "idempotency-durable",
    "idempotency-unprotected",
];

/// Whether this header or trailer is never replayed.
pub(crate) fn is_never_replayed(name: &HeaderName) -> bool {
    NEVER_REPLAYED.contains(&name.as_str())
}

impl Default for HttpSettingsBuilder {
    fn default() -> Self {
        let settings = HttpSettings {
            sources: KeySources::default(),
            methods: Methods::default(),
            fingerprint: Fingerprint::default(),
            failures: None,
            max_request_body: 1 << 20,
            max_cached_response: 256 << 10,
            oversized: Oversized::default(),
            replayed_headers: REPLAYED.to_vec(),
            replayed_trailers: None,
            replay_marker: Some(marks::REPLAYED),
            on_disconnect: OnDisconnect::default(),
            anonymous: Anonymous::default(),
            shared: None,
            form: Form::Http,
            statuses: Vec::new(),
        };
        Self { settings }
    }
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty),+ $(,)?) => {
        $($(#[$doc])* pub fn $name(mut self, $name: $type) -> Self {
            self.settings.$name = $name;
            self
        })+
    };
}

impl HttpSettingsBuilder {
    setters! {
        /// Where the key is read from. Default: header `Idempotency-Key`, then baggage member
        /// `xihan.idempotency-key`.
        sources: KeySources,
        /// Which methods are protected. Default: POST, PATCH and PUT.
        methods: Methods,
        /// What tells a repeat from another request. Default: the whole request.
        fingerprint: Fingerprint,
        /// The largest request body, in bytes; it is buffered. Default: 1 MiB.
        max_request_body: usize,
        /// The largest answer body that is kept, in bytes. Default: 256 KiB.
        max_cached_response: usize,
        /// What a repeat gets where the body was not kept. Default: `response_unavailable`.
        oversized: Oversized,
        /// Which headers are recorded and replayed. Default: those that describe the content.
        replayed_headers: Vec<HeaderName>,
        /// Which trailers are recorded and replayed. Default, and for none: all but those that
        /// belong to one connection.
        replayed_trailers: Option<Vec<HeaderName>>,
        /// The header that marks a replay; none for no mark. Default: `Idempotent-Replayed`.
        replay_marker: Option<HeaderName>,
        /// What becomes of the handler when its client hangs up. Default: it runs on.
        on_disconnect: OnDisconnect,
        /// What to do with requests that nobody put a scope into. Default: fail them.
        anonymous: Anonymous,
        /// How operations that have several doors are the same through each. Default: none is
        /// shared, and a key that was used through another door is refused (`key_reused`).
        shared: Option<Arc<dyn SharedOperations>>,
        /// Which form the records have, for a door of another protocol that is built on this one:
        /// what was recorded in another form is another door's. Default: [`Form::Http`].
        form: Form,
    }

    /// Which answers are final. Default: below 500; everything that the handler answered under
    /// [`Guarantee::AtMostOnce`](semel::Guarantee::AtMostOnce), where a failed try may have had
    /// the one effect that is allowed.
    pub fn failures(mut self, failures: Failures) -> Self {
        self.settings.failures = Some(failures);
        self
    }

    /// Which answers are final is for the guarantee to say.
    pub(crate) fn failures_by_guarantee(mut self) -> Self {
        self.settings.failures = None;
        self
    }

    /// Answers a code with another status than its own.
    pub fn status(mut self, code: Code, status: ErrorStatus) -> Self {
        self.settings.statuses.retain(|(of, _)| *of != code);
        self.settings.statuses.push((code, status));
        self
    }

    /// Sets what `preset` bundles for HTTP. Choices made after it win over it.
    pub fn preset(self, preset: Preset) -> Self {
        let header = |syntax| {
            let name = HeaderName::from_static("idempotency-key");
            KeySources::new([name], None).unwrap_or_default().with_syntax(syntax)
        };
        let status = |number| ErrorStatus::new(number).expect("4xx and 5xx are error statuses");
        match preset {
            Preset::Rest => {
                self.sources(header(HeaderSyntax::Lenient)).oversized(Oversized::Status)
            }
            Preset::Xihan => self
                .sources(KeySources::new([], Some(BaggageKey::default())).unwrap_or_default())
                .methods(Methods::All)
                .fingerprint(Fingerprint::Off)
                .failures(Failures::All)
                .replay_marker(None),
            Preset::Stripe => self
                .sources(header(HeaderSyntax::Lenient))
                .methods(Methods::Only(vec![http::Method::POST]))
                .failures(Failures::All)
                .status(Code::PayloadMismatch, status(400))
                .status(Code::KeyReused, status(400)),
            Preset::Ietf => self
                .sources(header(HeaderSyntax::Strict))
                .methods(Methods::Only(vec![http::Method::POST, http::Method::PATCH]))
                .replay_marker(None)
                .status(Code::KeyReused, status(422)),
            _ => self,
        }
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// [`HttpSettingsError`], which names the setting, what it got and what it takes.
    pub fn build(self) -> Result<HttpSettings, HttpSettingsError> {
        let settings = self.settings;
        if settings.max_request_body == 0 {
            return Err(HttpSettingsError::NotPositive { setting: "max_request_body_bytes" });
        }
        if let Methods::Only(methods) = &settings.methods
            && methods.is_empty()
        {
            return Err(HttpSettingsError::NoMethods);
        }
        let replayed = settings.replayed_headers.iter();
        let replayed = replayed.chain(settings.replayed_trailers.iter().flatten());
        if let Some(name) = replayed.into_iter().find(|name| is_never_replayed(name)) {
            return Err(HttpSettingsError::NeverReplayed { header: name.clone() });
        }
        let taken = |name: &&HeaderName| {
            is_never_replayed(name) || settings.replayed_headers.contains(name)
        };
        if let Some(name) = settings.replay_marker.as_ref().filter(taken) {
            return Err(HttpSettingsError::MarkerTaken { header: name.clone() });
        }
        Ok(settings)
    }
}

/// Why settings are unsound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpSettingsError {
    /// A size of zero.
    #[error("idempotency.{setting} = 0: it must be positive")]
    NotPositive {
        /// Which setting.
        setting: &'static str,
    },
    /// An empty list of methods.
    #[error("idempotency.methods = []: it takes at least one method, or all")]
    NoMethods,
    /// A header that belongs to one exchange or one client.
    #[error(
        "idempotency.replayed_headers names `{header}`, which is never replayed: it belongs to \
         one connection, one moment or one client"
    )]
    NeverReplayed {
        /// Which header.
        header: HeaderName,
    },
    /// A mark that would take the place of a header that says something else.
    #[error(
        "idempotency.replay_marker = `{header}`: that header has a meaning of its own; it takes a \
         name that answers don't use otherwise, or none"
    )]
    MarkerTaken {
        /// Which header.
        header: HeaderName,
    },
}
