//! The door for messages with a real broker, in real time: the example as processes that are
//! killed in the middle of their work.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod consumers;
mod kills;
mod queues;
mod redrive;
mod rows;

#[path = "../../examples/inbox_rabbitmq/broker.rs"]
#[expect(dead_code, reason = "a part of it is the program's own")]
mod broker;

use std::sync::Arc;

use semel_testkit::RabbitServer;
use tokio::sync::{Mutex, OnceCell};

/// One for all tests of this process, for it takes some seconds to start. It ends with the process.
async fn rabbit() -> Arc<RabbitServer> {
    static SERVER: OnceCell<Arc<RabbitServer>> = OnceCell::const_new();
    let launch = || async { Arc::new(RabbitServer::launch().await.unwrap()) };
    Arc::clone(SERVER.get_or_init(launch).await)
}

/// Tests that kill processes on a busy machine take turns.
static TURN: Mutex<()> = Mutex::const_new(());
