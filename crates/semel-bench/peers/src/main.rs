//! Locks on one Redis server, measured in turns in one run: the two raw commands, Semel, and two
//! other libraries. `cargo xtask bench peers`.
//!
//! What is compared is not the same. The raw commands and the other two set a key if it is absent
//! and delete it if it is still theirs. Semel's lock also has a fence that rises for each grant, a
//! queue, and a deadline that its holder knows.

mod contended;
mod contender;
mod pairs;

use semel_testkit::RedisServer;

#[tokio::main(worker_threads = 2)]
async fn main() {
    let server = RedisServer::start().await.expect("a server");
    let url = server.url();
    pairs::compare(&url).await;
    contended::compare(&url).await;
}
