//! The layer over the memory store, on loopback, 16 connections that are kept alive: the same
//! handler without it, with a layer that checks and stores but protects nothing, with ours when
//! every request is new, and with ours when every request is a repeat.

mod client;
mod servers;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use semel_bench::{Figure, median, tell};
use tokio::runtime::{Builder, Runtime};

use self::client::Client;
use self::servers::{Kind, serve};

const CONNECTIONS: usize = 16;

/// A server and who asks it, each with a runtime of its own.
struct Bench {
    clients: Runtime,
    servers: Runtime,
}

impl Bench {
    fn new() -> Self {
        let runtime = |threads| {
            let runtime = Builder::new_multi_thread().worker_threads(threads).enable_all().build();
            runtime.expect("a runtime")
        };
        Self { clients: runtime(1), servers: runtime(2) }
    }

    /// How long a fresh server of that kind takes for so many requests.
    fn requests(&self, kind: Kind, requests: u64) -> Duration {
        // Each has a store of its own, and ends when it is dropped.
        let (address, server) = self.servers.block_on(serve(kind));
        let each = requests.div_ceil(CONNECTIONS as u64);
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|n| self.clients.block_on(connected(address, n, kind == Kind::Replays)))
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

#[expect(clippy::disallowed_methods, reason = "a bench measures real time")]
fn timed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

fn http(criterion: &mut Criterion) {
    let bench = Bench::new();
    let mut group = criterion.benchmark_group("http, memory, 16 connections");
    group.sample_size(10).throughput(Throughput::Elements(1));
    for kind in Kind::ALL {
        group.bench_function(kind.name(), |bencher| {
            bencher.iter_custom(|requests| bench.requests(kind, requests));
        });
    }
    group.finish();
    summary(&bench);
}

/// In turns, so that what else the machine does slows all of them down.
fn summary(bench: &Bench) {
    let mut ratios = [const { Vec::new() }; 3];
    for _ in 0..15 {
        let per_second = |kind| 1.0 / bench.requests(kind, 16_000).as_secs_f64();
        let bare = per_second(Kind::Bare);
        let kinds = [Kind::Naive, Kind::FirstCalls, Kind::Replays];
        for (ratios, kind) in ratios.iter_mut().zip(kinds) {
            ratios.push(per_second(kind) / bare);
        }
    }
    let [naive, first, replays] = ratios.map(|ratios| median(&ratios));
    tell("http: naive check and store / bare", Figure::Ratio { got: naive, at_least: 0.75 });
    tell("http: first calls / bare", Figure::Ratio { got: first, at_least: 0.80 });
    tell("http: replays / bare", Figure::Ratio { got: replays, at_least: 0.90 });
}

criterion_group!(benches, http);
criterion_main!(benches);
