//! The layer over a Redis server, on loopback, 64 connections that are kept alive: against a bare
//! handler, against one that sends the two commands of a claim and its outcome itself with nothing
//! else, and against one that sends two plain `SET`s, which protect nothing.

mod servers;

use semel_bench::{Figure, Load, median, tell};
use semel_testkit::RedisServer;

use self::servers::{Kind, serve};

const CONNECTIONS: usize = 64;
const REQUESTS: u64 = 16_000;

fn main() {
    let load = Load::new(CONNECTIONS);
    let server = load.servers().block_on(RedisServer::start()).expect("a server");
    let url = server.url();
    let per_second =
        |kind: Kind| 1.0 / load.requests(serve(kind, &url), kind.keys(), REQUESTS).as_secs_f64();
    let mut ratios = [const { Vec::new() }; 4];
    for _ in 0..9 {
        let (bare, swaps) = (per_second(Kind::Bare), per_second(Kind::TwoSwaps));
        let first = per_second(Kind::FirstCalls);
        ratios[0].push(swaps / bare);
        ratios[1].push(first / swaps);
        ratios[2].push(per_second(Kind::Replays) / swaps);
        ratios[3].push(first / per_second(Kind::TwoSets));
    }
    let [floor, first, replays, sets] = ratios.map(|ratios| median(&ratios));
    tell("redis: two swaps / bare", Figure::Ratio { got: floor, at_least: 0.43 });
    tell("redis: first calls / two swaps", Figure::Ratio { got: first, at_least: 0.90 });
    tell("redis: replays / two swaps", Figure::Ratio { got: replays, at_least: 1.0 });
    tell("redis: first calls / two plain SETs", Figure::Ratio { got: sets, at_least: 0.90 });
}
