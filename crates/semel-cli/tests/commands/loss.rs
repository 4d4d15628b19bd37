//! A lock that is lost while the command runs, or before it.

use std::time::Duration;

use rustix::process::Signal;
use semel_testkit::{AppendFsync, RedisServer};

use crate::support::{Bench, pause, until, within};

async fn redis() -> RedisServer {
    RedisServer::builder().append_only(AppendFsync::BySystem).start().await.unwrap()
}

async fn up(bench: &Bench) {
    until("the command", async || bench.file("up").exists().then_some(())).await;
}

/// ETR-2: the server is stopped; two hold. The command has its time to end well, and semel says
/// what happened, with the server still stopped.
#[tokio::test]
async fn etr_2_the_command_is_told_to_end_while_the_server_answers_nothing() {
    let mut server = redis().await;
    let bench = Bench::on(&server.url());
    let script = "trap 'echo told > told; exit 0' TERM; touch up; while :; do sleep 0.05; done";
    let running = bench.lock("a", &["--ttl", "2s"], script);
    up(&bench).await;
    server.pause().unwrap();
    let done = running.done().await;
    assert_eq!(done.code, 76, "{}", done.err);
    assert_eq!(bench.read("told"), "told\n");
    assert!(done.err.contains("a was lost: it could not be renewed in time"), "{}", done.err);
    server.resume().unwrap();
}

#[tokio::test]
async fn on_lost_kill_sends_no_term() {
    let mut server = redis().await;
    let bench = Bench::on(&server.url());
    let script = "trap 'echo told > told; exit 0' TERM; touch up; while :; do sleep 0.05; done";
    let running = bench.lock("a", &["--ttl", "1s", "--on-lost", "kill"], script);
    up(&bench).await;
    server.pause().unwrap();
    assert_eq!(running.done().await.code, 76);
    assert_eq!(bench.read("told"), "");
    server.resume().unwrap();
}

/// It is what was asked for; but it is never told as plain success.
#[tokio::test]
async fn on_lost_ignore_lets_the_command_end_by_itself_and_says_that_the_lock_was_lost() {
    let mut server = redis().await;
    let bench = Bench::on(&server.url());
    let script = "touch up; while ! test -e stop; do sleep 0.02; done; echo whole";
    let running = bench.lock("a", &["--ttl", "1s", "--on-lost", "ignore"], script);
    up(&bench).await;
    server.pause().unwrap();
    pause(Duration::from_millis(1_500)).await;
    std::fs::write(bench.file("stop"), "").unwrap();
    let done = running.done().await;
    assert_eq!((done.code, done.out.as_str()), (76, "whole\n"));
    assert!(done.err.contains("ran on without it, and ended with 0"), "{}", done.err);
    server.resume().unwrap();
}

#[tokio::test]
async fn an_outage_shorter_than_the_lease_costs_nothing() {
    let mut server = redis().await;
    let bench = Bench::on(&server.url());
    let script = "touch up; while ! test -e stop; do sleep 0.02; done";
    let running = bench.lock("a", &["--ttl", "4s"], script);
    up(&bench).await;
    for _ in 0..2 {
        server.pause().unwrap();
        pause(Duration::from_millis(900)).await;
        server.resume().unwrap();
        pause(Duration::from_millis(2_000)).await;
    }
    std::fs::write(bench.file("stop"), "").unwrap();
    let done = running.done().await;
    assert_eq!((done.code, done.err.as_str()), (0, ""));
}

/// Whoever finds that the lock is another's has no time left for kindness.
#[tokio::test]
async fn a_lock_that_the_store_has_forgotten_ends_the_command_at_the_next_renewal() {
    let mut server = redis().await;
    let bench = Bench::on(&server.url());
    let script = "trap '' TERM; touch up; while :; do sleep 0.05; done";
    let running = bench.lock("a", &["--ttl", "6s", "--kill-after", "2s"], script);
    up(&bench).await;
    server.restart_empty().await.unwrap();
    let done = running.done().await;
    assert_eq!(done.code, 76, "{}", done.err);
    assert!(done.err.contains("a was lost: "), "{}", done.err);
}

#[tokio::test]
async fn a_forced_release_ends_the_command_with_its_reason_before_another_gets_the_lock() {
    let bench = Bench::new();
    let script = "trap 'sleep 0.3; echo $$ ended >> order; exit 0' TERM; touch up
                  while :; do sleep 0.05; done";
    let running = bench.lock("a", &["--ttl", "3s", "--owner", "web-3"], script);
    up(&bench).await;
    let waiter = bench.lock("a", &["--wait", "30s"], "echo next >> order");
    let forced = bench.run(["lock", "release", "a", "--force", "--reason", "it hangs"]).await;
    assert_eq!((forced.code, forced.out.as_str()), (0, ""), "{}", forced.err);
    assert!(forced.err.contains("web-3 was told to stop"), "{}", forced.err);
    let done = running.done().await;
    assert_eq!(done.code, 76);
    assert!(done.err.contains("released it by force: it hangs"), "{}", done.err);
    assert_eq!(waiter.done().await.code, 0);
    assert!(bench.read("order").ends_with("ended\nnext\n"), "{}", bench.read("order"));
}

/// Freed at once, it may be another's already: the command has no time to end well.
#[tokio::test]
async fn a_release_that_is_forced_at_once_kills_the_command_and_says_what_it_was() {
    let bench = Bench::new();
    let script = "trap 'echo asked to end >> order' TERM; echo up > up
                  while :; do sleep 0.05; done";
    let running = bench.lock("a", &["--ttl", "60s", "--owner", "web-3"], script);
    up(&bench).await;
    let flags = ["lock", "release", "a", "--force", "--reason", "it is dead", "--now"];
    let forced = bench.run(flags).await;
    assert_eq!(forced.code, 0, "{}", forced.err);
    assert_eq!(bench.locked("a", &[], "true").await.code, 0, "it is free now");
    let done = running.done().await;
    assert_eq!(done.code, 76);
    assert!(done.err.contains("released it by force and at once: it is dead"), "{}", done.err);
    assert_eq!(bench.read("order"), "", "it was killed, and not asked");
}

#[tokio::test]
async fn the_most_time_of_holding_ends_the_command() {
    let bench = Bench::new();
    let flags = ["--ttl", "3s", "--max-hold", "4s"];
    let done = bench.locked("a", &flags, "touch up; exec sleep 60").await;
    assert_eq!(done.code, 76);
    assert!(done.err.contains("held for as long as it may be"), "{}", done.err);
    assert_eq!(bench.locked("a", &["--wait", "30s"], "true").await.code, 0);
}

/// After a holder that died, the next one waits; after one that ended well, it does not.
#[tokio::test]
async fn the_lock_delay_is_for_unclean_ends_only() {
    let bench = Bench::new();
    let flags = ["--ttl", "1s", "--lock-delay", "30s"];
    assert_eq!(bench.locked("a", &flags, "true").await.code, 0);
    let running = bench.lock("a", &flags, "touch up; exec sleep 60");
    up(&bench).await;
    running.kill().await;
    pause(Duration::from_millis(1_500)).await;
    let done = bench.locked("a", &[], "true").await;
    assert_eq!(done.code, 75, "{}", done.err);
    let shown = bench.run(["lock", "show", "a", "--json"]).await;
    assert!(shown.out.contains("\"delayed\""), "{}", shown.out);
}

/// Stopped at any moment of its start, longer than its lease: a command never begins when another
/// may have the lock. On a server: who is stopped while it writes to a SQLite file stops all.
#[tokio::test]
async fn a_lock_that_is_lost_before_the_command_begins_lets_nothing_begin() {
    let server = redis().await;
    let store = server.url();
    let stopped = (0..24_u64).map(|step| {
        let store = store.clone();
        async move {
            let bench = Bench::on(&store);
            let script = "echo $SEMEL_LOCK_FENCE >> ran";
            let name = format!("lock-{step}");
            let mut running = bench.lock(&name, &["--ttl", "500ms", "--json"], script);
            running.tells("acquired").await;
            pause(Duration::from_micros(step * 200)).await;
            running.signal(Signal::STOP);
            let next = bench.locked(&name, &["--wait", "30s"], script).await;
            running.signal(Signal::CONT);
            let done = running.done().await;
            let fences: Vec<u64> = bench.read("ran").lines().map(|f| f.parse().unwrap()).collect();
            // It ran before the next one did, or never.
            assert!(fences.is_sorted() && next.code == 0, "stopped after {step}: {fences:?}");
            (done.code, fences.len() == 2)
        }
    });
    let came = within("all of them", futures_util::future::join_all(stopped)).await;
    assert!(!came.contains(&(0, false)), "one says that it ran and did not: {came:?}");
}

/// A lock that is lost before the command begins: the trampoline is caught in the act.
#[tokio::test]
async fn a_command_that_has_not_begun_when_its_lock_is_lost_never_does() {
    let mut server = redis().await;
    let bench = Bench::on(&server.url());
    let (running, trampoline) = until("a trampoline", async || {
        let running = bench.lock("a", &["--ttl", "1s"], "touch ran");
        match running.trampoline().await {
            Some(trampoline) => Some((running, trampoline)),
            None => {
                // It was too fast: another try.
                assert_eq!(running.done().await.code, 0);
                std::fs::remove_file(bench.file("ran")).unwrap();
                None
            }
        }
    })
    .await;
    until("the lock", async || {
        let shown = bench.run(["lock", "show", "a", "--json"]).await;
        shown.out.contains("\"held\"").then_some(())
    })
    .await;
    server.pause().unwrap();
    let done = running.done().await;
    assert_eq!(done.code, 76, "{}", done.err);
    assert!(!bench.file("ran").exists());
    assert!(!crate::support::is_alive(trampoline.pid));
    server.resume().unwrap();
}
