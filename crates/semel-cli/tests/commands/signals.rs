//! Signals to semel are the command's.

use std::time::Duration;

use nix::sys::signal::SigSet;
use rustix::process::Signal;

use crate::support::{Bench, Done, Process, Running, is_alive, pause, until};

/// A script that is ready once it has made the file `up`.
async fn started(bench: &Bench, flags: &[&str], script: &str) -> Running {
    let running = bench.lock("a", flags, script);
    up(bench).await;
    running
}

async fn up(bench: &Bench) {
    until("the command", async || bench.file("up").exists().then_some(())).await;
}

async fn assert_free(bench: &Bench) {
    let next = bench.locked("a", &[], "true").await;
    assert_eq!((next.code, next.err.as_str()), (0, ""), "the lock was not released");
}

/// ETR-3: TERM is swallowed.
#[tokio::test]
async fn etr_3_term_ends_the_command_then_the_lock_and_the_code_is_143() {
    let bench = Bench::new();
    let running = started(&bench, &[], "touch up; exec sleep 60").await;
    running.signal(Signal::TERM);
    assert_eq!(running.done().await.code, 143);
    assert_free(&bench).await;
}

#[tokio::test]
async fn etr_3_a_command_that_ends_by_itself_on_term_is_waited_for_and_keeps_its_code() {
    let bench = Bench::new();
    let script = "trap 'sleep 1; echo done; exit 7' TERM; touch up; while :; do sleep 0.05; done";
    let running = started(&bench, &[], script).await;
    running.signal(Signal::TERM);
    let held = bench.locked("a", &[], "true").await;
    assert_eq!(held.code, 75, "the lock was released before the command ended");
    let done = running.done().await;
    assert_eq!((done.code, done.out.as_str()), (7, "done\n"));
    assert_free(&bench).await;
}

#[tokio::test]
async fn etr_3_a_command_that_ignores_term_is_killed_in_time() {
    let bench = Bench::new();
    let script = "trap '' TERM; touch up; while :; do sleep 0.05; done";
    let running = started(&bench, &["--kill-after", "300ms"], script).await;
    running.signal(Signal::TERM);
    assert_eq!(running.done().await.code, 137);
    assert_free(&bench).await;
}

/// CO-3: signals end the wrapper alone.
#[tokio::test]
async fn co_3_every_deadly_signal_is_passed_on_and_waited_for() {
    for (signal, code) in [
        (Signal::HUP, 129),
        (Signal::INT, 130),
        (Signal::QUIT, 131),
        (Signal::USR1, 138),
        (Signal::USR2, 140),
        (Signal::ALARM, 142),
        (Signal::TERM, 143),
    ] {
        let bench = Bench::new();
        let running = started(&bench, &[], "ulimit -c 0; touch up; exec sleep 60").await;
        running.signal(signal);
        assert_eq!(running.done().await.code, code, "{signal:?}");
        assert_free(&bench).await;
    }
}

#[tokio::test]
async fn co_3_signals_that_mean_something_to_the_command_do_not_end_it() {
    let bench = Bench::new();
    let script = "for s in HUP INT QUIT USR1 USR2 WINCH; do trap \"echo $s >> got\" $s; done
                  touch up; while ! test -e stop; do sleep 0.02; done";
    let running = started(&bench, &[], script).await;
    let all = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::USR1, Signal::USR2, Signal::WINCH];
    for (number, signal) in all.into_iter().enumerate() {
        running.signal(signal);
        until("the signal", async || (bench.read("got").lines().count() > number).then_some(()))
            .await;
    }
    std::fs::write(bench.file("stop"), "").unwrap();
    assert_eq!(running.done().await.code, 0);
    assert_eq!(bench.read("got"), "HUP\nINT\nQUIT\nUSR1\nUSR2\nWINCH\n");
}

#[tokio::test]
async fn a_signal_that_was_ignored_from_the_start_stays_so_for_the_command() {
    let bench = Bench::new();
    let semel = env!("CARGO_BIN_EXE_semel");
    let script = "touch up; while ! test -e stop; do sleep 0.02; done; echo lived";
    let mut command = tokio::process::Command::new("nohup");
    command.args([semel, "lock", "run", "a", "--", "sh", "-c", script]);
    command
        .current_dir(bench.path())
        .env("SEMEL_STORE", format!("sqlite:{}", bench.file("semel.db").display()));
    let running = Running::start(&mut command);
    up(&bench).await;
    running.signal(Signal::HUP);
    running.command().unwrap().signal(Signal::HUP);
    std::fs::write(bench.file("stop"), "").unwrap();
    let done = running.done().await;
    assert_eq!((done.code, done.out.as_str()), (0, "lived\n"));
}

/// The stop key's test hung where the starter of all tests ignored that key's signal: it stays
/// ignored in whatever is started, down to the command.
#[tokio::test]
async fn a_starter_of_these_tests_may_ignore_signals() {
    let script = "trap '' HUP INT QUIT USR1 USR2 ALRM TERM CHLD CONT TSTP TTIN TTOU; exec \"$@\"";
    for test in [
        "signals::co_3_every_deadly_signal_is_passed_on_and_waited_for",
        "terminal::without_a_shell_to_continue_it_the_stop_key_stops_nothing",
    ] {
        let mut command = tokio::process::Command::new("sh");
        command.args(["-c", script, "sh"]).arg(std::env::current_exe().unwrap());
        let done = Done::of(command.args(["--exact", test])).await;
        assert!(done.code == 0 && done.out.contains("1 passed"), "{} {}", done.out, done.err);
    }
}

#[tokio::test]
async fn a_starter_of_these_tests_may_block_signals() {
    SigSet::all().thread_block().unwrap();
    let bench = Bench::new();
    let done = bench.locked("a", &[], "grep SigBlk /proc/self/status").await;
    assert_eq!(done.out, "SigBlk:\t0000000000000000\n");
}

#[tokio::test]
async fn a_stopped_command_ends_on_term_all_the_same() {
    let bench = Bench::new();
    let running = started(&bench, &[], "echo $$ > up; exec sleep 60").await;
    let pid = until("its id", async || bench.read("up").trim().parse::<i32>().ok()).await;
    Process::find(pid).unwrap().signal(Signal::STOP);
    until("the stop", async || Process::find(pid).filter(|p| p.state == "T")).await;
    running.signal(Signal::TERM);
    assert_eq!(running.done().await.code, 143);
}

#[tokio::test]
async fn a_command_that_is_stopped_and_continued_keeps_its_lock() {
    let bench = Bench::new();
    let script = "echo $$ > up; while ! test -e stop; do sleep 0.02; done";
    let running = started(&bench, &["--ttl", "4s"], script).await;
    let pid = until("its id", async || bench.read("up").trim().parse::<i32>().ok()).await;
    Process::find(pid).unwrap().signal(Signal::STOP);
    pause(Duration::from_secs(5)).await;
    assert_eq!(bench.locked("a", &[], "true").await.code, 75, "its lease was not renewed");
    Process::find(pid).unwrap().signal(Signal::CONT);
    std::fs::write(bench.file("stop"), "").unwrap();
    assert_eq!(running.done().await.code, 0);
    assert!(!is_alive(pid));
}
