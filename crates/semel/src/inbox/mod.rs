//! Messages that are handled once.

mod attempts;
mod batch;
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
pub use consumer::{Consumer, ConsumerError};
pub use delivery::{Delivery, Disposition};
pub use door::Inbox;
pub use envelope::{Envelope, Redelivery};
pub use error::{InboxError, InboxSettingError};
pub use message_id::{MessageId, MessageIdError};
pub use receive::Receive;
pub use settings::InboxBuilder;
