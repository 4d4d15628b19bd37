//! A counter in a file that is read, thought about and written, under locks whose holders stand
//! still for longer than their leases, in paused time.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use semel::timer::sleep;
use semel::{AcquiredWithin, Fence, FileGate, FilePassage, Locks};

use crate::support::{memory, millis, over, secs};

/// The counter, behind a gate or not.
struct Counter {
    file: PathBuf,
    gate: Option<FileGate>,
}

impl Counter {
    /// Reads it: from here on an older fence is refused.
    fn read(&self, fence: Fence) -> Option<u64> {
        self.inside(fence, || self.value())
    }

    /// Whether it was written.
    fn write(&self, fence: Fence, value: u64) -> bool {
        self.inside(fence, || fs::write(&self.file, value.to_string()).unwrap()).is_some()
    }

    fn inside<T>(&self, fence: Fence, work: impl FnOnce() -> T) -> Option<T> {
        let Some(gate) = &self.gate else { return Some(work()) };
        match gate.enter(fence).unwrap() {
            FilePassage::Passed(_pass) => Some(work()),
            FilePassage::Refused { seen } => {
                assert!(seen > fence);
                None
            }
        }
    }

    fn value(&self) -> u64 {
        fs::read_to_string(&self.file).unwrap().parse().unwrap()
    }
}

/// One turn; whether its write was accepted.
async fn turn(locks: &Locks, counter: &Counter, pause: u64) -> bool {
    let AcquiredWithin::Acquired(guard) =
        locks.acquire_within("counter", millis(120), secs(600)).await.unwrap()
    else {
        panic!("timed out");
    };
    let Some(read) = counter.read(guard.fence()) else { return false };
    // Past its lease, it does not look when it wakes.
    sleep(millis(pause)).await;
    let written = counter.write(guard.fence(), read + 1);
    // Whatever became of it.
    let _ = guard.release().await;
    written
}

/// How many accepted writes were lost in one run.
async fn lost(run: u64, guarded: bool) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("counter");
    fs::write(&file, "0").unwrap();
    let gate = guarded.then(|| FileGate::new(folder.path().join("counter.fence")));
    let (counter, store) = (Arc::new(Counter { file, gate }), memory());
    let workers = (0..3_u64).map(|worker| {
        let (locks, counter) = (over(&store, &format!("worker {worker}")), Arc::clone(&counter));
        tokio::spawn(async move {
            let mut accepted = 0;
            for round in 0..3_u64 {
                // Every third one stands still for one to three leases.
                let stands = (run + worker + round).is_multiple_of(3);
                let pause = if stands { 130 + (run * 37 + round * 61) % 240 } else { 5 };
                accepted += u64::from(turn(&locks, &counter, pause).await);
            }
            accepted
        })
    });
    let mut accepted = 0;
    for worker in workers.collect::<Vec<_>>() {
        accepted += worker.await.unwrap();
    }
    assert!(accepted > 0, "nothing was written");
    accepted - counter.value()
}

/// As many as the tier wants: `cargo xtask proof` sets this variable.
fn runs() -> u64 {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    match cases.unwrap_or(0) {
        0..2_000 => 10,
        2_000..100_000 => 100,
        _ => 1_000,
    }
}

/// HZ-10, and rule 4 of the suite: the unguarded one must lose something, or this shows nothing.
#[tokio::test(start_paused = true)]
async fn proof_hz10_a_counter_behind_a_file_gate_loses_nothing_and_one_without_it_does() {
    let (mut unguarded, runs) = (0, runs());
    for run in 0..runs {
        assert_eq!(lost(run, true).await, 0, "in run {run}");
        unguarded += lost(run, false).await;
    }
    assert!(unguarded > 0, "nobody stood still at the wrong moment");
    println!("guarded: nothing lost in {runs} runs; unguarded: {unguarded} writes");
}
