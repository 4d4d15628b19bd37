//! The command is all that it started, as long as that did not leave its group.

use std::time::Duration;

use rustix::process::Signal;

use crate::support::{Bench, is_alive, pause, until};

async fn pids(bench: &Bench, count: usize) -> Vec<i32> {
    until("the processes", async || {
        let text = bench.read("pids");
        let pids: Vec<i32> =
            text.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        (text.ends_with('\n') && pids.len() == count).then_some(pids)
    })
    .await
}

/// CO-2: only the shell is killed.
#[tokio::test]
async fn co_2_a_grandchild_that_ignores_term_is_dead_when_semel_ends() {
    let bench = Bench::new();
    let script = "(trap '' TERM; exec sleep 60) & echo $$ $! > pids; wait";
    let running = bench.lock("a", &["--kill-after", "300ms"], script);
    let pids = pids(&bench, 2).await;
    pause(Duration::from_millis(100)).await;
    running.signal(Signal::TERM);
    assert_eq!(running.done().await.code, 143);
    assert!(!pids.iter().any(|pid| is_alive(*pid)));
    assert_eq!(bench.locked("a", &[], "true").await.code, 0);
}

#[tokio::test]
async fn co_2_the_program_is_run_itself_and_not_by_a_shell() {
    let bench = Bench::new();
    let running = bench.start(["lock", "run", "a", "--", "sleep", "60"]);
    let command = until("the command", async || {
        running.command().filter(|child| {
            let name = std::fs::read_to_string(format!("/proc/{}/comm", child.pid));
            name.is_ok_and(|name| name == "sleep\n")
        })
    })
    .await;
    command.signal(Signal::TERM);
    assert_eq!(running.done().await.code, 143);
}

/// What a command leaves behind would work on while the next holder does.
#[tokio::test]
async fn what_a_command_leaves_in_its_group_is_ended_before_the_lock_is_released() {
    let bench = Bench::new();
    let script = "(trap '' TERM; exec sleep 60 >&- 2>&-) & echo $! > pids; exit 3";
    let done = bench.locked("a", &["--kill-after", "300ms"], script).await;
    let left = pids(&bench, 1).await[0];
    assert_eq!(done.code, 3);
    assert!(!is_alive(left));
    assert!(done.err.contains("left processes behind"), "{}", done.err);
    assert_eq!(bench.locked("a", &[], "true").await.code, 0);
}

#[tokio::test]
async fn a_double_fork_does_not_leave_the_group() {
    let bench = Bench::new();
    let script = "sh -c 'sleep 60 >&- 2>&- & echo $! > pids'";
    assert_eq!(bench.locked("a", &[], script).await.code, 0);
    assert!(!is_alive(pids(&bench, 1).await[0]));
}

/// flock: a grandchild keeps the lock. A daemon that left the group is nobody's command: it
/// neither keeps the lock nor is it ended.
#[tokio::test]
async fn flock_a_daemon_that_leaves_the_group_neither_keeps_the_lock_nor_is_ended() {
    let bench = Bench::new();
    let script = "setsid sh -c 'echo $$ > pids; exec sleep 30' > /dev/null 2>&1 < /dev/null &
                  while ! test -s pids; do sleep 0.02; done";
    assert_eq!(bench.locked("a", &[], script).await.code, 0);
    let daemon = pids(&bench, 1).await[0];
    assert!(is_alive(daemon));
    assert_eq!(bench.locked("a", &[], "true").await.code, 0);
    crate::support::Process::find(daemon).unwrap().signal(Signal::KILL);
}

#[tokio::test]
async fn the_guardian_ends_with_its_semel() {
    let bench = Bench::new();
    let running = bench.lock("a", &[], "sleep 0.5");
    let guardian = running.guardian().await;
    assert_eq!(running.done().await.code, 0);
    assert!(!is_alive(guardian.pid));
}
