//! Worker ids of real processes that are killed at random.
//!
//! Fifty processes of this very test share 32 numbers, and make ids with those that they have. A
//! ledger, to which each of them appends, says afterwards who used which number when.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rustix::time::{ClockId, clock_gettime};
use semel::WorkerId;
use semel_testkit::StorePlace;

use super::tier::Tier;
use super::{millis, process, secs};

/// Says to a process of this test where the store and the ledger are.
const PART: &str = "SEMEL_TEST_WORKER";
/// What a run can be repeated with, as far as chance is ours.
const SEED: &str = "SEMEL_TEST_SEED";

const PROCESSES: usize = 50;
const NUMBERS: u16 = 32;

// ===== a worker =====

/// One clock for all processes of the machine.
fn clock() -> u64 {
    let time = Duration::try_from(clock_gettime(ClockId::Boottime)).unwrap();
    u64::try_from(time.as_micros()).unwrap()
}

/// A worker must not outlive the test, whatever ends that.
fn end_with_the_test() {
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
}

/// Takes numbers and makes ids until it is killed.
async fn work(store: &str, ledger: &Path) {
    end_with_the_test();
    let locks = process(store, &format!("pid {}", std::process::id())).await;
    loop {
        let id = locks.worker_id("ids", NUMBERS).ttl(secs(2)).wait(secs(60)).acquire().await;
        if let Ok(id) = id {
            make_ids(&id, ledger).await;
        }
    }
}

/// An id is a millisecond, a worker's number and a count within the millisecond.
async fn make_ids(id: &WorkerId, ledger: &Path) {
    let mut ledger = OpenOptions::new().create(true).append(true).open(ledger).unwrap();
    let (mut last, mut count) = (0, 0);
    loop {
        let before = clock();
        let Ok(number) = id.get() else { return };
        let after = clock();
        count = if before / 1_000 == last { count + 1 } else { 0 };
        last = before / 1_000;
        let (fence, process) = (id.fence().get(), std::process::id());
        // One write: it is there whole, or not at all.
        let line = format!("{number} {last} {count} {fence} {process} {before} {after}\n");
        ledger.write_all(line.as_bytes()).unwrap();
        semel::timer::sleep(millis(7)).await;
    }
}

// ===== the test =====

struct Workers {
    test: &'static str,
    /// What they have to say.
    said: PathBuf,
    part: String,
    children: Vec<Child>,
}

impl Workers {
    fn start(&self) -> Child {
        let said = OpenOptions::new().create(true).append(true).open(&self.said).unwrap();
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("worker_processes::{}", self.test), "--nocapture"])
            .env(PART, &self.part)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .unwrap()
    }

    fn kill(&mut self, place: usize) -> u32 {
        let child = &mut self.children[place];
        child.kill().unwrap();
        child.wait().unwrap();
        child.id()
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for place in 0..self.children.len() {
            self.kill(place);
        }
    }
}

/// When a number was certainly one holder's.
#[derive(Debug, Clone, Copy)]
struct Use {
    process: u32,
    first: u64,
    last: u64,
}

/// The uses of each number, in order of their fences; and no id is there twice.
fn uses(ledger: &str) -> BTreeMap<u16, Vec<Use>> {
    let mut ids = HashSet::new();
    let mut uses: BTreeMap<u16, BTreeMap<u64, Use>> = BTreeMap::new();
    for line in ledger.lines() {
        let parts: Vec<u64> = line.split(' ').map(|part| part.parse().unwrap()).collect();
        let [number, milli, count, fence, process, before, after] = parts[..] else {
            panic!("{line}");
        };
        assert!(ids.insert((number, milli, count)), "an id is there twice: {line}");
        let number = u16::try_from(number).unwrap();
        let process = u32::try_from(process).unwrap();
        let first = Use { process, first: after, last: before };
        let there = uses.entry(number).or_default().entry(fence).or_insert(first);
        assert_eq!(there.process, process, "one fence for two processes: {line}");
        there.last = before;
    }
    uses.into_iter().map(|(number, uses)| (number, uses.into_values().collect())).collect()
}

fn assert_never_two(uses: &BTreeMap<u16, Vec<Use>>) {
    for (number, uses) in uses {
        for pair in uses.windows(2) {
            let [earlier, later] = pair else { unreachable!() };
            assert!(earlier.last < later.first, "{number} had two holders: {pair:?}");
        }
    }
}

/// The part of this process, if it is a worker.
fn part() -> Option<(String, PathBuf)> {
    let told = std::env::var(PART).ok()?;
    let (ledger, store) = told.split_once(' ').unwrap();
    Some((store.to_owned(), PathBuf::from(ledger)))
}

async fn never_two(test: &'static str, place: StorePlace) {
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(rand::random);
    println!("again with {SEED}={seed}");
    let mut chance = SmallRng::seed_from_u64(seed);
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("ledger");
    let part = format!("{} {}", ledger.display(), place.url());
    let said = folder.path().join("said");
    let mut workers = Workers { test, said: said.clone(), part, children: Vec::new() };
    for _ in 0..PROCESSES {
        let worker = workers.start();
        workers.children.push(worker);
    }
    let all_at_work = async || {
        // It grows, and is read as a whole.
        semel::timer::sleep(millis(200)).await;
        let read = fs::read_to_string(&ledger).ok()?;
        // A line may be about to be written.
        let whole = read.get(..=read.rfind('\n')?)?;
        (uses(whole).len() == usize::from(NUMBERS)).then_some(())
    };
    let all = semel_testkit::eventually(secs(120), "a worker for each number", all_at_work).await;
    all.unwrap_or_else(|late| panic!("{late}: {}", fs::read_to_string(&said).unwrap()));
    let mut killed = Vec::new();
    for _ in 0..Tier::now().pick(40, 40, 1_000) {
        semel::timer::sleep(millis(chance.random_range(0..300))).await;
        let place = chance.random_range(0..PROCESSES);
        killed.push(workers.kill(place));
        workers.children[place] = workers.start();
    }
    semel::timer::sleep(secs(4)).await;
    // None ended by itself.
    for worker in &mut workers.children {
        let ended = worker.try_wait().unwrap();
        assert_eq!(ended, None, "{}", fs::read_to_string(&said).unwrap());
    }
    drop(workers);
    let ledger = fs::read_to_string(&ledger).unwrap();
    let uses = uses(&ledger);
    assert_never_two(&uses);
    let holders: Vec<u32> = uses.values().flatten().map(|one| one.process).collect();
    let killed_at_work = killed.iter().filter(|process| holders.contains(process)).count();
    let (ids, terms) = (ledger.lines().count(), holders.len());
    println!(
        "{ids} ids in {terms} terms on {} numbers; of {} processes that were killed, \
         {killed_at_work} had one",
        uses.len(),
        killed.len()
    );
    let fewest = killed.len() / 4;
    assert!(killed_at_work > fewest, "the void rule: {killed_at_work} were killed at work");
    assert!(terms > usize::from(NUMBERS) + fewest, "the void rule: {terms} terms");
}

#[tokio::test(flavor = "multi_thread")]
async fn proof_fifty_processes_that_are_killed_never_share_a_number_over_sqlite() {
    if let Some((store, ledger)) = part() {
        return work(&store, &ledger).await;
    }
    let test = "proof_fifty_processes_that_are_killed_never_share_a_number_over_sqlite";
    never_two(test, StorePlace::file().unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn proof_fifty_processes_that_are_killed_never_share_a_number_over_redis() {
    if let Some((store, ledger)) = part() {
        return work(&store, &ledger).await;
    }
    let test = "proof_fifty_processes_that_are_killed_never_share_a_number_over_redis";
    never_two(test, StorePlace::redis().await.unwrap()).await;
}

// ===== the ledger's own control =====

#[test]
fn a_ledger_in_which_each_number_went_from_hand_to_hand_is_fine() {
    let uses = uses("7 1 0 10 1 1000 1001\n7 2 0 10 1 2000 2001\n7 3 0 11 2 3000 3001\n");
    assert_eq!(uses[&7].len(), 2);
    assert_never_two(&uses);
}

#[test]
#[should_panic(expected = "7 had two holders")]
fn a_ledger_in_which_two_had_a_number_at_once_is_found() {
    assert_never_two(&uses("7 1 0 10 1 1000 1001\n7 4 0 10 1 4000 4001\n7 3 0 11 2 3000 3001\n"));
}

#[test]
#[should_panic(expected = "an id is there twice")]
fn a_ledger_with_an_id_that_was_made_twice_is_found() {
    uses("7 1 0 10 1 1000 1001\n7 1 0 11 2 1002 1003\n");
}
