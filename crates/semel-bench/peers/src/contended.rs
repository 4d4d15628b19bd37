//! Sixteen who want one lock again and again, each as a process of its own would: how long from one
//! grant to the next.

use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use crate::contender::{Peer, Redlock, Semel};

const WAITERS: usize = 16;
const TURNS: usize = 25;

/// Measures each alone, and prints how long the hand-offs took.
pub async fn compare(url: &str) {
    let (told, taken) = unbounded_channel();
    let mut waiters = JoinSet::new();
    for _ in 0..WAITERS {
        let (semel, told) = (Semel::open(url).await, told.clone());
        waiters.spawn(async move {
            for _ in 0..TURNS {
                semel.turn(|| tell(&told)).await;
            }
        });
    }
    drop(told);
    report("semel", waiters, taken).await;

    let (told, taken) = unbounded_channel();
    let mut waiters = JoinSet::new();
    for _ in 0..WAITERS {
        let (redlock, told) = (Redlock::open(url), told.clone());
        waiters.spawn(async move {
            for _ in 0..TURNS {
                redlock.turn(|| tell(&told)).await;
            }
        });
    }
    drop(told);
    report("rslock", waiters, taken).await;

    let (told, taken) = unbounded_channel();
    let mut waiters = JoinSet::new();
    for _ in 0..WAITERS {
        let (peer, told) = (Peer::open(url).await, told.clone());
        waiters.spawn(async move {
            for _ in 0..TURNS {
                peer.turn(|| tell(&told)).await;
            }
        });
    }
    drop(told);
    report("distributed-lock", waiters, taken).await;
}

fn tell(told: &UnboundedSender<Instant>) {
    told.send(Instant::now()).expect("somebody listens");
}

async fn report(
    name: &str,
    mut waiters: JoinSet<()>,
    mut taken: tokio::sync::mpsc::UnboundedReceiver<Instant>,
) {
    let mut all = Vec::new();
    while let Some(at) = taken.recv().await {
        all.push(at);
    }
    while let Some(ended) = waiters.join_next().await {
        ended.expect("no panic");
    }
    let mut spent: Vec<Duration> = all.windows(2).map(|pair| pair[1] - pair[0]).collect();
    spent.sort();
    let at = |hundredth: usize| spent[spent.len() * hundredth / 100];
    println!(
        "hand-off among {WAITERS}, {name:<18} median {:>8.2?}, p99 {:>8.2?}, most {:>8.2?}",
        at(50),
        at(99),
        spent[spent.len() - 1],
    );
}
