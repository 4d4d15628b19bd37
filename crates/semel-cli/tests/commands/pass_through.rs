//! What the command gets from us: everything, and nothing of our own.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use tokio::io::AsyncWriteExt;

use crate::support::{Bench, Done};

/// ETR-8: stdin is swallowed.
#[tokio::test]
async fn etr_8_stdin_passes_through_and_so_does_its_end() {
    let bench = Bench::new();
    let mut command = bench.command(["lock", "run", "a", "--", "cat"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let sent = "line\n".repeat(40_000);
    let mut stdin = child.stdin.take().unwrap();
    let (sent_too, output) = (sent.clone(), child.wait_with_output());
    let send = async move {
        stdin.write_all(sent_too.as_bytes()).await.unwrap();
    };
    let (output, ()) = tokio::join!(output, send);
    assert_eq!(String::from_utf8(output.unwrap().stdout).unwrap(), sent);
}

#[tokio::test]
async fn etr_8_the_file_that_is_stdin_is_shared_and_not_copied() {
    let bench = Bench::new();
    std::fs::write(bench.file("in"), "one\ntwo\n").unwrap();
    let mut command = bench.command(["lock", "run", "a", "--", "sh", "-c", "read x; echo $x"]);
    let file = std::fs::File::open(bench.file("in")).unwrap();
    let done = Done::of(command.stdin(file)).await;
    assert_eq!((done.code, done.out.as_str()), (0, "one\n"));
}

#[tokio::test]
async fn etr_8_directory_streams_and_environment_pass_through() {
    let bench = Bench::new();
    let script = "pwd; echo to stderr >&2; echo $GIVEN; echo $SEMEL_LOCK_RESOURCE; \
                  echo ${#SEMEL_LOCK_TOKEN}; echo $SEMEL_LOCK_FENCE";
    let mut command = bench.command(["lock", "run", "a:b", "--", "sh", "-c", script]);
    let done = Done::of(command.env("GIVEN", "so")).await;
    let lines: Vec<&str> = done.out.lines().collect();
    let here = bench.path().canonicalize().unwrap();
    assert_eq!(lines[..4], [here.to_str().unwrap(), "so", "a:b", "32"]);
    assert!(lines[4].parse::<u64>().unwrap() > 0);
    assert_eq!(done.err, "to stderr\n");
}

#[tokio::test]
async fn each_run_has_a_higher_fence_and_a_token_of_its_own() {
    let bench = Bench::new();
    let (mut fences, mut tokens) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let done = bench.locked("a", &[], "echo $SEMEL_LOCK_FENCE $SEMEL_LOCK_TOKEN").await;
        let (fence, token) = done.out.trim().split_once(' ').unwrap();
        fences.push(fence.parse::<u64>().unwrap());
        tokens.push(token.to_owned());
    }
    assert!(fences.is_sorted_by(|a, b| a < b), "{fences:?}");
    tokens.sort();
    tokens.dedup();
    assert_eq!(tokens.len(), 3);
}

/// CO-11: arguments of the child are eaten.
#[tokio::test]
async fn co_11_arguments_behind_the_dashes_are_the_commands_whatever_they_look_like() {
    let bench = Bench::new();
    let odd = OsStr::from_bytes(b"\xff");
    let args: Vec<&OsStr> = ["lock", "run", "a", "--", "printf", "%s|"]
        .iter()
        .map(OsStr::new)
        .chain(["-v", "--help", "--ttl", "--", "", "a b", "$x", "--json"].iter().map(OsStr::new))
        .collect();
    let done = bench.run(&args).await;
    assert_eq!((done.code, done.out.as_str()), (0, "-v|--help|--ttl|--||a b|$x|--json|"));
    let args = ["lock", "run", "a", "--", "printf"].iter().map(OsStr::new).chain([odd]);
    let output = bench.command(args).output().await.unwrap();
    assert_eq!(output.stdout, odd.as_bytes());
}

/// CO-11 too: a command can't touch the lock by what it writes to the same store.
#[tokio::test]
async fn co_11_a_key_that_is_named_like_a_lock_is_not_one() {
    let bench = Bench::new();
    let semel = env!("CARGO_BIN_EXE_semel");
    let script = format!("{semel} once lock:a -- true && {semel} key forget lock:a");
    let inner = format!("{script} && {semel} lock show a --json");
    let done = bench.locked("a", &[], &inner).await;
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("\"held\""), "{}", done.out);
}

/// flock: what is inherited keeps a lock.
#[tokio::test]
async fn flock_the_command_inherits_no_file_of_ours() {
    let bench = Bench::new();
    let script = "ls /proc/$$/fd";
    // Whoever runs the tests may have left files open for all.
    let mut plain = tokio::process::Command::new("sh");
    let plain = Done::of(plain.args(["-c", script]).stdin(Stdio::null())).await;
    assert_eq!(bench.locked("a", &[], script).await.out, plain.out);
    assert_eq!(bench.run(["once", "k", "--", "sh", "-c", script]).await.out, plain.out);
}

#[tokio::test]
async fn the_command_leads_a_group_of_its_own_in_our_session() {
    let bench = Bench::new();
    let done = bench.locked("a", &[], "cat /proc/$$/stat; cat /proc/$PPID/stat").await;
    let processes: Vec<_> = done.out.lines().filter_map(crate::support::Process::parse).collect();
    let [command, semel] = &processes[..] else { panic!("{}", done.out) };
    assert_eq!((command.group, command.parent), (command.pid, semel.pid));
    assert_ne!(command.group, semel.group);
    assert_eq!(command.session, semel.session);
}

#[tokio::test]
async fn a_signal_mask_and_handlers_are_as_the_command_would_have_had_them() {
    let bench = Bench::new();
    let script = "grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status";
    let done = bench.locked("a", &[], script).await;
    let plain = tokio::process::Command::new("sh").args(["-c", script]).output().await.unwrap();
    assert_eq!(done.out, String::from_utf8(plain.stdout).unwrap());
}

#[tokio::test]
async fn events_are_told_in_json_where_asked_for() {
    let bench = Bench::new();
    let done = bench.locked("a", &["--json"], "echo data; exit 3").await;
    assert_eq!((done.code, done.out.as_str()), (3, "data\n"));
    let events: Vec<serde_json::Value> =
        done.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["acquired", "ended", "released"]);
    assert_eq!(events[1]["exit_code"], 3);
    assert!(events[0]["fence"].as_u64().unwrap() > 0);
}
