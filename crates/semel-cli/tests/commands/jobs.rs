//! Jobs that are more than one `semel`: scripts, pipelines, jobs that their shell left.

use std::time::Duration;

use crate::support::{Bench, Done, Process, Running, Terminal, pause, shell, until, within};

/// The ids that a command wrote down: its own, and semel's.
async fn ids(bench: &Bench) -> (i32, i32) {
    let pid = until("its id", async || bench.read("up").trim().parse::<i32>().ok()).await;
    (pid, Process::find(pid).unwrap().parent)
}

async fn stand_still(pids: &[i32]) {
    let stands = |pid: &i32| Process::find(*pid).is_some_and(|process| process.state == "T");
    until("all stopped", async || pids.iter().all(stands).then_some(())).await;
}

/// Waits until a group is in the foreground, by one of its members: what is typed before is the
/// shell's.
async fn is_in_the_foreground(pid: i32) {
    until("the foreground", async || {
        let process = Process::find(pid)?;
        (process.foreground == process.group).then_some(())
    })
    .await;
}

/// Presses the stop key when `front` is in the foreground, and has the shell continue the job when
/// all of it stands still; where the screen said that it was stopped.
async fn stops_and_goes_on(terminal: &mut Terminal, job: &[i32], front: i32) -> usize {
    is_in_the_foreground(front).await;
    terminal.keys("\x1a");
    let at = terminal.shows("Stopped", 0).await;
    stand_still(job).await;
    terminal.keys("fg\n");
    is_in_the_foreground(front).await;
    at
}

/// A shell with a script that runs `command` under a lock, and then says `after`.
async fn script(bench: &Bench, command: &str) -> Terminal {
    let script = format!("$semel lock run a --ttl 1m -- sh -c '{command}'\necho after:$?\n");
    std::fs::write(bench.file("script"), script).unwrap();
    shell(bench).await
}

/// The stop key did nothing to it: semel took its parent for all that could be a shell.
#[tokio::test]
async fn the_stop_key_stops_a_script_and_all_in_it() {
    let bench = Bench::new();
    let mut terminal = script(&bench, "echo $$ > up; read x; echo got:$x").await;
    terminal.keys("sh script\n");
    let (command, semel) = ids(&bench).await;
    let script = Process::find(semel).unwrap().parent;
    let at = stops_and_goes_on(&mut terminal, &[command, semel, script], command).await;
    terminal.keys("keys\n");
    let at = terminal.shows("got:keys\r\nafter:0\r\n", at).await;
    terminal.shows("ready> ", at).await;
}

/// It was continued as often as it was stopped, with all that a processor could give.
#[tokio::test]
async fn a_script_in_the_background_that_reads_keys_is_stopped_until_it_has_them() {
    let bench = Bench::new();
    let command = "exec < /dev/tty; echo $$ > up; read x; echo got:$x";
    let mut terminal = script(&bench, command).await;
    terminal.keys("sh script &\n");
    let (command, semel) = ids(&bench).await;
    stand_still(&[command, semel]).await;
    // A shell that has not heard of it yet takes the job for one that runs, and continues nothing.
    let heard = async {
        while !terminal.screen().contains("Stopped") {
            terminal.keys("jobs\n");
            pause(Duration::from_millis(50)).await;
        }
    };
    within("the shell hears of it", heard).await;
    let at = terminal.screen().len();
    terminal.keys("fg\n");
    is_in_the_foreground(command).await;
    terminal.keys("keys\n");
    let at = terminal.shows("got:keys\r\nafter:0\r\n", at).await;
    terminal.shows("ready> ", at).await;
}

#[tokio::test]
async fn a_lock_within_a_lock_is_one_job() {
    let bench = Bench::new();
    let mut terminal = shell(&bench).await;
    let command = "echo $$ > up; read x; echo got:$x; read x";
    terminal.keys("outer='lock run a --ttl 1m' inner='lock run b --ttl 1m'\n");
    terminal.keys(&format!("$semel $outer -- $semel $inner -- sh -c '{command}'\n"));
    let (command, inner) = ids(&bench).await;
    let outer = Process::find(inner).unwrap().parent;
    let at = stops_and_goes_on(&mut terminal, &[command, inner, outer], command).await;
    terminal.keys("keys\n");
    let at = terminal.shows("got:keys\r\n", at).await;
    terminal.keys("\x03");
    let at = terminal.shows("ready> ", at).await;
    terminal.keys("echo code:$?\n");
    terminal.shows("code:130", at).await;
}

/// A pager that asked for a key was stopped, and the whole job with it: the command had the
/// terminal, whether it wanted it or not.
#[tokio::test]
async fn in_a_pipeline_the_keys_are_for_whoever_reads_them() {
    let bench = Bench::new();
    let mut terminal = shell(&bench).await;
    let command = "echo $$ > up; echo line; while ! test -e go; do :; done";
    let pager = "read line; echo $$ > pager; read key < /dev/tty; echo key:$key:$line; > go; cat";
    terminal.keys(&format!("$semel lock run a --ttl 1m -- sh -c '{command}' | sh -c '{pager}'\n"));
    let (command, semel) = ids(&bench).await;
    let pager = until("the pager", async || bench.read("pager").trim().parse::<i32>().ok()).await;
    let at = stops_and_goes_on(&mut terminal, &[command, semel, pager], pager).await;
    terminal.keys("k\n");
    let at = terminal.shows("key:k:line\r\n", at).await;
    terminal.shows("ready> ", at).await;
}

#[tokio::test]
async fn in_a_pipeline_a_command_that_asks_for_the_terminal_has_it() {
    let bench = Bench::new();
    let mut terminal = shell(&bench).await;
    let command = "echo $$ > up; read x < /dev/tty; echo got:$x";
    terminal.keys(&format!("$semel lock run a --ttl 1m -- sh -c '{command}' | cat\n"));
    let (command, _) = ids(&bench).await;
    is_in_the_foreground(command).await;
    terminal.keys("keys\n");
    let at = terminal.shows("got:keys\r\n", 0).await;
    terminal.shows("ready> ", at).await;
}

/// It was continued for ever, and so was its lock.
#[tokio::test]
async fn a_command_that_asks_for_a_terminal_that_nobody_can_give_it_is_ended() {
    for trap in ["", "trap : TERM; "] {
        let bench = Bench::new();
        let mut terminal = shell(&bench).await;
        let command = format!("{trap}while :; do read x < /dev/tty; done");
        let flags = "--ttl 1m --kill-after 500ms";
        // The shell in between is gone at once, and semel is no job of anybody.
        terminal.keys(&format!("($semel lock run a {flags} -- sh -c '{command}' &)\n"));
        let at = terminal.shows("it is told to end", 0).await;
        let next = bench.locked("a", &["--wait", "30s"], "true").await;
        assert_eq!((next.code, next.err.as_str()), (0, ""), "{trap}");
        assert!(!terminal.screen()[at..].contains("told to end"), "{trap}");
    }
}

/// Whether another `semel` runs here. Until a shell's child is one, it may drop a signal.
fn is_waiting(bench: &Bench, held: &Running) -> bool {
    let is_another = |process: &Process| {
        let told = |what: &str| std::fs::read_link(format!("/proc/{}/{what}", process.pid));
        process.pid != held.pid.as_raw_pid()
            && told("cwd").is_ok_and(|place| place == bench.path())
            && told("exe").is_ok_and(|program| program.ends_with("semel"))
            && process.parent != held.pid.as_raw_pid()
    };
    Process::all().iter().any(is_another)
}

/// Each `semel` of a loop was ended by its own key, for the shell that looped had none and took 130
/// for a code like others.
#[tokio::test]
async fn the_interrupt_key_ends_a_script_too() {
    let scripts = [
        ("sh", "lock run a --", "exec sleep 60"),
        ("bash", "lock run a --", "exec sleep 60"),
        ("bash", "once key --", "exec sleep 60"),
        // One that waits for its turn.
        ("sh", "lock run held --wait 10m --", "true"),
        ("bash", "lock run held --wait 10m --", "true"),
    ];
    for (interpreter, semel, command) in scripts {
        let bench = Bench::new();
        let held = bench.lock("held", &[], "echo $$ > up; exec sleep 600");
        ids(&bench).await;
        let body = format!("echo begun; $semel {semel} sh -c 'echo $$ > up2; {command}'");
        let script = format!("for i in 1 2 3; do {body}; done; echo lived");
        std::fs::write(bench.file("script"), script).unwrap();
        let mut terminal = shell(&bench).await;
        terminal.keys(&format!("{interpreter} script\n"));
        terminal.shows("begun", 0).await;
        if command == "true" {
            until("one that waits", async || is_waiting(&bench, &held).then_some(())).await;
        } else {
            let id = async || bench.read("up2").trim().parse::<i32>().ok();
            is_in_the_foreground(until("its id", id).await).await;
        }
        terminal.keys("\x03");
        let at = terminal.shows("^C", 0).await;
        terminal.shows("ready> ", at).await;
        let next = bench.locked("a", &[], "true").await;
        assert_eq!((next.code, next.err.as_str()), (0, ""), "{interpreter}, {semel}");
        let screen = terminal.screen();
        assert_eq!(screen.matches("begun").count(), 1, "{interpreter}, {semel}: {screen}");
        assert!(!screen.contains("lived"), "{interpreter}, {semel}: {screen}");
        held.kill().await;
    }
}

/// In a container whoever starts us may be in a session from outside, which has the number 0. It
/// was taken for our own: semel stopped itself for a shell that was not there.
#[tokio::test]
async fn a_session_from_outside_the_container_is_not_ours() {
    let mut command = tokio::process::Command::new("unshare");
    command.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]);
    command.arg(std::env::current_exe().unwrap());
    command
        .args(["--exact", "terminal::without_a_shell_to_continue_it_the_stop_key_stops_nothing"]);
    let done = Done::of(&mut command).await;
    if done.code == 1 && done.err.contains("Operation not permitted") {
        // Within some containers nobody may make another; the test of `is_watched` stands.
        eprintln!("not tried, no containers here: {}", done.err);
        return;
    }
    assert!(done.code == 0 && done.out.contains("1 passed"), "{} {}", done.out, done.err);
}
