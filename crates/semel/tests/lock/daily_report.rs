//! The example does what its page says.

use super::support::{over, two};

#[path = "../../examples/daily_report.rs"]
#[expect(dead_code, reason = "the program itself is run as one")]
mod example;

#[tokio::test(start_paused = true)]
async fn of_two_that_start_at_once_one_does_the_report_and_the_other_returns_false() {
    let (store, ours, theirs) = two();
    let (a, b) = tokio::join!(example::report(&ours), example::report(&theirs));
    assert_eq!([a.unwrap(), b.unwrap()].iter().filter(|done| **done).count(), 1);
    // A third whose clock is late.
    assert!(!example::report(&over(&store, "late")).await.unwrap());
}

/// As two processes, if the example was built: `cargo test` does.
#[cfg(feature = "sqlite")]
#[test]
fn two_processes_that_start_at_once_print_true_and_false() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("reports.db").display());
    let program = std::env::current_exe().unwrap();
    let program = program.ancestors().nth(2).unwrap().join("examples/daily_report");
    let start = || {
        std::process::Command::new(&program)
            .arg(&url)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("build the example first: {}: {error}", program.display())
            })
    };
    let processes = [start(), start()];
    let mut said: Vec<String> = processes
        .map(|process| String::from_utf8(process.wait_with_output().unwrap().stdout).unwrap())
        .into();
    said.sort();
    assert_eq!(said[0], "false\n");
    assert!(said[1].starts_with("report of today, under fence "), "{said:?}");
    assert!(said[1].ends_with("\ntrue\n"), "{said:?}");
}
