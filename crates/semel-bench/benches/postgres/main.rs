//! Claims with their outcomes on a PostgreSQL server, 8 at a time, durable: against `pgbench`,
//! PostgreSQL's own load program in C, with the same two statements on as many connections.

mod pairs;
mod pgbench;

use std::time::Duration;

use semel_bench::{Figure, median, tell};
use semel_testkit::PostgresServer;
use tokio::runtime::Builder;

const CALLERS: usize = 8;
const TURN: Duration = Duration::from_secs(4);

fn main() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let server = runtime.block_on(PostgresServer::launch()).expect("a server");
    let url = server.url();
    let store = runtime.block_on(semel::open(&url)).expect("a store");
    let ratios: Vec<f64> = (0..5)
        .map(|_| {
            let floor = pgbench::pairs_per_second(&url, CALLERS, TURN);
            runtime.block_on(pairs::per_second(&store, CALLERS, TURN)) / floor
        })
        .collect();
    let got = median(&ratios);
    tell("postgres: claim + outcome / pgbench", Figure::Ratio { got, at_least: 0.85 });
}
