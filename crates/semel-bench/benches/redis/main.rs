//! The layer over a Redis server, on loopback, 64 connections that are kept alive: against a bare
//! handler, and against one that sends the two commands of a claim and its outcome itself and
//! protects nothing.

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
    let mut ratios = [const { Vec::new() }; 3];
    for _ in 0..9 {
        let (bare, floor) = (per_second(Kind::Bare), per_second(Kind::TwoCommands));
        ratios[0].push(floor / bare);
        ratios[1].push(per_second(Kind::FirstCalls) / floor);
        ratios[2].push(per_second(Kind::Replays) / floor);
    }
    let [floor, first, replays] = ratios.map(|ratios| median(&ratios));
    tell("redis: two plain commands / bare", Figure::Ratio { got: floor, at_least: 0.43 });
    tell("redis: first calls / two plain commands", Figure::Ratio { got: first, at_least: 0.90 });
    tell("redis: replays / two plain commands", Figure::Ratio { got: replays, at_least: 1.0 });
}
