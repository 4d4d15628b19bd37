//! What is in the queues.

use std::time::Duration;

use lapin::options::QueueDeclareOptions;
use lapin::types::FieldTable;
use lapin::{Channel, Connection, ConnectionProperties};
use semel_testkit::eventually;

/// Longer than anything takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Looks at queues without taking anything out of them.
pub(crate) struct Queues {
    _connection: Connection,
    channel: Channel,
    name: String,
}

/// A queue at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Messages that nobody has.
    pub(crate) ready: u32,
    pub(crate) consumers: u32,
}

impl Queues {
    pub(crate) async fn look(url: &str, name: &str) -> Self {
        let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
        let channel = connection.create_channel().await.unwrap();
        Self { _connection: connection, channel, name: name.to_owned() }
    }

    /// The queue of this name, with this behind the name.
    pub(crate) async fn seen(&self, behind: &str) -> Seen {
        let name = format!("{}{behind}", self.name);
        let passive = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::default() };
        let declared = self.channel.queue_declare(name.into(), passive, FieldTable::default());
        let queue = declared.await.unwrap();
        Seen { ready: queue.message_count(), consumers: queue.consumer_count() }
    }

    /// Waits until no message is ready and none waits to come back. Consumers may have some.
    pub(crate) async fn until_drained(&self) {
        eventually(PATIENCE, "queues without ready messages", || async {
            let ready = self.seen("").await.ready + self.seen(".later").await.ready;
            (ready == 0).then_some(())
        })
        .await
        .unwrap();
    }

    /// What is left once all consumers are gone: what they had is there again.
    pub(crate) async fn left(&self) -> u32 {
        eventually(PATIENCE, "the end of all consumers", || async {
            (self.seen("").await.consumers == 0).then_some(())
        })
        .await
        .unwrap();
        self.seen("").await.ready + self.seen(".later").await.ready
    }

    /// Waits until so many are in the dead-letter queue.
    pub(crate) async fn until_dead(&self, many: u32) {
        eventually(PATIENCE, "messages in the dead-letter queue", || async {
            (self.seen(".dead").await.ready >= many).then_some(())
        })
        .await
        .unwrap();
        assert_eq!(self.seen(".dead").await.ready, many);
    }
}
