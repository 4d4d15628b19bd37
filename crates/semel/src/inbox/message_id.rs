//! What tells one message from another.

use std::fmt;
use std::sync::Arc;

use semel_core::PartHasher;

/// What stands before the names of a CloudEvent's attributes, by protocol: HTTP and NATS, Kafka,
/// AMQP in its two spellings, and nothing (JSON and MQTT).
const PREFIXES: [&str; 5] = ["ce-", "ce_", "cloudEvents:", "cloudEvents_", ""];

/// The identity of a message: where it comes from, and which one it is there.
///
/// This is the pair that CloudEvents calls `source` and `id`: whoever sends the same event twice
/// sends it with the same pair, and two different events never share one. For messages that are no
/// CloudEvents it is the name of the queue, topic or sender together with the id that the *sender*
/// gave to the message (`message-id` in AMQP). An id that the broker gives to each delivery, or to
/// each copy that was published, tells no repeat by its sender.
///
/// Nothing else is the identity of a message: not its payload, not the number of the delivery, and
/// not an idempotency key in its baggage. That key belongs to the call that published the message;
/// all messages that come of that call carry it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId {
    source: Arc<str>,
    id: Arc<str>,
}

impl MessageId {
    /// The message `id` of `source`. Both are taken as they stand: they are compared byte by byte,
    /// and any length will do.
    ///
    /// # Errors
    ///
    /// [`MessageIdError::Empty`].
    pub fn new(
        source: impl Into<Arc<str>>,
        id: impl Into<Arc<str>>,
    ) -> Result<Self, MessageIdError> {
        let (source, id) = (source.into(), id.into());
        for (attribute, value) in [("source", &source), ("id", &id)] {
            if value.is_empty() {
                return Err(MessageIdError::Empty { attribute });
            }
        }
        Ok(Self { source, id })
    }

    /// The identity of a CloudEvent, by its attributes `source` and `id` among these headers,
    /// properties or members.
    ///
    /// A name may have what the protocol puts before it: `ce-` (HTTP, NATS), `ce_` (Kafka),
    /// `cloudEvents:` or `cloudEvents_` (AMQP), or nothing (JSON, MQTT). Where there are names with
    /// such a prefix, those without one are no attributes of the event. All other names are passed
    /// over, `baggage` and `traceparent` too. Upper and lower case are the same. Values that a
    /// protocol has encoded, as HTTP does with percent signs, are to be decoded before.
    ///
    /// # Errors
    ///
    /// [`MessageIdError`]: one of the two is missing, is empty, or is there twice with different
    /// values.
    pub fn from_cloudevent<'a>(
        attributes: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, MessageIdError> {
        let (mut source, mut id) = (Found::new("source"), Found::new("id"));
        for (name, value) in attributes {
            source.look_at(name, value)?;
            id.look_at(name, value)?;
        }
        Self::new(source.value()?, id.value()?)
    }

    /// Where the message comes from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Which message it is there.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl fmt::Debug for MessageId {
    /// Prints a short digest: an id may hold what is nobody's business.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hasher = PartHasher::new();
        hasher.field(self.source.as_bytes());
        hasher.field(self.id.as_bytes());
        f.write_str("MessageId(")?;
        hasher.finish().as_bytes()[..4].iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// An attribute that is looked for.
struct Found<'a> {
    attribute: &'static str,
    prefixed: Option<&'a str>,
    bare: Option<&'a str>,
}

impl<'a> Found<'a> {
    const fn new(attribute: &'static str) -> Self {
        Self { attribute, prefixed: None, bare: None }
    }

    fn look_at(&mut self, name: &str, value: &'a str) -> Result<(), MessageIdError> {
        let Some(prefix) = prefix_of(name, self.attribute) else { return Ok(()) };
        let place = if prefix.is_empty() { &mut self.bare } else { &mut self.prefixed };
        if place.is_some_and(|there| there != value) {
            return Err(MessageIdError::Contradictory { attribute: self.attribute });
        }
        *place = Some(value);
        Ok(())
    }

    fn value(&self) -> Result<&'a str, MessageIdError> {
        let attribute = self.attribute;
        self.prefixed.or(self.bare).ok_or(MessageIdError::Missing { attribute })
    }
}

/// What stands before the attribute in this name, if it is a name of it.
fn prefix_of<'a>(name: &'a str, attribute: &str) -> Option<&'a str> {
    let at = name.len().checked_sub(attribute.len())?;
    let (prefix, rest) = name.split_at_checked(at)?;
    let known = PREFIXES.iter().any(|known| known.eq_ignore_ascii_case(prefix));
    (known && rest.eq_ignore_ascii_case(attribute)).then_some(prefix)
}

/// Why a message has no identity. It never holds a value of the message's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageIdError {
    /// There is no such attribute.
    #[error("the message has no `{attribute}`; a CloudEvent has `source` and `id`")]
    Missing {
        /// Which.
        attribute: &'static str,
    },
    /// It is there and empty.
    #[error("the `{attribute}` of the message is empty; it takes at least one character")]
    Empty {
        /// Which.
        attribute: &'static str,
    },
    /// It is there twice, with different values.
    #[error("the message has two different values of `{attribute}`; it takes one")]
    Contradictory {
        /// Which.
        attribute: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(attributes: &[(&str, &str)]) -> Result<MessageId, MessageIdError> {
        MessageId::from_cloudevent(attributes.iter().copied())
    }

    #[test]
    fn a_cloudevent_is_known_by_its_source_and_id_in_every_protocol() {
        let expected = MessageId::new("/shop", "A-1").unwrap();
        for prefix in PREFIXES.into_iter().chain(["CE-", "Ce_", "CLOUDEVENTS:"]) {
            let (source, id) = (format!("{prefix}source"), format!("{prefix}id"));
            let attributes = [(&*source, "/shop"), ("content-type", "x"), (&*id, "A-1")];
            assert_eq!(of(&attributes), Ok(expected.clone()), "{prefix}");
        }
    }

    #[test]
    fn names_with_a_prefix_come_before_those_without() {
        let attributes =
            [("id", "of another layer"), ("ce_id", "A-1"), ("ce_source", "/shop"), ("é", "x")];
        assert_eq!(of(&attributes), MessageId::new("/shop", "A-1"));
    }

    #[test]
    fn what_is_missing_empty_or_contradictory_is_named() {
        let missing = MessageIdError::Missing { attribute: "id" };
        assert_eq!(of(&[("ce-source", "/shop")]), Err(missing));
        assert_eq!(
            of(&[("source", ""), ("id", "1")]),
            Err(MessageIdError::Empty { attribute: "source" })
        );
        let twice = [("ce-source", "/shop"), ("ce-id", "1"), ("CE-ID", "2")];
        assert_eq!(of(&twice), Err(MessageIdError::Contradictory { attribute: "id" }));
        let same = [("ce-source", "/shop"), ("ce-id", "1"), ("CE-ID", "1")];
        assert!(of(&same).is_ok(), "twice the same is no contradiction");
        // Names that only end alike are others.
        assert_eq!(of(&[("ce-source", "/shop"), ("order-id", "1")]), Err(missing));
    }

    #[test]
    fn what_is_logged_of_an_identity_does_not_show_it() {
        let text = format!("{:?}", MessageId::new("SECRET", "SECRET").unwrap());
        assert!(!text.contains("SECRET"), "{text}");
        assert_eq!(text.len(), "MessageId(01234567)".len());
    }
}
