//! Waiting for a lock.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::{Bench, pause, until};

async fn held(bench: &Bench, script: &str) -> crate::support::Running {
    let holder = bench.lock("a", &[], script);
    until("a holder", async || bench.file("up").exists().then_some(())).await;
    holder
}

#[tokio::test]
async fn who_waits_gets_the_lock_when_it_is_released_and_not_before() {
    let bench = Bench::new();
    let script = "touch up; while ! test -e stop; do sleep 0.02; done; echo first >> order";
    let holder = held(&bench, script).await;
    let waiter = bench.lock("a", &["--wait", "30s"], "echo second >> order");
    until("a waiter", async || {
        let shown = bench.run(["lock", "show", "a", "--json"]).await;
        shown.out.contains("\"queue\":[{").then_some(())
    })
    .await;
    std::fs::write(bench.file("stop"), "").unwrap();
    assert_eq!(holder.done().await.code, 0);
    assert_eq!(waiter.done().await.code, 0);
    assert_eq!(bench.read("order"), "first\nsecond\n");
}

#[tokio::test]
async fn a_wait_that_took_too_long_is_75() {
    let bench = Bench::new();
    let holder = held(&bench, "touch up; exec sleep 60").await;
    let done = bench.locked("a", &["--wait", "300ms"], "touch ran").await;
    assert_eq!(done.code, 75);
    assert!(done.err.contains("a is held by "), "{}", done.err);
    assert!(!bench.file("ran").exists());
    drop(holder);
}

/// CO-10: a long wait is capped.
#[tokio::test]
async fn co_10_a_wait_of_days_is_taken_as_it_is() {
    let bench = Bench::new();
    let holder = held(&bench, "touch up; exec sleep 60").await;
    let waiter = bench.lock("a", &["--wait", "30d"], "echo mine");
    pause(Duration::from_millis(500)).await;
    holder.signal(Signal::TERM);
    let done = waiter.done().await;
    assert_eq!((done.code, done.out.as_str()), (0, "mine\n"));
}

#[tokio::test]
async fn a_signal_ends_the_wait_and_leaves_no_place_in_the_queue() {
    let bench = Bench::new();
    let holder = held(&bench, "touch up; exec sleep 60").await;
    let waiter = bench.lock("a", &["--wait", "30s"], "touch ran");
    until("a waiter", async || {
        let shown = bench.run(["lock", "show", "a", "--json"]).await;
        shown.out.contains("\"queue\":[{").then_some(())
    })
    .await;
    waiter.signal(Signal::TERM);
    let done = waiter.done().await;
    assert_eq!(done.code, 143);
    let shown = bench.run(["lock", "show", "a", "--json"]).await;
    assert!(shown.out.contains("\"queue\":[]"), "{}", shown.out);
    assert!(!bench.file("ran").exists());
    drop(holder);
}

/// ETR-7: a wrong address hangs.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "how long a real command takes is what is tested")]
async fn etr_7_a_server_that_is_not_there_is_69_soon_and_nothing_runs() {
    for store in ["redis://127.0.0.1:1", "postgres://127.0.0.1:1/x", "sqlite:/nowhere/at/all.db"] {
        let bench = Bench::on(store);
        let began = Instant::now();
        let done = bench.locked("a", &["--wait", "1h"], "touch ran").await;
        assert_eq!(done.code, 69, "{store}: {}", done.err);
        assert!(began.elapsed() < Duration::from_secs(20), "{store}");
        assert!(done.err.starts_with("semel: ") && !done.err.contains("held"), "{}", done.err);
        assert!(!bench.file("ran").exists());
    }
}

#[tokio::test]
async fn the_least_time_of_holding_keeps_the_next_one_out_after_a_short_job() {
    let bench = Bench::new();
    assert_eq!(bench.locked("a", &["--min-hold", "2s"], "true").await.code, 0);
    let done = bench.locked("a", &[], "touch twice").await;
    assert_eq!(done.code, 75);
    assert!(!bench.file("twice").exists());
    assert_eq!(bench.locked("a", &["--wait", "30s"], "true").await.code, 0);
}

#[tokio::test]
async fn of_many_that_start_at_once_one_runs() {
    let bench = Bench::new();
    let all: Vec<_> = (0..8)
        .map(|_| bench.lock("a", &["--min-hold", "30s"], "echo ran >> runs; sleep 1"))
        .collect();
    let mut codes = Vec::new();
    for running in all {
        codes.push(running.done().await.code);
    }
    codes.sort_unstable();
    assert_eq!(codes, [0, 75, 75, 75, 75, 75, 75, 75]);
    assert_eq!(bench.read("runs"), "ran\n");
}

/// One machine needs no server: without a store named, all of a user's commands meet.
#[tokio::test]
async fn without_a_store_two_processes_of_a_user_exclude_each_other_in_a_private_file() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    let own = |script: &str| {
        let mut command = bench.command(["lock", "run", "a", "--", "sh", "-c", script]);
        command.env_remove("SEMEL_STORE").env("XDG_STATE_HOME", bench.file("state"));
        command
    };
    let holder = crate::support::Running::start(&mut own("touch up; exec sleep 60"));
    until("a holder", async || bench.file("up").exists().then_some(())).await;
    assert_eq!(crate::support::Done::of(&mut own("true")).await.code, 75);
    let mode = |name: &str| bench.file(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("state/semel"), 0o700);
    assert_eq!(mode("state/semel/semel.db"), 0o600);
    drop(holder);
}

/// DL-11: races in making the lock's place.
#[tokio::test]
async fn dl_11_many_that_make_the_users_own_store_at_once_all_get_their_turn() {
    let bench = Bench::new();
    let script = "n=$(cat count 2>/dev/null || echo 0); sleep 0.01; echo $((n + 1)) > count";
    let start = || {
        let words = ["lock", "run", "a", "--wait", "1m", "--", "sh", "-c", script];
        let mut command = bench.command(words);
        command.env_remove("SEMEL_STORE").env("XDG_STATE_HOME", bench.file("state"));
        crate::support::Running::start(&mut command)
    };
    let all: Vec<_> = (0..16).map(|_| start()).collect();
    for running in all {
        let done = running.done().await;
        assert_eq!((done.code, done.err.as_str()), (0, ""));
    }
    assert_eq!(bench.read("count"), "16\n");
}
