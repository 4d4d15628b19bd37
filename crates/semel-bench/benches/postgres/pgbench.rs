//! The same two statements, sent by `pgbench`.

use std::fs;
use std::process::Command;
use std::time::Duration;

/// `pgbench` takes what follows a colon for a variable, even in quotes: the keys have none.
///
/// A claim of 200 bytes for a minute and an outcome of 700 for a day, as the store sends them.
const SCRIPT: &str = r"
\set n random(1, 9000000000000000)
SELECT won, now_us, at_version, lease_left, keep_left, at_value FROM semel.semel_swap('idem-bench-' || :n::text, decode(md5(:n::text), 'hex'), 0, NULL, 0, convert_to(repeat('h', 200), 'UTF8'), 60000000, 86400000000, 1000) \gset
SELECT won, now_us, at_version, lease_left, keep_left, at_value FROM semel.semel_swap('idem-bench-' || :n::text, decode(md5(:n::text), 'hex'), 2, :at_version, 0, convert_to(repeat('d', 700), 'UTF8'), 0, 86400000000, 1000);
";

/// How statements are sent.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Protocol {
    /// Parsed and planned each time, as the store sends them: a pooler may stand between.
    Unprepared,
    /// Parsed once for each connection.
    Prepared,
}

impl Protocol {
    const fn flag(self) -> &'static str {
        match self {
            Self::Unprepared => "--protocol=extended",
            Self::Prepared => "--protocol=prepared",
        }
    }
}

/// How many pairs a second it gets through.
pub(crate) fn pairs_per_second(
    url: &str,
    clients: usize,
    turn: Duration,
    protocol: Protocol,
) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("pair.sql");
    fs::write(&script, SCRIPT).expect("a script");
    let output = Command::new(semel_testkit::postgres_program("pgbench").expect("pgbench"))
        .args(["--no-vacuum", protocol.flag(), "--jobs=2"])
        .arg(format!("--client={clients}"))
        .arg(format!("--time={}", turn.as_secs()))
        .arg("--file")
        .arg(&script)
        .arg(url)
        .output()
        .expect("pgbench runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "pgbench failed: {complaints}");
    let rate = said.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next());
    rate.and_then(|rate| rate.parse().ok()).expect("a rate")
}
