//! Holders that lose their lock, all at once, and others that wait for it.

use std::time::Duration;

use semel_testkit::{AppendFsync, Direction, FaultProxy, RedisServer};

use super::{Bench, Process, Running, pause, until};

/// How long a lock outlives a holder that is gone, here.
pub(crate) const TTL: Duration = Duration::from_secs(2);

/// What happens to holders of locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The server is stopped, and goes on when the leases have ended.
    Paused,
    /// The holder's connection carries nothing any more; others reach the server.
    CutOff,
    /// The server is killed, and starts again with what it had when the leases have ended.
    Killed,
    /// `semel` is killed.
    SemelKilled,
    /// `semel` is stopped.
    SemelStopped,
}

/// What came of one holder.
#[derive(Debug)]
pub(crate) struct Came {
    /// What of the holder's command and its grandchild still lived when the next holder began.
    pub(crate) alive: Vec<Process>,
    /// How the next one ended.
    pub(crate) next: i32,
    /// How the holder ended; none if it was killed.
    pub(crate) holder: Option<i32>,
}

/// A command that ignores what it can, as does its child.
const STUBBORN: &str = "trap '' TERM HUP INT; sleep 600 & echo $$ $! > pids; wait; wait";
/// What the next one looks at first.
const LOOK: &str = "for p in $(cat pids); do cat /proc/$p/stat 2>/dev/null; done; true";

struct Pair {
    bench: Bench,
    holder: Running,
}

/// So many holders at once, each with one that waits for its lock.
pub(crate) async fn round(fault: Fault, holders: usize) -> Vec<Came> {
    let durable = RedisServer::builder().append_only(AppendFsync::BySystem);
    let mut server = durable.start().await.unwrap();
    let proxy = FaultProxy::start(server.address()).await.unwrap();
    let through = server.url_at(proxy.address());
    let mut pairs = Vec::new();
    for _ in 0..holders {
        pairs.push(Pair::start(&through));
        // So that their renewals are at different stages when it happens.
        pause(Duration::from_millis(29)).await;
    }
    for pair in &pairs {
        pair.is_up().await;
    }
    let direct = server.url();
    let waiters: Vec<Running> = pairs.iter().map(|pair| pair.waiter(&direct)).collect();
    pause(Duration::from_millis(300)).await;
    strike(fault, &mut server, &proxy, &pairs).await;
    let mut came = Vec::new();
    for (pair, waiter) in pairs.into_iter().zip(waiters) {
        came.push(pair.end(fault, waiter).await);
    }
    came
}

impl Pair {
    fn start(store: &str) -> Self {
        let bench = Bench::on(store);
        let ttl = format!("{}ms", TTL.as_millis());
        let resource = bench.path().display().to_string();
        let holder = bench.lock(&resource, &["--ttl", &ttl], STUBBORN);
        Self { bench, holder }
    }

    async fn is_up(&self) {
        until("a holder", async || self.bench.read("pids").ends_with('\n').then_some(())).await;
    }

    fn waiter(&self, store: &str) -> Running {
        let resource = self.bench.path().display().to_string();
        self.bench.lock(&resource, &["--store", store, "--wait", "10m"], LOOK)
    }

    async fn end(self, fault: Fault, waiter: Running) -> Came {
        let next = waiter.done().await;
        let alive = next.out.lines().filter_map(Process::parse).collect();
        let holder = match fault {
            Fault::SemelKilled => {
                self.holder.kill().await;
                None
            }
            Fault::SemelStopped => {
                self.holder.signal(rustix::process::Signal::CONT);
                Some(self.holder.done().await.code)
            }
            _ => Some(self.holder.done().await.code),
        };
        Came { alive, next: next.code, holder }
    }
}

async fn strike(fault: Fault, server: &mut RedisServer, proxy: &FaultProxy, pairs: &[Pair]) {
    use rustix::process::Signal;
    match fault {
        Fault::Paused => {
            server.pause().unwrap();
            pause(TTL).await;
            server.resume().unwrap();
        }
        Fault::CutOff => {
            proxy.drop_bytes(Direction::ToServer, true);
            proxy.drop_bytes(Direction::ToClient, true);
        }
        Fault::Killed => {
            server.kill();
            pause(TTL).await;
            server.restart().await.unwrap();
        }
        Fault::SemelKilled => pairs.iter().for_each(|pair| pair.holder.signal(Signal::KILL)),
        Fault::SemelStopped => pairs.iter().for_each(|pair| pair.holder.signal(Signal::STOP)),
    }
}
