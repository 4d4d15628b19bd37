//! `semel once`: a command that runs at most once per key.

use rustix::process::Signal;
use semel_testkit::{AppendFsync, PostgresServer, RedisServer};

use crate::support::{Bench, Done, Running, is_alive, until};

const COUNTED: &str = "echo ran >> runs; echo out; echo err >&2; exit 3";

async fn once(bench: &Bench, flags: &[&str], script: &str) -> Done {
    start(bench, flags, script).done().await
}

fn start(bench: &Bench, flags: &[&str], script: &str) -> Running {
    let before = ["once", "k"];
    let after = ["--", "sh", "-c", script];
    bench.start(before.iter().chain(flags).chain(&after))
}

async fn up(bench: &Bench) {
    until("the command", async || bench.file("up").exists().then_some(())).await;
}

async fn assert_runs_once_and_repeats(bench: &Bench) {
    let first = once(bench, &[], COUNTED).await;
    assert_eq!((first.code, first.out.as_str(), first.err.as_str()), (3, "out\n", "err\n"));
    for _ in 0..3 {
        assert_eq!(once(bench, &[], COUNTED).await, first);
    }
    assert_eq!(bench.read("runs"), "ran\n");
}

#[tokio::test]
async fn a_repeat_prints_what_was_printed_and_ends_as_it_ended_and_nothing_runs() {
    assert_runs_once_and_repeats(&Bench::new()).await;
}

#[tokio::test]
async fn it_is_the_same_on_servers() {
    let redis = RedisServer::builder().append_only(AppendFsync::BySystem).start().await.unwrap();
    assert_runs_once_and_repeats(&Bench::on(&redis.url())).await;
    let postgres = PostgresServer::launch().await.unwrap();
    assert_runs_once_and_repeats(&Bench::on(&postgres.url())).await;
}

#[tokio::test]
async fn every_byte_is_repeated_on_the_stream_it_was_on() {
    let bench = Bench::new();
    let script = "i=0; while [ $i -lt 256 ]; do printf \"\\\\$(printf %o $i)\"; i=$((i+1)); done; \
                  head -c 100000 /dev/zero >&2";
    let output = |bench: &Bench| bench.command(["once", "k", "--", "sh", "-c", script]).output();
    let (first, again) = (output(&bench).await.unwrap(), output(&bench).await.unwrap());
    assert_eq!(first.stdout, (0..=255).collect::<Vec<u8>>());
    assert_eq!(first.stderr.len(), 100_000);
    assert_eq!((first.stdout, first.stderr), (again.stdout, again.stderr));
}

#[tokio::test]
async fn what_is_printed_is_passed_on_while_the_command_runs() {
    use tokio::io::{AsyncBufReadExt, BufReader};
    let bench = Bench::new();
    let script = "echo first; while ! test -e go; do sleep 0.02; done; echo second";
    let mut command = bench.command(["once", "k", "--", "sh", "-c", script]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "first");
    std::fs::write(bench.file("go"), "").unwrap();
    assert_eq!(lines.next_line().await.unwrap().unwrap(), "second");
    assert!(child.wait().await.unwrap().success());
}

/// A part of what was printed would pass for all of it.
#[tokio::test]
async fn what_was_too_much_is_not_repeated_in_part_and_does_not_run_again() {
    let bench = Bench::new();
    let script = "echo ran >> runs; head -c 2000 /dev/zero; exit 4";
    let first = once(&bench, &["--max-output", "1KiB"], script).await;
    assert_eq!((first.code, first.out.len()), (4, 2_000));
    let again = once(&bench, &["--max-output", "1KiB"], script).await;
    assert_eq!((again.code, again.out.as_str()), (66, ""));
    assert!(again.err.contains("ran already and ended with 4"), "{}", again.err);
    assert_eq!(bench.read("runs"), "ran\n");
}

#[tokio::test]
async fn another_command_under_the_key_is_65_and_runs_only_the_record_where_that_is_wanted() {
    let bench = Bench::new();
    once(&bench, &[], "exit 3").await;
    let other = once(&bench, &[], "touch ran").await;
    assert_eq!(other.code, 65, "{}", other.err);
    assert!(other.err.contains("another command"), "{}", other.err);
    assert_eq!(once(&bench, &["--any-command"], "touch ran").await.code, 3);
    assert!(!bench.file("ran").exists());
}

#[tokio::test]
async fn a_repeat_while_it_runs_waits_for_it_or_is_75() {
    let bench = Bench::new();
    let script = "echo ran >> runs; touch up; while ! test -e go; do sleep 0.02; done; echo out";
    let first = start(&bench, &[], script);
    up(&bench).await;
    let busy = once(&bench, &["--wait", "0s"], script).await;
    assert_eq!((busy.code, busy.out.as_str()), (75, ""));
    let busy = once(&bench, &["--wait", "200ms"], script).await;
    assert_eq!(busy.code, 75, "{}", busy.err);
    let waiting = start(&bench, &["--wait", "30s"], script);
    std::fs::write(bench.file("go"), "").unwrap();
    assert_eq!(first.done().await.code, 0);
    let waited = waiting.done().await;
    assert_eq!((waited.code, waited.out.as_str()), (0, "out\n"));
    assert_eq!(bench.read("runs"), "ran\n");
}

#[tokio::test]
async fn a_command_that_can_not_be_run_has_done_nothing_and_leaves_its_key_free() {
    let bench = Bench::new();
    assert_eq!(bench.run(["once", "k", "--", "./tool"]).await.code, 127);
    std::fs::write(bench.file("tool"), "#!/bin/sh\necho ran\n").unwrap();
    assert_eq!(bench.run(["once", "k", "--", "./tool"]).await.code, 126);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bench.file("tool"), mode).unwrap();
    let ran = bench.run(["once", "k", "--", "./tool"]).await;
    assert_eq!((ran.code, ran.out.as_str()), (0, "ran\n"));
}

#[tokio::test]
async fn a_command_that_exits_with_127_by_itself_has_run() {
    let bench = Bench::new();
    for _ in 0..2 {
        assert_eq!(once(&bench, &[], "echo ran >> runs; exit 127").await.code, 127);
    }
    assert_eq!(bench.read("runs"), "ran\n");
}

/// At most once: a run that was cut off never runs again by itself.
#[tokio::test]
async fn a_run_that_was_cut_off_is_in_doubt_until_somebody_says_how_it_ended() {
    let bench = Bench::new();
    let script = "echo ran >> runs; echo $$ > up; exec sleep 60";
    let flags = ["--wait", "0s"];
    let first = start(&bench, &flags, script);
    let pid = until("its id", async || bench.read("up").trim().parse::<i32>().ok()).await;
    first.kill().await;
    until("the command's end", async || (!is_alive(pid)).then_some(())).await;
    let done = until("doubt", async || {
        let done = once(&bench, &flags, script).await;
        (done.code != 75).then_some(done)
    })
    .await;
    assert_eq!((done.code, done.out.as_str()), (76, ""));
    for part in ["k is in doubt", "semel key resolve k --done CODE", "--free"] {
        assert!(done.err.contains(part), "{part} is missing: {}", done.err);
    }
    assert_eq!(bench.run(["key", "resolve", "k", "--done", "5"]).await.code, 0);
    assert_eq!(once(&bench, &flags, script).await.code, 5);
    assert_eq!(bench.read("runs"), "ran\n");
}

#[tokio::test]
async fn a_command_that_a_passed_on_signal_ended_is_recorded_as_that() {
    let bench = Bench::new();
    let script = "echo ran >> runs; touch up; exec sleep 60";
    let first = start(&bench, &[], script);
    up(&bench).await;
    first.signal(Signal::TERM);
    assert_eq!(first.done().await.code, 143);
    assert_eq!(once(&bench, &[], script).await.code, 143);
    assert_eq!(bench.read("runs"), "ran\n");
}

#[tokio::test]
async fn stdin_passes_through_and_wrong_keys_and_stores_run_nothing() {
    let bench = Bench::new();
    std::fs::write(bench.file("in"), "given").unwrap();
    let mut command = bench.command(["once", "k", "--", "cat"]);
    let done = Done::of(command.stdin(std::fs::File::open(bench.file("in")).unwrap())).await;
    assert_eq!(done.out, "given");
    for key in ["", &"x".repeat(256)] {
        assert_eq!(bench.run(["once", key, "--", "touch", "ran"]).await.code, 64, "{key:?}");
    }
    let away = Bench::on("redis://127.0.0.1:1");
    let done = away.run(["once", "k", "--", "touch", "ran"]).await;
    assert_eq!(done.code, 69, "{}", done.err);
    assert!(!bench.file("ran").exists() && !away.file("ran").exists());
}

#[tokio::test]
async fn of_many_at_once_one_runs_and_all_say_the_same() {
    let bench = Bench::new();
    let script = "echo ran >> runs; sleep 0.3; echo out; exit 9";
    let all: Vec<_> = (0..8).map(|_| start(&bench, &["--wait", "30s"], script)).collect();
    for running in all {
        let done = running.done().await;
        assert_eq!((done.code, done.out.as_str()), (9, "out\n"), "{}", done.err);
    }
    assert_eq!(bench.read("runs"), "ran\n");
}
