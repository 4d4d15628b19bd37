//! If semel is gone, so is the command: killed, stopped, or robbed of its guardian.

use std::time::Duration;

use rustix::process::Signal;

use crate::support::{Bench, Process, Running, is_alive, pause, until};

/// A command and its grandchild, both of which ignore what can be ignored.
const STUBBORN: &str = "trap '' TERM HUP INT; sleep 60 & echo $$ $! > pids; wait; wait";

async fn stubborn(bench: &Bench, flags: &[&str]) -> (Running, Vec<i32>) {
    let running = bench.lock("a", flags, STUBBORN);
    let pids = until("the processes", async || {
        let text = bench.read("pids");
        text.ends_with('\n').then(|| text.split_whitespace().map(|p| p.parse().unwrap()).collect())
    })
    .await;
    (running, pids)
}

async fn all_die(pids: &[i32]) {
    until("the end of all of it", async || (!pids.iter().any(|pid| is_alive(*pid))).then_some(()))
        .await;
}

/// ETR-4: the wrapper is killed and its child goes on.
#[tokio::test]
async fn etr_4_if_semel_is_killed_the_whole_group_dies_and_the_lock_is_free_within_its_lease() {
    let bench = Bench::new();
    let (running, pids) = stubborn(&bench, &["--ttl", "2s"]).await;
    running.kill().await;
    all_die(&pids).await;
    let next = bench.locked("a", &["--wait", "30s"], "true").await;
    assert_eq!((next.code, next.err.as_str()), (0, ""));
}

/// ET-8: keep-alives outlive the process.
#[tokio::test]
async fn et_8_nothing_renews_the_lock_of_a_semel_that_was_killed() {
    let bench = Bench::new();
    let (running, _) = stubborn(&bench, &["--ttl", "1s"]).await;
    let guardian = running.guardian().await;
    running.kill().await;
    until("the end of the guardian", async || (!is_alive(guardian.pid)).then_some(())).await;
    until("the end of the lease", async || {
        let shown = bench.run(["lock", "show", "a", "--json"]).await;
        (shown.code == 1 || shown.out.contains("\"delayed\"")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn et_8_the_command_dies_even_if_semel_and_its_guardian_are_killed_together() {
    let bench = Bench::new();
    let (running, pids) = stubborn(&bench, &[]).await;
    running.guardian().await.signal(Signal::KILL);
    running.kill().await;
    until("the end of the command", async || (!is_alive(pids[0])).then_some(())).await;
    // Its grandchild had nobody left to end it.
    if let Some(grandchild) = Process::find(pids[1]) {
        grandchild.signal(Signal::KILL);
    }
}

#[tokio::test]
async fn a_guardian_that_is_killed_is_replaced_and_the_new_one_knows_what_to_do() {
    let bench = Bench::new();
    let (running, pids) = stubborn(&bench, &[]).await;
    let first = running.guardian().await;
    first.signal(Signal::KILL);
    until("another guardian", async || {
        Some(running.guardian().await).filter(|guardian| guardian.pid != first.pid)
    })
    .await;
    running.kill().await;
    all_die(&pids).await;
}

/// It used to leave our group when it was up: a stop of the job before that stopped it as well.
#[tokio::test]
async fn the_guardian_is_never_in_a_group_with_semel() {
    let bench = Bench::new();
    for _ in 0..5 {
        let running = bench.lock("a", &[], "sleep 0.2");
        let guardian = running.stopped_at_once(b"__guard").await.unwrap();
        assert_eq!(guardian.group, guardian.pid);
        assert_eq!(running.done().await.code, 0);
    }
}

/// It would sleep through the moment that it is there for.
#[tokio::test]
async fn a_guardian_that_is_stopped_goes_on() {
    let bench = Bench::new();
    let (running, pids) = stubborn(&bench, &[]).await;
    let guardian = running.guardian().await;
    guardian.signal(Signal::STOP);
    // It may be continued before anybody can look.
    pause(Duration::from_millis(200)).await;
    until("a guardian that goes on", async || {
        Process::find(guardian.pid).filter(|guardian| guardian.state != "T")
    })
    .await;
    running.kill().await;
    all_die(&pids).await;
}

/// A semel that is stopped renews nothing, and can do nothing. The guardian can.
#[tokio::test]
async fn if_semel_is_stopped_the_group_is_dead_before_the_lease_ends() {
    let bench = Bench::new();
    let (running, pids) = stubborn(&bench, &["--ttl", "2s"]).await;
    running.signal(Signal::STOP);
    let next = bench.lock("a", &["--wait", "30s"], "cat /proc/$(cut -d' ' -f1 pids)/stat; true");
    let next = next.done().await;
    assert_eq!(next.code, 0);
    assert!(next.out.is_empty() || next.out.contains(") Z "), "{}", next.out);
    assert!(!pids.iter().any(|pid| is_alive(*pid)));
    running.signal(Signal::CONT);
    let done = running.done().await;
    assert_eq!(done.code, 76, "{}", done.err);
}

#[tokio::test]
async fn a_killall_by_name_is_passed_on_like_any_term() {
    let bench = Bench::new();
    let running = bench.lock("a", &[], "touch up; exec sleep 60");
    until("the command", async || bench.file("up").exists().then_some(())).await;
    let guardian = running.guardian().await;
    guardian.signal(Signal::TERM);
    pause(Duration::from_millis(100)).await;
    assert!(is_alive(guardian.pid), "the guardian can be ended by a polite signal");
    running.signal(Signal::TERM);
    assert_eq!(running.done().await.code, 143);
}
