//! Processes that are killed in the middle of their work.

use crate::child::Other;
use crate::support::{PATIENCE, Place, claim, version, within, won};

const KILLS: usize = 25;

/// What was acknowledged before the kill is there after it, kill after kill, and versions go on
/// rising. Every other time the file is opened by somebody else while the process dies.
#[tokio::test]
async fn every_acknowledged_write_outlives_a_kill() {
    let place = Place::new();
    let mut acknowledged = Vec::new();
    let mut last = 0;
    for round in 0..KILLS {
        let neighbour = if round % 2 == 0 { None } else { Some(place.open().await) };
        let mut other = Other::start("stream", &place.path());
        // Some die in their first commits, some in the middle of a checkpoint.
        for _ in 0..1 + round * 97 % 800 {
            acknowledged.push(parsed(&other.hear().expect("it goes on until it is killed")));
        }
        other.kill();
        // What it said before it died and we had not heard yet.
        while let Some(line) = other.hear() {
            acknowledged.push(parsed(&line));
        }
        drop(neighbour);
        let store = place.open().await;
        for (name, expected) in &acknowledged {
            let found = version(&store, name).await.map(|version| version.get());
            assert_eq!(found, Some(*expected), "round {round}: {name}");
        }
        let highest = acknowledged.iter().map(|(_, version)| *version).max().unwrap();
        let next = won(claim(&store, format!("round-{round}")).await).version.get();
        assert!(next > highest && next > last, "round {round}: {next} after {highest}");
        last = next;
    }
    assert!(acknowledged.len() > KILLS * 100);
}

fn parsed(line: &str) -> (String, u64) {
    let (name, version) = line.split_once(' ').unwrap();
    (name.to_owned(), version.parse().unwrap())
}

/// A process that is stopped while it holds the file keeps nobody waiting for ever.
#[tokio::test]
async fn a_killed_process_leaves_no_lock() {
    let place = Place::new();
    let mut other = Other::start("stream", &place.path());
    other.hear().unwrap();
    let store = place.open().await;
    other.kill();
    let claimed = claim(&store, "after");
    won(within(PATIENCE, "a claim after a kill", claimed).await);
}
