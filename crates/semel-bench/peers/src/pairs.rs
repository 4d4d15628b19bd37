//! Pairs of acquiring and releasing, one after the other on one connection.

use std::time::{Duration, Instant};

use semel_bench::median;

use crate::contender::{Contender, Peer, Raw, Redlock, Semel};

const PAIRS: u32 = 1_000;
const ROUNDS: usize = 9;

/// Measures them in turns, and prints the medians.
pub async fn compare(url: &str) {
    let raw = Raw::open(url).await;
    let semel = Semel::open(url).await;
    let redlock = Redlock::open(url).await;
    let peer = Peer::open(url).await;
    let mut spent = [const { Vec::new() }; 4];
    for _ in 0..ROUNDS {
        spent[0].push(timed(&raw).await);
        spent[1].push(timed(&semel).await);
        spent[2].push(timed(&redlock).await);
        spent[3].push(timed(&peer).await);
    }
    let names = [Raw::NAME, Semel::NAME, Redlock::NAME, Peer::NAME];
    for (name, own) in names.into_iter().zip(&spent) {
        report(name, &spent[0], own);
    }
}

async fn timed(contender: &impl Contender) -> Duration {
    let started = Instant::now();
    for _ in 0..PAIRS {
        contender.pair().await;
    }
    started.elapsed()
}

fn report(name: &str, raw: &[Duration], own: &[Duration]) {
    let ratios: Vec<_> =
        raw.iter().zip(own).map(|(raw, own)| raw.as_secs_f64() / own.as_secs_f64()).collect();
    let rate = f64::from(PAIRS) / median(own).as_secs_f64();
    println!(
        "acquire + release, {name:<18} {rate:>7.0} pairs a second, {:.2} of the raw commands",
        median(&ratios),
    );
}
