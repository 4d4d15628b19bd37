//! At a terminal the command has the foreground, and a shell's job is one job.
//!
//! A script that is stopped here starts no program at that time. `sh` starts one by vfork, and if
//! the stop key comes between that and the exec, the child stops and `sh`, which waits for the
//! exec, doesn't: no shell and no supervisor is ever told. So they wait with `read`, or spin.

use std::fs::File;
use std::io::Write;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::{Bench, Process, Terminal, pause, shell, until, within};

/// A shell's job under a lock, in the foreground, and the id of its command: it waits.
async fn job(bench: &Bench) -> (Terminal, i32) {
    let mut terminal = shell(bench).await;
    let script = "mkfifo go; echo $$ > up; read x < go; echo whole";
    terminal.keys(&format!("$semel lock run a --ttl 1m -- sh -c '{script}'\n"));
    let pid = until("its id", async || bench.read("up").trim().parse::<i32>().ok()).await;
    (terminal, pid)
}

/// Lets that job go on to its end.
async fn ends(bench: &Bench, terminal: &Terminal) {
    let at = terminal.screen().len();
    // The word is lost if this is closed before it is read.
    let mut go = File::options().read(true).write(true).open(bench.file("go")).unwrap();
    go.write_all(b"\n").unwrap();
    let at = terminal.shows("whole\r\n", at).await;
    terminal.shows("ready> ", at).await;
}

/// Waits until a shell has put semel into the foreground, by the command's id. What is typed
/// before is the shell's, and a shell knows no stop key: its `fg` shows on the screen too early.
async fn is_in_the_foreground(command: i32) {
    until("semel in the foreground", async || {
        let command = Process::find(command)?;
        let semel = Process::find(command.parent)?;
        (command.foreground == semel.group).then_some(())
    })
    .await;
}

/// ETR-8: the terminal passes through.
#[tokio::test]
async fn etr_8_the_command_has_the_terminal_and_reads_its_keys() {
    let bench = Bench::new();
    let mut terminal = shell(&bench).await;
    terminal.keys("$semel lock run a -- sh -c 'tty; read x; echo got:$x; ps -o stat= -p $$'\n");
    let at = terminal.shows("/dev/pts/", 0).await;
    terminal.keys("keys\n");
    let at = terminal.shows("got:keys", at).await;
    // `+`: a process of the foreground group.
    let at = terminal.shows("+", at).await;
    let at = terminal.shows("ready> ", at).await;
    terminal.keys("echo $((40 + 2))\n");
    terminal.shows("42", at).await;
    terminal.keys("exit\n");
    assert_eq!(terminal.ended().await, 0);
}

#[tokio::test]
async fn the_interrupt_key_ends_the_command_and_the_shell_is_back() {
    let bench = Bench::new();
    let mut terminal = shell(&bench).await;
    terminal.keys("$semel lock run a -- sh -c 'echo up; exec sleep 60'\n");
    let at = terminal.shows("up\r\n", 0).await;
    terminal.keys("\x03");
    let at = terminal.shows("ready> ", at).await;
    terminal.keys("echo code:$?\n");
    let at = terminal.shows("code:130", at).await;
    terminal.keys("$semel lock run a -- echo again-$((1 + 1))\n");
    terminal.shows("again-2\r\n", at).await;
}

#[tokio::test]
async fn the_stop_key_stops_the_job_and_fg_and_bg_continue_it() {
    let bench = Bench::new();
    let (mut terminal, pid) = job(&bench).await;
    terminal.keys("\x1a");
    let at = terminal.shows("Stopped", 0).await;
    let state = async |wanted: &str| {
        until(wanted, async || {
            Process::find(pid).filter(|process| (process.state == "T") == (wanted == "stopped"))
        })
        .await
    };
    state("stopped").await;
    terminal.keys("bg\n");
    state("running").await;
    terminal.keys("fg\n");
    is_in_the_foreground(pid).await;
    terminal.keys("\x1a");
    terminal.shows("Stopped", at).await;
    state("stopped").await;
    terminal.keys("fg\n");
    state("running").await;
    ends(&bench, &terminal).await;
}

/// A stop on the heels of a continue takes that back before it is heard: semel ran, its command
/// did not, and no key reached it any more.
#[tokio::test]
async fn a_job_that_is_stopped_as_it_is_continued_stands_still_and_goes_on_later() {
    let bench = Bench::new();
    let (mut terminal, pid) = job(&bench).await;
    let semel = Process::find(pid).unwrap().parent;
    let both = async |state: &str| {
        let is = |pid| {
            Process::find(pid).is_some_and(|process| (process.state == "T") == (state == "stopped"))
        };
        until(state, async || (is(semel) && is(pid)).then_some(())).await;
    };
    terminal.keys("\x1a");
    both("stopped").await;
    for _ in 0..20 {
        let semel = Process::find(semel).unwrap();
        semel.signal(Signal::CONT);
        semel.signal(Signal::TSTP);
        both("stopped").await;
    }
    // A shell that has not heard of the last stop takes the job for one that runs, and continues
    // nothing: then one types it again.
    let goes_on = async {
        while Process::find(pid).is_some_and(|process| process.state == "T") {
            terminal.keys("fg\n");
            pause(Duration::from_millis(100)).await;
        }
    };
    within("it goes on", goes_on).await;
    both("running").await;
    ends(&bench, &terminal).await;
}

/// A shell's `fg` of a job that runs says nothing to it.
#[tokio::test]
async fn a_job_that_comes_to_the_foreground_while_it_runs_can_read_keys() {
    let bench = Bench::new();
    let mut terminal = shell(&bench).await;
    let script = "echo $$ > up; while ! test -e go; do sleep 0.05; done; read x; echo got:$x";
    terminal.keys(&format!("$semel lock run a --ttl 1m -- sh -c '{script}' &\n"));
    let pid = until("its id", async || bench.read("up").trim().parse::<i32>().ok()).await;
    terminal.keys("fg\n");
    is_in_the_foreground(pid).await;
    let at = terminal.screen().len();
    std::fs::write(bench.file("go"), "").unwrap();
    terminal.keys("keys\n");
    let at = terminal.shows("got:keys\r\n", at).await;
    terminal.shows("ready> ", at).await;
}

/// A job that was stopped for longer than its lease lost the lock: it must not go on.
#[tokio::test]
async fn a_job_that_was_stopped_for_too_long_is_not_continued() {
    let bench = Bench::new();
    let mut terminal = shell(&bench).await;
    let script = "echo $$ > up; while :; do echo x >> work; done";
    terminal.keys(&format!("$semel lock run a --ttl 3s -- sh -c '{script}'; echo code:$?\n"));
    let pid = until("its id", async || bench.read("up").trim().parse::<i32>().ok()).await;
    terminal.keys("\x1a");
    let at = terminal.shows("Stopped", 0).await;
    until("its end", async || Process::find(pid).is_none().then_some(())).await;
    let work = bench.read("work").len();
    let next = bench.locked("a", &["--wait", "30s"], "true").await;
    assert_eq!(next.code, 0, "{}", next.err);
    terminal.keys("fg; echo code:$?\n");
    terminal.shows("code:76", at).await;
    assert_eq!(bench.read("work").len(), work);
}

#[tokio::test]
async fn without_a_shell_to_continue_it_the_stop_key_stops_nothing() {
    let bench = Bench::new();
    let script = "trap 'echo woken' CONT; echo up; while ! test -e stop; do :; done";
    let mut terminal =
        Terminal::start(&bench.command(["lock", "run", "a", "--", "sh", "-c", script]));
    let at = terminal.shows("up", 0).await;
    terminal.keys("\x1a");
    terminal.shows("woken", at).await;
    std::fs::write(bench.file("stop"), "").unwrap();
    assert_eq!(terminal.ended().await, 0);
}

#[tokio::test]
async fn without_a_shell_the_interrupt_key_is_a_code() {
    let bench = Bench::new();
    let mut terminal = Terminal::start(&bench.command([
        "lock",
        "run",
        "a",
        "--",
        "sh",
        "-c",
        "echo up; exec sleep 60",
    ]));
    terminal.shows("up", 0).await;
    terminal.keys("\x03");
    assert_eq!(terminal.ended().await, 130);
}
