//! The command is dead before the next holder begins: so many times of so many.

use crate::support::faults::{Fault, round};

/// At once: each is a holder, its guardian, its command and a grandchild, and one that waits.
const AT_ONCE: usize = 20;

/// As many as the tier wants: `cargo xtask proof` sets this variable.
fn runs() -> usize {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    match cases.unwrap_or(0) {
        0..2_000 => 6,
        2_000..100_000 => 20,
        _ => 200,
    }
}

async fn always_dead_before_the_next_begins(fault: Fault) {
    let (runs, mut done) = (runs(), 0);
    while done < runs {
        let round = round(fault, AT_ONCE.min(runs - done)).await;
        for came in &round {
            assert!(came.alive.is_empty(), "after {done} runs of {fault:?}: {came:?}");
            assert_eq!(came.next, 0, "the next one never began: {came:?}");
            assert!(matches!(came.holder, None | Some(76)), "it says it kept the lock: {came:?}");
        }
        done += round.len();
    }
    println!("{fault:?}: dead before the next holder began in {done} of {runs} runs");
}

/// ETR-2, CO-1.
#[tokio::test]
async fn proof_the_command_is_dead_before_the_next_begins_with_the_server_paused() {
    always_dead_before_the_next_begins(Fault::Paused).await;
}

/// CO-1.
#[tokio::test]
async fn proof_the_command_is_dead_before_the_next_begins_with_the_holder_cut_off() {
    always_dead_before_the_next_begins(Fault::CutOff).await;
}

/// CO-1.
#[tokio::test]
async fn proof_the_command_is_dead_before_the_next_begins_with_the_server_killed() {
    always_dead_before_the_next_begins(Fault::Killed).await;
}

/// ETR-4, ET-8.
#[tokio::test]
async fn proof_the_command_is_dead_before_the_next_begins_with_semel_killed() {
    always_dead_before_the_next_begins(Fault::SemelKilled).await;
}

#[tokio::test]
async fn proof_the_command_is_dead_before_the_next_begins_with_semel_stopped() {
    always_dead_before_the_next_begins(Fault::SemelStopped).await;
}
