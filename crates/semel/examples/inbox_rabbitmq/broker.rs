//! The broker's side: queues, and what becomes of a message.
//!
//! ```text
//!   publish ---> NAME ---> consume ---+--> acknowledged
//!                 ^                   |
//!                 |   after a second  +--> NAME.later   in flight elsewhere, or failed
//!                 +-------------------|----------+
//!                 ^                   +--> NAME.dead    poison, refused, in doubt
//!                 +------ redrive --------------+
//! ```
//!
//! A message that is put back waits in `NAME.later`, of which all messages have one and the same
//! time to live: the broker looks at the head of a queue only, so that one which waits long would
//! hold up all behind it. Who is to wait longer goes round several times. Nothing is lost on these
//! ways, for a message is acknowledged only after its copy was confirmed; if the consumer dies
//! between the two there are two copies, and one of them is a duplicate like any other.

use lapin::message::Delivery;
use lapin::options::{
    BasicAckOptions, BasicConsumeOptions, BasicGetOptions, BasicPublishOptions, BasicQosOptions,
    ConfirmSelectOptions, QueueDeclareOptions,
};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties, Consumer, Result};
use semel::inbox::{Envelope, MessageId, MessageIdError, Redelivery};

/// How long a message that was put back waits.
const PAUSE_MILLIS: i32 = 1_000;

/// The delivery mode of a message that the broker writes to its disk.
const PERSISTENT: u8 = 2;

pub(crate) struct Broker {
    _connection: Connection,
    channel: Channel,
    queue: String,
}

impl Broker {
    /// Connects, and declares the queues.
    pub(crate) async fn connect(url: &str, queue: &str, at_once: u16) -> Result<Self> {
        let connection = Connection::connect(url, ConnectionProperties::default()).await?;
        let channel = connection.create_channel().await?;
        channel.confirm_select(ConfirmSelectOptions::default()).await?;
        channel.basic_qos(at_once, BasicQosOptions::default()).await?;
        let broker = Self { _connection: connection, channel, queue: queue.to_owned() };
        let mut later = FieldTable::default();
        later.insert("x-message-ttl".into(), AMQPValue::LongInt(PAUSE_MILLIS));
        later.insert("x-dead-letter-exchange".into(), AMQPValue::LongString("".into()));
        later.insert("x-dead-letter-routing-key".into(), AMQPValue::LongString(queue.into()));
        // The dead-lettering itself is confirmed, too, and nothing is dropped for it.
        let at_least_once = AMQPValue::LongString("at-least-once".into());
        later.insert("x-dead-letter-strategy".into(), at_least_once);
        later.insert("x-overflow".into(), AMQPValue::LongString("reject-publish".into()));
        for (name, mut arguments) in [
            (queue.to_owned(), FieldTable::default()),
            (broker.later(), later),
            (broker.dead(), FieldTable::default()),
        ] {
            arguments.insert("x-queue-type".into(), AMQPValue::LongString("quorum".into()));
            let durable = QueueDeclareOptions::durable();
            broker.channel.queue_declare(name.into(), durable, arguments).await?;
        }
        Ok(broker)
    }

    fn later(&self) -> String {
        format!("{}.later", self.queue)
    }

    fn dead(&self) -> String {
        format!("{}.dead", self.queue)
    }

    /// Publishes a payment as a CloudEvent.
    pub(crate) async fn publish(&self, event: &str, payment: &[u8]) -> Result<()> {
        let mut headers = FieldTable::default();
        for (name, value) in [
            ("cloudEvents:specversion", "1.0"),
            ("cloudEvents:type", "shop.payment"),
            ("cloudEvents:source", "/shop"),
            ("cloudEvents:id", event),
        ] {
            headers.insert(name.into(), AMQPValue::LongString(value.into()));
        }
        let properties = BasicProperties::default().with_headers(headers);
        self.send(&self.queue, properties, payment).await
    }

    /// The messages as they come.
    pub(crate) async fn messages(&self) -> Result<Consumer> {
        let (tag, options) = ("".into(), BasicConsumeOptions::default());
        self.channel
            .basic_consume(self.queue.as_str().into(), tag, options, FieldTable::default())
            .await
    }

    pub(crate) async fn acknowledge(&self, message: &Delivery) -> Result<()> {
        message.acker.ack(BasicAckOptions::default()).await.map(drop)
    }

    /// It comes again after a pause.
    pub(crate) async fn put_back(&self, message: Delivery) -> Result<()> {
        self.send(&self.later(), message.properties.clone(), &message.data).await?;
        self.acknowledge(&message).await
    }

    /// It waits for somebody, with the reason.
    pub(crate) async fn put_aside(&self, message: Delivery, reason: &str) -> Result<()> {
        let mut headers = message.properties.headers().clone().unwrap_or_default();
        headers.insert("reason".into(), AMQPValue::LongString(reason.into()));
        let properties = message.properties.clone().with_headers(headers);
        self.send(&self.dead(), properties, &message.data).await?;
        self.acknowledge(&message).await
    }

    /// Sends what was put aside once more, and says how many.
    pub(crate) async fn redrive(&self) -> Result<usize> {
        let (dead, options) = (self.dead(), BasicGetOptions::default());
        let mut moved = 0;
        while let Some(got) = self.channel.basic_get(dead.as_str().into(), options).await? {
            let message = got.delivery;
            self.send(&self.queue, message.properties.clone(), &message.data).await?;
            self.acknowledge(&message).await?;
            moved += 1;
        }
        Ok(moved)
    }

    /// Comes back when the broker has it on its disk.
    async fn send(&self, queue: &str, properties: BasicProperties, body: &[u8]) -> Result<()> {
        let properties = properties.with_delivery_mode(PERSISTENT);
        let options = BasicPublishOptions { mandatory: true, ..BasicPublishOptions::default() };
        let confirmed = self
            .channel
            .basic_publish("".into(), queue.into(), options, body, properties)
            .await?
            .await?;
        if confirmed.is_ack() && confirmed.take_message().is_none() {
            return Ok(());
        }
        Err(std::io::Error::other("the broker did not take a message").into())
    }
}

/// What is known of a message: the identity of its CloudEvent, its payload, and whether it may
/// have been here before. What else is in its headers is no identity, baggage least of all.
pub(crate) fn envelope(message: &Delivery) -> std::result::Result<Envelope, MessageIdError> {
    let headers = message.properties.headers().as_ref().map(FieldTable::inner);
    let texts = headers.into_iter().flatten().filter_map(|(name, value)| match value {
        AMQPValue::LongString(text) => {
            Some((name.as_str(), std::str::from_utf8(text.as_bytes()).ok()?))
        }
        _ => None,
    });
    let id = MessageId::from_cloudevent(texts)?;
    // What waited in another queue has a history, which the broker tells in `x-death`.
    let moved = headers
        .is_some_and(|headers| headers.contains_key("x-death") || headers.contains_key("reason"));
    let redelivery =
        if message.redelivered || moved { Redelivery::Possible } else { Redelivery::No };
    Ok(Envelope::new(id).with_payload(&message.data).with_redelivery(redelivery))
}
