//! Pairs of acquiring and releasing, one after the other on one connection.

use std::time::{Duration, Instant};

use semel_bench::median;

use crate::contender::Contender;

const PAIRS: u32 = 1_000;
const ROUNDS: usize = 9;

/// Measures them in turns, and prints the medians.
pub async fn compare(contenders: &[Contender]) {
    let mut spent = vec![Vec::new(); contenders.len()];
    for _ in 0..ROUNDS {
        for (contender, spent) in contenders.iter().zip(&mut spent) {
            spent.push(timed(contender).await);
        }
    }
    for (contender, own) in contenders.iter().zip(&spent) {
        let ratios: Vec<_> = spent[0]
            .iter()
            .zip(own)
            .map(|(raw, own)| raw.as_secs_f64() / own.as_secs_f64())
            .collect();
        let rate = f64::from(PAIRS) / median(own).as_secs_f64();
        println!(
            "acquire + release, {:<18} {rate:>7.0} pairs a second, {:.2} of the raw commands",
            contender.name(),
            median(&ratios),
        );
    }
}

async fn timed(contender: &Contender) -> Duration {
    let started = Instant::now();
    for _ in 0..PAIRS {
        contender.pair().await;
    }
    started.elapsed()
}
