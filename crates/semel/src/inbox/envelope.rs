//! What is known of a message before it is handled.

use semel_core::Fingerprint;

use super::message_id::MessageId;

/// What is known of a message before it is handled: which one it is, what is in it, and whether it
/// may have been delivered before.
#[derive(Debug, Clone)]
pub struct Envelope {
    pub(super) id: MessageId,
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) redelivery: Redelivery,
}

/// Whether a message may have been delivered to this consumer before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Redelivery {
    /// It may have been. Default, and always right.
    #[default]
    Possible,
    /// It has not been, in any way: the broker says that this is its first delivery, and it did
    /// not come by a retry queue or out of a dead-letter queue. In RabbitMQ: `redelivered` is
    /// false, and there is no header `x-death`.
    ///
    /// It saves the look at how often the message has failed. Where it is said wrongly, attempts
    /// are not counted, and a poison message may be tried for ever; nothing else depends on it.
    No,
}

impl Envelope {
    /// The envelope of a message of which nothing else is known.
    #[must_use]
    pub const fn new(id: MessageId) -> Self {
        Self { id, fingerprint: None, redelivery: Redelivery::Possible }
    }

    /// The same with the payload, of which a digest is kept: a message with the same identity and
    /// another payload is then [refused](super::Delivery::Refused) instead of being taken for a
    /// repeat.
    ///
    /// Leave it out where a sender writes the payload anew for each try, with another time in it.
    #[must_use]
    pub fn with_payload(self, payload: &[u8]) -> Self {
        self.with_fingerprint(Fingerprint::builder().part("body", payload).build())
    }

    /// The same with a fingerprint that says what must be the same in a repeat.
    #[must_use]
    pub fn with_fingerprint(self, fingerprint: Fingerprint) -> Self {
        Self { fingerprint: Some(fingerprint), ..self }
    }

    /// The same with what is known of earlier deliveries.
    #[must_use]
    pub fn with_redelivery(self, redelivery: Redelivery) -> Self {
        Self { redelivery, ..self }
    }

    /// Which message it is.
    #[must_use]
    pub const fn id(&self) -> &MessageId {
        &self.id
    }
}

impl From<MessageId> for Envelope {
    fn from(id: MessageId) -> Self {
        Self::new(id)
    }
}
