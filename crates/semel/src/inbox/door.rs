//! The door: one consumer's messages, over an engine.

use std::sync::Arc;

use semel_core::{Key, KeyError};

use super::attempts::Counter;
use super::consumer::Consumer;
use super::envelope::Envelope;
use super::message_id::MessageId;
use super::settings::Settings;
use crate::drive::Address;
use crate::once::{Call, Once};
use crate::problem::{Problem, ProblemKind};

/// Messages that a consumer handles once each.
///
/// A clone is a second handle to the same. One is made for each [`Consumer`], over an engine that
/// may be shared with all other doors.
#[derive(Debug, Clone)]
pub struct Inbox(pub(super) Arc<Settings>);

impl Inbox {
    /// The consumer.
    #[must_use]
    pub fn consumer(&self) -> &Consumer {
        &self.0.consumer
    }

    /// The engine.
    #[must_use]
    pub fn once(&self) -> &Once {
        &self.0.once
    }

    /// The key of a message in the store: for [`Once::peek`], [`Once::resolve`] and the command
    /// `semel key show`. `inbox:<consumer>:<source>:<id>` where that is short enough and the policy
    /// stores keys as they are, else a digest.
    ///
    /// # Errors
    ///
    /// A [`KeyError`], in theory: source, id and consumer were checked when they were made.
    pub fn key(&self, id: &MessageId) -> Result<Key, KeyError> {
        self.keys(id).map(|(record, _)| record)
    }

    pub(super) fn call(&self, envelope: &Envelope) -> Result<(Call, Counter), Problem> {
        let keys = self.keys(&envelope.id);
        let (record, attempts) =
            keys.map_err(|error| ProblemKind::KeyInvalid { fault: (&error).into() })?;
        let call = Call::under(&self.0.policy, record, self.0.operation.clone());
        let call = match &envelope.fingerprint {
            Some(fingerprint) => call.with_fingerprint(fingerprint.clone()),
            None => call,
        };
        Ok((call, self.counter(attempts)))
    }

    pub(super) fn keys(&self, id: &MessageId) -> Result<(Key, Key), KeyError> {
        self.0.policy.key_storage().message_keys(self.0.consumer.as_str(), id.source(), id.id())
    }

    pub(super) fn counter(&self, attempts: Key) -> Counter {
        let store = Arc::clone(self.0.once.store());
        Counter { store, at: Address::of(attempts), keep: self.0.attempts_keep }
    }
}
