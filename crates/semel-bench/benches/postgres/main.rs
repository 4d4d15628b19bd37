//! Claims with their outcomes on a PostgreSQL server, 8 at a time, durable: against `pgbench`,
//! PostgreSQL's own load program in C, with the same two statements on as many connections.

mod pairs;
mod pgbench;

use std::time::Duration;

use semel_bench::{Figure, median, tell};
use semel_testkit::PostgresServer;
use tokio::runtime::Builder;

use self::pgbench::Protocol;

const CALLERS: usize = 8;
const TURN: Duration = Duration::from_secs(4);

fn main() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let server = runtime.block_on(PostgresServer::builder().on_disk().start()).expect("a server");
    let url = server.url();
    let store = runtime.block_on(semel::open(&url)).expect("a store");
    let mut ratios = [const { Vec::new() }; 2];
    for _ in 0..5 {
        let ours = runtime.block_on(pairs::per_second(&store, CALLERS, TURN));
        let protocols = [Protocol::Unprepared, Protocol::Prepared];
        for (ratios, protocol) in ratios.iter_mut().zip(protocols) {
            ratios.push(ours / pgbench::pairs_per_second(&url, CALLERS, TURN, protocol));
        }
    }
    let [unprepared, prepared] = ratios.map(|ratios| median(&ratios));
    let figure = Figure::Ratio { got: unprepared, at_least: 0.85 };
    tell("postgres: claim + outcome / pgbench", figure);
    let figure = Figure::Ratio { got: prepared, at_least: 0.85 };
    tell("postgres: claim + outcome / pgbench, prepared", figure);
}
