//! Sixteen who want one lock again and again, each as a process of its own would: how long from one
//! grant to the next, and how often the next is whoever just had it.

use std::time::{Duration, Instant};

use tokio::sync::mpsc::unbounded_channel;
use tokio::task::JoinSet;

use crate::contender::{Contender, Peer, Redlock, Semel, Waits};

const WAITERS: usize = 16;
const TURNS: usize = 25;

/// A grant: when, and to which of the waiters.
type Grant = (Instant, usize);

/// Measures each alone, and prints how long the hand-offs took.
pub async fn compare(url: &str) {
    report(Semel::NAME, grants::<Semel>(url).await);
    report(Redlock::NAME, grants::<Redlock>(url).await);
    report(Peer::NAME, grants::<Peer>(url).await);
}

async fn grants<C: Waits>(url: &str) -> Vec<Grant> {
    let (told, mut granted) = unbounded_channel();
    let mut waiters = JoinSet::new();
    for waiter in 0..WAITERS {
        let (contender, told) = (C::open(url).await, told.clone());
        waiters.spawn(async move {
            for _ in 0..TURNS {
                let tell = || told.send((Instant::now(), waiter)).expect("somebody listens");
                contender.turn(tell).await;
            }
        });
    }
    drop(told);
    let mut all = Vec::new();
    while let Some(grant) = granted.recv().await {
        all.push(grant);
    }
    while let Some(ended) = waiters.join_next().await {
        ended.expect("no panic");
    }
    all
}

fn report(name: &str, grants: Vec<Grant>) {
    let hand_offs = || grants.windows(2).map(|pair| (pair[0], pair[1]));
    let mut spent: Vec<Duration> = hand_offs().map(|(from, to)| to.0 - from.0).collect();
    spent.sort();
    let to_oneself = hand_offs().filter(|(from, to)| from.1 == to.1).count();
    let at = |hundredth: usize| spent[spent.len() * hundredth / 100];
    println!(
        "hand-off among {WAITERS}, {name:<18} median {:>8.2?}, p99 {:>8.2?}, most {:>8.2?}, {} % \
         to whoever just had it",
        at(50),
        at(99),
        spent[spent.len() - 1],
        100 * to_oneself / spent.len(),
    );
}
