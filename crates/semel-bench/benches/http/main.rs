//! The layer over the memory store, on loopback, 16 connections that are kept alive: the same
//! handler without it, with a layer that checks and stores but protects nothing, with ours when
//! every request is new, and with ours when every request is a repeat.

mod servers;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use semel_bench::{Figure, Load, median, tell};

use self::servers::{Kind, serve};

const CONNECTIONS: usize = 16;

fn http(criterion: &mut Criterion) {
    let load = Load::new(CONNECTIONS);
    let mut group = criterion.benchmark_group("http, memory, 16 connections");
    group.sample_size(10).throughput(Throughput::Elements(1));
    for kind in Kind::ALL {
        group.bench_function(kind.name(), |bencher| {
            bencher.iter_custom(|requests| load.requests(serve(kind), kind.keys(), requests));
        });
    }
    group.finish();
    summary(&load);
}

/// In turns, so that what else the machine does slows all of them down.
fn summary(load: &Load) {
    let mut ratios = [const { Vec::new() }; 3];
    for _ in 0..15 {
        let per_second =
            |kind: Kind| 1.0 / load.requests(serve(kind), kind.keys(), 16_000).as_secs_f64();
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
