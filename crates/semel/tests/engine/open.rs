//! Stores from their URLs, and two processes over one file.

use std::error::Error;

use semel::core::{Expect, Key, Next, Ttl};
use semel::timer::sleep;
use semel::{Once, OpenError, open};

use super::support::{bytes, call, fresh, impatient, recorded, replayed, secs};

#[tokio::test(start_paused = true)]
async fn memory_is_opened_by_its_url() {
    for url in ["memory:", "MEMORY:"] {
        let once = Once::new(open(url).await.unwrap());
        let call = call(&impatient(), "k");
        let mut claim = fresh(&once, &call).await;
        recorded(&mut claim, bytes(b"kept")).await;
        assert_eq!(replayed(&once, &call).await, b"kept");
    }
}

/// S-71: a URL may hold a password, in whatever place.
#[tokio::test(start_paused = true)]
async fn no_error_repeats_what_may_be_a_secret() {
    for url in [
        "hunter2",
        "hunter2:",
        "hunter2:x",
        "Hunter2-is-a-very-long-password-of-letters:x",
        "postgres://alice:hunter2@db/orders",
        "redis://:hunter2@cache",
        "alice:hunter2@host",
        "//alice:hunter2@host",
        "memory:hunter2",
        "sqlite:?password=hunter2",
        "sqlite:orders.db?key=hunter2",
        "",
        ":hunter2",
        "\u{1b}[2Jhunter2:x",
    ] {
        let error = open(url).await.unwrap_err();
        let mut told = format!("{error} {error:?}");
        let mut cause = error.source();
        while let Some(next) = cause {
            told.push_str(&format!(" {next} {next:?}"));
            cause = next.source();
        }
        assert!(!told.to_lowercase().contains("hunter2"), "{url}: {told}");
        assert!(!told.contains('\u{1b}'));
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_says_what_there_is() {
    let error = open("postgers://localhost").await.unwrap_err();
    assert!(matches!(&error, OpenError::UnknownScheme { scheme } if scheme == "postgers"));
    assert!(error.to_string().contains("`postgers`") && error.to_string().contains("sqlite:FILE"));
    assert!(matches!(open("orders.db").await, Err(OpenError::NoScheme)));
    let error = open("memory:x").await.unwrap_err();
    assert!(matches!(error, OpenError::Malformed { scheme: "memory", takes: "memory:" }));
}

/// What has expired goes by itself, as long as somebody holds the store.
#[tokio::test(start_paused = true)]
async fn an_opened_store_is_swept_as_long_as_it_is_held() {
    let store = open("memory:").await.unwrap();
    let second = Ttl::new(secs(1)).unwrap();
    for n in 0..1_200 {
        let next = Next::Put { value: "x".into(), lease: second, keep: second };
        drop(store.swap(&Key::new(format!("k{n}")).unwrap(), Expect::Absent, next).await);
    }
    sleep(secs(1)).await;
    sleep(secs(46)).await;
    assert_eq!(store.sweep(10_000).await.unwrap(), 0, "all of them had gone");
    drop(store);
    sleep(secs(46)).await;
    let alive = tokio::runtime::Handle::current().metrics().num_alive_tasks();
    assert_eq!(alive, 0, "and the sweeper with the store");
}

#[cfg(not(feature = "sqlite"))]
#[tokio::test(start_paused = true)]
async fn what_is_not_built_in_is_said_to_be_so() {
    let error = open("sqlite:orders.db").await.unwrap_err();
    assert!(matches!(error, OpenError::NotBuiltIn { scheme: "sqlite", feature: "sqlite" }));
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs::{self, OpenOptions};
    use std::io::{BufRead, BufReader, Write};
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::sync::Arc;
    use std::time::Duration;

    use semel::{Begun, InFlight, Policy};

    use super::*;
    use crate::support::policy;

    #[tokio::test]
    async fn a_file_keeps_what_was_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("orders.db");
        let call = call(&impatient(), "k");
        for (url, new) in [
            (format!("sqlite:{}", file.display()), true),
            (format!("sqlite://{}", file.display()), false),
            (format!("SQLite:{}", file.display()), false),
        ] {
            let once = Once::new(open(&url).await.unwrap());
            if new {
                recorded(&mut fresh(&once, &call).await, bytes(b"kept")).await;
            }
            assert_eq!(replayed(&once, &call).await, b"kept");
        }
    }

    #[tokio::test]
    async fn a_file_that_is_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for url in ["sqlite:", "sqlite://", "sqlite:a.db?mode=memory"] {
            assert!(matches!(open(url).await, Err(OpenError::Malformed { .. })), "{url}");
        }
        let url = format!("sqlite:{}", folder.path().display());
        assert!(matches!(open(&url).await, Err(OpenError::Store(_))));
        assert!(matches!(open("sqlite::memory:").await, Err(OpenError::Store(_))));
    }

    /// Says to a process of this test what its part is.
    const PART: &str = "SEMEL_TEST_PART";
    const KEYS: usize = 40;

    fn part() -> Option<(String, PathBuf)> {
        let told = std::env::var(PART).ok()?;
        let (part, folder) = told.split_once('=').unwrap();
        Some((part.to_owned(), PathBuf::from(folder)))
    }

    /// Starts this very test in a process of its own.
    fn start(test: &str, part: &str, folder: &Path) -> Child {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("open::sqlite::{test}"), "--nocapture"])
            .env(PART, format!("{part}={}", folder.display()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    async fn engine(folder: &Path) -> Once {
        Once::new(open(&format!("sqlite:{}", folder.join("once.db").display())).await.unwrap())
    }

    fn patient() -> Arc<Policy> {
        policy(|policy| policy.in_flight(InFlight::Wait(secs(60))))
    }

    fn note(folder: &Path, line: &str) {
        let ledger = OpenOptions::new().create(true).append(true).open(folder.join("ledger"));
        ledger.unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// D2, N6: several processes call the same keys at once; each key's work runs in one of them,
    /// and all get its value.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn d2_of_several_processes_exactly_one_runs_each_key() {
        if let Some((part, folder)) = part() {
            return race(&part, &folder).await;
        }
        let folder = tempfile::tempdir().unwrap();
        let test = "d2_of_several_processes_exactly_one_runs_each_key";
        let racers = ["a", "b", "c"].map(|part| start(test, part, folder.path()));
        let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for racer in racers {
            let output = racer.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
            let text = String::from_utf8(output.stdout).unwrap();
            for line in text.lines().filter_map(|line| line.strip_prefix("value ")) {
                let (key, value) = line.split_once(' ').unwrap();
                values.entry(key.to_owned()).or_default().insert(value.to_owned());
            }
        }
        assert_eq!(values.len(), KEYS);
        assert!(values.values().all(|values| values.len() == 1), "{values:?}");
        let ledger = fs::read_to_string(folder.path().join("ledger")).unwrap();
        let ran: Vec<_> = ledger.lines().collect();
        let keys: BTreeSet<_> = ran.iter().copied().collect();
        assert_eq!((ran.len(), keys.len()), (KEYS, KEYS), "{ran:?}");
    }

    async fn race(part: &str, folder: &Path) {
        let once = engine(folder).await;
        let calls = (0..KEYS).map(|n| {
            let (once, folder, part) = (once.clone(), folder.to_owned(), part.to_owned());
            tokio::spawn(async move {
                let key = format!("k{n}");
                let work = async |_| {
                    note(&folder, &key);
                    Ok::<_, ()>(format!("{part}-{}", std::process::id()))
                };
                let value = once.call(&key).policy(patient()).run(work).await.unwrap();
                println!("value {key} {value}");
            })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.unwrap();
        }
    }

    /// P5, N4: a process that is killed in the middle of its work, with no chance to say so. Its
    /// key is blocked for a lease, and then taken over with a higher fence.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn p5_a_killed_process_blocks_its_key_for_one_lease() {
        let lease = Duration::from_secs(2);
        let leased = policy(|policy| {
            policy.in_progress_time_to_live(lease).in_flight(InFlight::Wait(secs(60)))
        });
        if let Some((_, folder)) = part() {
            let once = engine(&folder).await;
            let claim = fresh(&once, &call(&leased, "k")).await;
            println!("fence {}", claim.permit().fence());
            return std::future::pending().await;
        }
        let folder = tempfile::tempdir().unwrap();
        let mut other =
            start("p5_a_killed_process_blocks_its_key_for_one_lease", "works", folder.path());
        let lines = BufReader::new(other.stdout.take().unwrap()).lines();
        let mut fences = lines.map_while(Result::ok);
        let fence = fences.find_map(|line| Some(line.strip_prefix("fence ")?.parse::<u64>()));
        let fence = fence.unwrap().unwrap();
        let once = engine(folder.path()).await;
        let impatient = leased.to_builder().in_flight(InFlight::Reject).build().unwrap();
        let impatient = call(&Arc::new(impatient), "k");
        // As long as it lives it keeps its key, for many leases.
        let waits = leased.to_builder().in_flight(InFlight::Wait(lease * 2)).build().unwrap();
        let begun = once.begin(&call(&Arc::new(waits), "k")).await;
        assert!(matches!(begun, Begun::Busy(_)), "{begun:?}");
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(matches!(once.begin(&impatient).await, Begun::Busy(_)), "not free at once");
        let claim = fresh(&once, &call(&leased, "k")).await;
        assert_eq!(claim.permit().attempt(), 2);
        assert!(claim.permit().fence().get() > fence);
    }
}
