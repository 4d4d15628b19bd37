//! Looking at locks, and taking them away.

use crate::support::{Bench, until};

async fn held(bench: &Bench, resource: &str) -> crate::support::Running {
    let flags = ["--owner", "web-3 (pid 7)"];
    let before = bench.read("up").lines().count();
    let holder = bench.lock(resource, &flags, "echo up >> up; exec sleep 60");
    until("a holder", async || (bench.read("up").lines().count() > before).then_some(())).await;
    holder
}

#[tokio::test]
async fn held_locks_are_listed_for_people_and_for_programs() {
    let bench = Bench::new();
    let empty = bench.run(["lock", "ls"]).await;
    assert_eq!((empty.code, empty.out.as_str()), (0, ""));
    assert_eq!(empty.err, "semel: no lock is held\n");
    let holders = [held(&bench, "b").await, held(&bench, "a:1").await];
    let table = bench.run(["lock", "ls"]).await.out;
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows[0].starts_with("LOCK") && rows[1].starts_with("a:1") && rows[2].starts_with("b "));
    assert!(rows[1].contains("web-3 (pid 7)") && rows[1].contains("held"), "{table}");
    let lines = bench.run(["lock", "ls", "--json", "a:"]).await.out;
    let told: serde_json::Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(told["resource"], "a:1");
    assert_eq!(told["holders"][0]["owner"], "web-3 (pid 7)");
    assert!(!lines.contains("token"), "{lines}");
    drop(holders);
}

#[tokio::test]
async fn a_lock_is_shown_with_its_holder_and_one_that_is_not_there_is_1() {
    let bench = Bench::new();
    let holder = held(&bench, "a").await;
    let shown = bench.run(["lock", "show", "a"]).await.out;
    for part in ["lock       a", "web-3 (pid 7)", "held", " UTC (", "in at most ", "fence"] {
        assert!(shown.contains(part), "{part} is missing: {shown}");
    }
    let none = bench.run(["lock", "show", "b"]).await;
    assert_eq!((none.code, none.out.as_str()), (1, ""));
    assert!(none.err.contains("b is not held"), "{}", none.err);
    drop(holder);
}

#[tokio::test]
async fn taking_a_lock_away_takes_the_word_and_the_reason() {
    let bench = Bench::new();
    assert_eq!(bench.run(["lock", "release", "a", "--reason", "x"]).await.code, 64);
    assert_eq!(bench.run(["lock", "release", "a", "--force"]).await.code, 64);
    assert_eq!(bench.run(["lock", "release", "a", "--force", "--reason", "x"]).await.code, 1);
}

#[tokio::test]
async fn a_lock_of_a_dead_holder_can_be_freed_at_once() {
    let bench = Bench::new();
    let holder = bench.lock("a", &["--ttl", "1h"], "touch up; exec sleep 60");
    until("a holder", async || bench.file("up").exists().then_some(())).await;
    holder.kill().await;
    assert_eq!(bench.locked("a", &[], "true").await.code, 75);
    let done = bench.run(["lock", "release", "a", "--force", "--reason", "dead", "--now"]).await;
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(bench.locked("a", &[], "true").await.code, 0);
}

/// ET-9: a crash blocks everybody for a minute.
#[tokio::test]
async fn et_9_a_lock_outlives_its_holder_by_ten_seconds_unless_it_says_otherwise() {
    let bench = Bench::new();
    let holder = held(&bench, "a").await;
    let shown = bench.run(["lock", "show", "a", "--json"]).await.out;
    let told: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let left = told["holders"][0]["left_ms"].as_u64().unwrap();
    assert!((1..=10_000).contains(&left), "{left}");
    drop(holder);
}

/// S-63: hostile names on a terminal.
#[tokio::test]
async fn s_63_what_a_holder_calls_itself_can_not_act_on_the_terminal_of_who_looks() {
    let bench = Bench::new();
    let hostile = "web\u{1b}[2J\u{202e}3\n";
    let holder = bench.lock("a", &["--owner", hostile], "touch up; exec sleep 60");
    until("a holder", async || bench.file("up").exists().then_some(())).await;
    let looks = [
        bench.run(["lock", "ls"]).await,
        bench.run(["lock", "show", "a"]).await,
        bench.locked("a", &[], "true").await,
        bench.run(["lock", "release", "a", "--force", "--reason", "x"]).await,
    ];
    for done in looks {
        let text = format!("{}{}", done.out, done.err);
        assert!(text.contains("web\\u{1b}[2J\\u{202e}3\\u{a}"), "{text:?}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
    }
    drop(holder);
}
