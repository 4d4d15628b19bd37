//! How requests are tried again: every number, with its default.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderName;

use super::budget::RetryBudget;
use super::failure::{Classify, Failure, of_service};
use crate::key::KeySources;
use crate::marks;
use crate::settings::Methods;

/// More is a mistake in units.
const LONGEST: Duration = Duration::from_secs(86_400);

/// How the key is written in its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum KeyForm {
    /// As a string of RFC 9651, `"…"`: what the Idempotency-Key draft says and every server of
    /// Semel takes. The default.
    #[default]
    Quoted,
    /// As it is. For services that would take the quotes for a part of the key.
    Bare,
}

/// Whether the inner client follows redirects by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Redirects {
    /// It may, as `reqwest` does unless it is told otherwise. A failure to connect may then be that
    /// of the place where an answer pointed to, after the request was carried out: it proves
    /// nothing, and is [`Conclusion::Unknown`](super::Conclusion::Unknown). The default.
    #[default]
    MayBeFollowed,
    /// It does not: a client of `hyper-util`, or `reqwest` with
    /// [`Policy::none`](reqwest::redirect::Policy::none).
    NotFollowed,
}

/// Settings of the client's side, checked.
///
/// Clones share their [`RetryBudget`].
#[derive(Debug, Clone)]
pub struct ClientSettings {
    pub(super) sources: KeySources,
    pub(super) form: KeyForm,
    pub(super) methods: Methods,
    pub(super) replay_marker: Option<HeaderName>,
    pub(super) max_tries: u32,
    pub(super) try_timeout: Duration,
    pub(super) deadline: Duration,
    pub(super) first_backoff: Duration,
    pub(super) longest_backoff: Duration,
    pub(super) max_retry_after: Duration,
    pub(super) max_request_body: usize,
    pub(super) max_read_ahead: usize,
    pub(super) retry_budget: RetryBudget,
    pub(super) redirects: Redirects,
    /// None: as far as it can be proven.
    pub(super) classify: Option<Classify>,
}

impl ClientSettings {
    /// The defaults, to be changed one by one.
    pub fn builder() -> ClientSettingsBuilder {
        ClientSettingsBuilder { settings: Self::default() }
    }

    /// What a failure of an inner tower service means.
    pub(super) fn failure(&self, error: &(dyn std::error::Error + 'static)) -> Failure {
        match &self.classify {
            Some(classify) => (classify.0)(error),
            None => self.proven(of_service(error)),
        }
    }

    /// What is left of "never sent" under these settings.
    pub(super) fn proven(&self, failure: Failure) -> Failure {
        match (failure, self.redirects) {
            (Failure::NeverSent, Redirects::MayBeFollowed) => Failure::Unknown,
            (failure, _) => failure,
        }
    }

    /// The retries that all calls under these settings share.
    #[must_use]
    pub const fn shared_budget(&self) -> &RetryBudget {
        &self.retry_budget
    }
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            sources: KeySources::default(),
            form: KeyForm::default(),
            methods: Methods::default(),
            replay_marker: Some(marks::REPLAYED),
            max_tries: 5,
            try_timeout: Duration::from_secs(30),
            deadline: Duration::from_secs(120),
            first_backoff: Duration::from_millis(100),
            longest_backoff: Duration::from_secs(10),
            max_retry_after: Duration::from_secs(60),
            max_request_body: 1 << 20,
            max_read_ahead: 256 << 10,
            retry_budget: RetryBudget::default(),
            redirects: Redirects::default(),
            classify: None,
        }
    }
}

/// Gathers settings; [`ClientSettingsBuilder::build`] checks them together.
#[derive(Debug, Clone)]
#[must_use = "call build()"]
pub struct ClientSettingsBuilder {
    settings: ClientSettings,
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty),+ $(,)?) => {
        $($(#[$doc])* pub fn $name(mut self, $name: $type) -> Self {
            self.settings.$name = $name;
            self
        })+
    };
}

impl ClientSettingsBuilder {
    /// Where a key may stand in a request. The first place is where a new one is put; one that
    /// the caller put into any of them is kept. Default: header `Idempotency-Key`, then baggage
    /// member `xihan.idempotency-key`.
    pub fn key_places(mut self, places: KeySources) -> Self {
        self.settings.sources = places;
        self
    }

    /// How the key is written in its header. Default: quoted.
    pub fn key_form(mut self, form: KeyForm) -> Self {
        self.settings.form = form;
        self
    }

    setters! {
        /// Requests of which methods get a key. Default: POST, PATCH and PUT.
        methods: Methods,
        /// The header that marks a replay, as the service is set up; none where it has none.
        /// Default: `Idempotent-Replayed`.
        replay_marker: Option<HeaderName>,
        /// How often a request is sent, the first time included; 1 for no retry. Being told that
        /// the first call still runs is not counted. Default: 5.
        max_tries: u32,
        /// How long one try may take, up to the head of its answer, or to the end of an answer
        /// that is read ahead. Default: 30 s. It is to be longer than the service waits for a
        /// first call (5 s).
        try_timeout: Duration,
        /// How long all tries and the waits between them may take together. Default: 120 s.
        deadline: Duration,
        /// The upper bound of the first wait; each further one is twice the one before. The wait
        /// itself is drawn evenly from zero up to its bound (full jitter). Default: 100 ms.
        first_backoff: Duration,
        /// No bound grows beyond this. Default: 10 s.
        longest_backoff: Duration,
        /// The longest `Retry-After` that is kept to. Who is asked to wait longer gives up and
        /// hands out the answer; it does not come back too early. Default: 60 s.
        max_retry_after: Duration,
        /// The largest request body that is kept for another try, in bytes. A larger one, and one
        /// of unknown length, is sent once. Default: 1 MiB, which is what servers of Semel take.
        max_request_body: usize,
        /// The largest answer body that is read to its end before the answer is handed out, in
        /// bytes, so that a connection that breaks off in the middle of it is one more reason to
        /// try again. Larger ones, and those of unknown length, are passed on as they come.
        /// Default: 256 KiB, which is what servers of Semel record. 0: none is.
        max_read_ahead: usize,
        /// Whether the inner client follows redirects. Default: it may.
        redirects: Redirects,
        /// The retries that all calls share. Default: see [`RetryBudget::default`].
        retry_budget: RetryBudget,
    }

    /// Says what a failure of the inner tower service means. Default: where no redirects are
    /// followed, what holds a failure to connect anywhere in its chain of sources was never sent;
    /// of everything else nobody knows.
    ///
    /// It is not asked under `reqwest`, whose errors say it themselves.
    pub fn classify(
        mut self,
        classify: impl Fn(&(dyn std::error::Error + 'static)) -> Failure + Send + Sync + 'static,
    ) -> Self {
        self.settings.classify = Some(Classify(Arc::new(classify)));
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// [`ClientSettingsError`], which names the setting, what it got and what it takes.
    pub fn build(self) -> Result<ClientSettings, ClientSettingsError> {
        let settings = self.settings;
        if settings.max_tries == 0 {
            return Err(ClientSettingsError::NoTries);
        }
        if let Methods::Only(methods) = &settings.methods
            && methods.is_empty()
        {
            return Err(ClientSettingsError::NoMethods);
        }
        for (setting, got) in [
            ("try_timeout", settings.try_timeout),
            ("deadline", settings.deadline),
            ("first_backoff", settings.first_backoff),
            ("longest_backoff", settings.longest_backoff),
            ("max_retry_after", settings.max_retry_after),
        ] {
            if got.is_zero() || got > LONGEST {
                return Err(ClientSettingsError::Duration { setting, got });
            }
        }
        ordered("try_timeout", settings.try_timeout, "deadline", settings.deadline)?;
        let (first, longest) = (settings.first_backoff, settings.longest_backoff);
        ordered("first_backoff", first, "longest_backoff", longest)?;
        Ok(settings)
    }
}

fn ordered(
    setting: &'static str,
    got: Duration,
    limit: &'static str,
    limit_is: Duration,
) -> Result<(), ClientSettingsError> {
    if got > limit_is {
        return Err(ClientSettingsError::Over { setting, got, limit, limit_is });
    }
    Ok(())
}

/// Why settings are unsound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientSettingsError {
    /// No try at all.
    #[error("client.max_tries = 0: it must be at least 1; the default is 5")]
    NoTries,
    /// An empty list of methods.
    #[error("client.methods = []: it takes at least one method, or all")]
    NoMethods,
    /// A duration of zero, or of more than a day.
    #[error("client.{setting} = {got:?}: it must be positive and at most a day")]
    Duration {
        /// Which setting.
        setting: &'static str,
        /// What it got.
        got: Duration,
    },
    /// A part that is longer than its whole.
    #[error("client.{setting} = {got:?}: it must be at most client.{limit} ({limit_is:?})")]
    Over {
        /// Which setting.
        setting: &'static str,
        /// What it got.
        got: Duration,
        /// The setting that bounds it.
        limit: &'static str,
        /// What that one is.
        limit_is: Duration,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl FnOnce(ClientSettingsBuilder) -> ClientSettingsBuilder) -> String {
        change(ClientSettings::builder()).build().unwrap_err().to_string()
    }

    #[test]
    fn the_defaults_are_sound() {
        assert!(ClientSettings::builder().build().is_ok());
    }

    #[test]
    fn unsound_settings_are_named_with_what_they_take() {
        assert_eq!(
            refusal(|settings| settings.max_tries(0)),
            "client.max_tries = 0: it must be at least 1; the default is 5"
        );
        assert_eq!(
            refusal(|settings| settings.first_backoff(Duration::ZERO)),
            "client.first_backoff = 0ns: it must be positive and at most a day"
        );
        assert_eq!(
            refusal(|settings| settings.try_timeout(Duration::from_secs(121))),
            "client.try_timeout = 121s: it must be at most client.deadline (120s)"
        );
        assert_eq!(
            refusal(|settings| settings.first_backoff(Duration::from_secs(11))),
            "client.first_backoff = 11s: it must be at most client.longest_backoff (10s)"
        );
        assert_eq!(
            refusal(|settings| settings.deadline(Duration::from_secs(86_401))),
            "client.deadline = 86401s: it must be positive and at most a day"
        );
        assert_eq!(
            refusal(|settings| settings.methods(Methods::Only(Vec::new()))),
            "client.methods = []: it takes at least one method, or all"
        );
    }
}
