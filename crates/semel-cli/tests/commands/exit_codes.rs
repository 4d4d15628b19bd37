//! The exit code is the command's own; ours are few, documented, and out of its way.

use crate::support::{Bench, Done};

/// ETR-6: exit codes are lost.
#[tokio::test]
async fn etr_6_the_commands_own_code_is_passed_on() {
    let bench = Bench::new();
    for code in [0, 1, 2, 42, 64, 75, 126, 127, 255] {
        let done = bench.locked("a", &[], &format!("exit {code}")).await;
        assert_eq!(done, Done { code, out: String::new(), err: String::new() });
    }
}

#[tokio::test]
async fn etr_6_a_signal_that_ended_the_command_is_128_and_its_number() {
    let bench = Bench::new();
    for (name, code) in [("KILL", 137), ("TERM", 143), ("INT", 130), ("SEGV", 139), ("USR1", 138)] {
        assert_eq!(bench.locked("a", &[], &format!("kill -{name} $$")).await.code, code, "{name}");
    }
}

#[tokio::test]
async fn etr_6_what_can_not_be_run_is_126_or_127_as_in_a_shell_and_leaves_no_lock() {
    let bench = Bench::new();
    let file = bench.file("not-executable");
    std::fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    for (program, code, words) in [
        ("no-such-command", 127, "no-such-command: command not found"),
        ("./nowhere/x", 127, "./nowhere/x: command not found"),
        ("", 127, "command not found"),
        (file, 126, "Permission denied"),
        ("/", 126, "Permission denied"),
    ] {
        let done = bench.run(["lock", "run", "a", "--", program]).await;
        assert_eq!((done.code, done.out.as_str()), (code, ""), "{program}: {}", done.err);
        assert!(done.err.starts_with("semel: ") && done.err.contains(words), "{}", done.err);
        assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    }
    assert_eq!(bench.run(["lock", "ls", "--json"]).await.out, "");
}

#[tokio::test]
async fn a_held_lock_is_75_or_what_was_asked_for_and_says_who_has_it() {
    let bench = Bench::new();
    let holder = bench.lock("report:daily", &["--owner", "web-3"], "touch up; exec sleep 60");
    crate::support::until("a holder", async || bench.file("up").exists().then_some(())).await;
    let done = bench.locked("report:daily", &[], "touch twice").await;
    assert_eq!((done.code, done.out.as_str()), (75, ""));
    let line = done.err.trim_end();
    let start = "semel: report:daily is held by web-3 since ";
    assert!(line.starts_with(start) && line.contains(" UTC, free in at most "), "{line}");
    assert_eq!(line.lines().count(), 1);
    let chosen = bench.locked("report:daily", &["--conflict-exit-code", "0"], "touch twice").await;
    assert_eq!(chosen.code, 0);
    assert!(!bench.file("twice").exists());
    drop(holder);
}

#[tokio::test]
async fn wrong_flags_are_64_and_nothing_runs() {
    let bench = Bench::new();
    for (flags, words) in [
        (&["--ttl", "0s"][..], "--ttl"),
        (&["--ttl", "5"], "unit"),
        (&["--ttl", "1s", "--kill-after", "2s"], "twice the 2s"),
        (&["--wait", "soon"], "--wait"),
        (&["--max-hold", "1s"], "--ttl (10s)"),
        (&["--on-lost", "cry"], "term, kill, ignore"),
        (&["--conflict-exit-code", "256"], "256"),
        (&["--no-such-flag"], "--no-such-flag"),
        (&["--store", "memory:"], "outlives"),
        (&["--store", "mysql://x"], "sqlite:FILE"),
    ] {
        let done = bench.locked("a", flags, "touch ran").await;
        assert_eq!((done.code, done.out.as_str()), (64, ""), "{flags:?}: {}", done.err);
        assert!(done.err.contains(words), "{flags:?}: {}", done.err);
    }
    for name in ["", "with space", "with\nline"] {
        assert_eq!(bench.locked(name, &[], "touch ran").await.code, 64, "{name:?}");
    }
    assert_eq!(bench.run(["lock", "run", "a"]).await.code, 64);
    assert_eq!(bench.run(["lock", "run", "a", "touch", "ran"]).await.code, 64);
    assert!(!bench.file("ran").exists());
}
