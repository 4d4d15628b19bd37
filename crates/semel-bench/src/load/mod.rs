//! Connections that ask a server of this process, over loopback.

mod client;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use self::client::Client;

/// Whether each request has a key of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// All requests are first calls.
    Fresh,
    /// All requests of a connection but the first are repeats.
    Repeated,
}

/// A number of connections that are kept alive, and servers, each side with a runtime of its own.
#[derive(Debug)]
pub struct Load {
    connections: usize,
    clients: Runtime,
    servers: Runtime,
}

impl Load {
    /// As many connections, on one thread; the servers have two.
    ///
    /// # Panics
    ///
    /// Where no threads can be had.
    #[must_use]
    pub fn new(connections: usize) -> Self {
        let runtime = |threads| {
            let runtime = Builder::new_multi_thread().worker_threads(threads).enable_all().build();
            runtime.expect("a runtime")
        };
        Self { connections, clients: runtime(1), servers: runtime(2) }
    }

    /// Where the servers run.
    #[must_use]
    pub const fn servers(&self) -> &Runtime {
        &self.servers
    }

    /// How long a fresh server takes for so many requests to `POST /orders`.
    ///
    /// # Panics
    ///
    /// Where an answer is not 201.
    pub fn requests<S>(&self, serve: S, keys: Keys, requests: u64) -> Duration
    where
        S: Future<Output = (SocketAddr, JoinHandle<()>)>,
    {
        // Each has a store of its own, and ends when it is dropped.
        let (address, server) = self.servers.block_on(serve);
        let each = requests.div_ceil(self.connections as u64);
        let clients: Vec<_> = (0..self.connections)
            .map(|n| self.clients.block_on(connected(address, n, keys == Keys::Repeated)))
            .collect();
        let spent = timed(|| self.all(clients, each));
        server.abort();
        spent
    }

    fn all(&self, clients: Vec<Client>, each: u64) {
        let tasks: Vec<_> = clients
            .into_iter()
            .map(|mut client| {
                self.clients.spawn(async move {
                    for _ in 0..each {
                        client.post().await;
                    }
                })
            })
            .collect();
        self.clients.block_on(async {
            for task in tasks {
                task.await.expect("no panic");
            }
        });
    }
}

async fn connected(address: SocketAddr, number: usize, repeats: bool) -> Client {
    let mut client = Client::connect(address, number, repeats).await;
    // The connection is warm, and what is to be repeated is recorded.
    client.post().await;
    client
}

/// How long something takes.
#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
pub fn timed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}
