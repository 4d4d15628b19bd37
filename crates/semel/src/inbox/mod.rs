//! Messages that are handled once, however often they are delivered.
//!
//! Every broker delivers a message again when it does not know what became of it: the consumer
//! died, its acknowledgement was lost, the network hung. Every sender publishes again when it does
//! not know whether it had published. An [`Inbox`] stands before a consumer's work and knows which
//! messages were handled:
//!
//! ```
//! # use semel::{Once, MemoryStore, timer::SystemClock};
//! use semel::inbox::{Consumer, Disposition, Envelope, Inbox, MessageId};
//!
//! # #[derive(Debug)] struct DatabaseIsDown;
//! # async fn book(_: &[u8]) -> Result<(), DatabaseIsDown> { Ok(()) }
//! # struct Message { headers: Vec<(String, String)>, body: Vec<u8> }
//! # impl Message {
//! #     fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
//! #         self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))
//! #     }
//! #     async fn ack(&self) {}
//! #     async fn put_back(&self, _: Option<std::time::Duration>) {}
//! #     async fn dead_letter(&self) {}
//! # }
//! # async fn next_message() -> Option<Message> { None }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let once = Once::new(semel::open("memory:").await?);       // or redis:…, postgres:…, sqlite:…
//! let inbox = Inbox::new(once, Consumer::new("bookkeeping")?)?;
//!
//! while let Some(message) = next_message().await {
//!     // Which message it is: the `source` and `id` of its CloudEvent.
//!     let Ok(id) = MessageId::from_cloudevent(message.headers()) else {
//!         message.dead_letter().await;
//!         continue;
//!     };
//!     let envelope = Envelope::new(id).with_payload(&message.body);
//!     let delivered = inbox.receive(&envelope).run(async |_| book(&message.body).await).await;
//!     match Disposition::of(&delivered) {
//!         Disposition::Acknowledge => message.ack().await,
//!         Disposition::PutBack(after) => message.put_back(after).await,
//!         Disposition::DeadLetter => message.dead_letter().await,
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # When, and when not
//!
//! Use it where a message has an effect that must not be had twice, and where its sender gives it
//! an identity that is the same each time it is published.
//!
//! Don't use it
//!
//! * where the work is the same when it is done again: setting a value, refreshing a view;
//! * for messages without an identity of their sender's. A delivery's number, an offset, or an id
//!   that the broker makes up tells a redelivery, but not a second copy;
//! * to put messages into an order, or to handle each one's newest version only;
//! * in place of acknowledgements. A message is acknowledged *after* its work, as before.
//!
//! # What a delivery comes to
//!
//! | the message | its delivery comes to | do with it |
//! | --- | --- | --- |
//! | is new | its work runs: [`Handled`](Delivery::Handled) | acknowledge |
//! | was handled | [`Duplicate`](Delivery::Duplicate) | acknowledge: else it comes back for ever |
//! | is being handled elsewhere, or its owner has died and its lease goes on | [`Later`](Delivery::Later), with what is left of the lease | put back |
//! | failed | [`Failed`](InboxError::Failed); nothing is left but a count, and the next delivery runs | put back |
//! | was tried too often | [`Poison`](Delivery::Poison); nothing is left of it at all, so it runs again when somebody sends it out of the dead-letter queue | dead-letter |
//! | may have been handled, and must not run again | [`InDoubt`](Delivery::InDoubt) | dead-letter |
//! | has a used identity and another payload | [`Refused`](Delivery::Refused) | dead-letter: it was *not* handled |
//! | can't be judged, for the store is down | [`Unavailable`](InboxError::Unavailable); the work does not run | put back |
//!
//! [`Disposition::of`] gives the last column. Nothing is acknowledged whose work is not done.
//!
//! # What is promised
//!
//! What the [guarantee](crate::Guarantee) of the [policy](crate::Policy) promises for calls, under
//! the same condition. `Retryable` is the default: a failed or crashed attempt that left something
//! behind does it again. `AtMostOnce` never runs what may have run. With `Transactional` the work
//! gets a transaction of the store ([`Receive::run_in_transaction`]), and what it writes there
//! commits in one step with the record: exactly once, in PostgreSQL and in SQLite.
//!
//! A consumer that is late, its lease over and its message handled by another meanwhile, changes
//! nothing, whether its work succeeds or fails: its delivery is a duplicate, or put off.
//!
//! A message that was handled is remembered for the policy's `time_to_live`, a day by default. A
//! copy that comes later is handled again: let it be longer than anything holds one, dead-letter
//! queues included.
//!
//! # Attempts
//!
//! Attempts are counted in the store, over all processes: those that failed, those that panicked,
//! and those whose consumer died. Deliveries that were put off are none. How it is done:
//!
//! * Without a transaction, a consumer that dies leaves its claim, and whoever takes that over adds
//!   one to the number in it. A failure frees the claim, and the number goes into an entry beside
//!   it, `attempts:<key>`, which is kept for
//!   [`attempts_time_to_live`](InboxBuilder::attempts_time_to_live). A consumer that dies in
//!   between the two is not counted.
//! * In a transaction, a consumer that dies leaves nothing. There an attempt is counted in that
//!   entry before it begins, and taken back if it does not. A consumer that dies in between is
//!   counted.
//!
//! When a message is poison both are removed first, and only then it is told. So the message can
//! run again from wherever it is put: as often as at first.
//!
//! # Baggage
//!
//! A message may carry the idempotency key of the call that published it, in its baggage or in a
//! header. Here it is ignored: a call publishes several messages, all with its key, and each of
//! them is to be handled. Work that is to run once under *that* key says so, by
//! [`Once::call`](crate::Once::call) within the message's work.
//!
//! # Batches
//!
//! [`Inbox::receive_batch`] takes messages that came together and gives each its own outcome, in
//! their order. One that fails or panics changes nothing for the others.
//!
//! The example `inbox_rabbitmq` does all this with RabbitMQ; `docs/messages.md` says how to set up
//! queues, and what other brokers need.

mod attempts;
mod batch;
mod builder;
mod consumer;
mod delivery;
mod door;
mod envelope;
mod error;
mod forget;
mod message_id;
mod receive;
mod run;
mod settings;
mod start;

pub use attempts::AttemptLimit;
pub use batch::Batch;
pub use builder::InboxBuilder;
pub use consumer::{Consumer, ConsumerError};
pub use delivery::{Delivery, Disposition};
pub use door::Inbox;
pub use envelope::{Envelope, Redelivery};
pub use error::{InboxError, InboxSettingError};
pub use message_id::{MessageId, MessageIdError};
pub use receive::Receive;
