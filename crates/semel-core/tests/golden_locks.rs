//! Entries of locks as files: what was written once is read for good, and is written the same
//! today. As `golden`, which is that for records; files are re-written by
//!
//! ```text
//! SEMEL_WRITE_GOLDEN=1 cargo test -p semel-core --test golden_locks
//! ```

#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Once;
use std::time::Duration;

use bytes::Bytes;
use semel_core::codec::{self, Damaged};
use semel_core::lock::{
    Grant, Holder, LockEntry, LockKind, Mode, Note, Permits, Reason, Stage, Waiter,
};
use semel_core::{Fence, Key, Owner, StoreTime, Token, Ttl};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden_locks")
}

fn all() -> Vec<(&'static str, LockEntry)> {
    let mutex = |holders: Vec<Holder>| LockEntry { holders, ..LockEntry::free(LockKind::Mutex) };
    let of = |kind, holders| LockEntry { holders, ..LockEntry::free(kind) };
    let queue = vec![waiter(8, Mode::Exclusive), waiter(9, Mode::Shared)];
    vec![
        ("fresh", mutex(vec![fresh()])),
        ("fresh_nameless", mutex(vec![Holder { owner: None, ..fresh() }])),
        ("settled", mutex(vec![settled(1)])),
        ("until", mutex(vec![Holder { until: at(90), ..settled(1) }])),
        ("terms", mutex(vec![Holder { lock_delay: secs(5), min_hold: secs(30), ..fresh() }])),
        (
            "revoked",
            mutex(vec![Holder { stage: Stage::Revoked(note(1)), until: at(9), ..settled(1) }]),
        ),
        ("resting", mutex(vec![Holder { stage: Stage::Resting, until: at(9), ..settled(1) }])),
        ("queued", LockEntry { queue: queue.clone(), ..mutex(vec![settled(1)]) }),
        ("queue_alone", LockEntry { queue, ..mutex(Vec::new()) }),
        ("notes", LockEntry { notes: vec![note(1), note(2)], ..mutex(Vec::new()) }),
        (
            "semaphore",
            of(LockKind::Semaphore(Permits::new(512).unwrap()), vec![shared(1), shared(2)]),
        ),
        ("readers", of(LockKind::ReadWrite, vec![shared(1), shared(2), shared(3)])),
        ("writer", of(LockKind::ReadWrite, vec![fresh()])),
    ]
}

fn fresh() -> Holder {
    Holder {
        token: Token::from_bytes(*b"0123456789abcdef"),
        mode: Mode::Exclusive,
        owner: Some(Owner::new("web-3 (pid 4121)")),
        grant: None,
        until: None,
        lock_delay: Ttl::ZERO,
        min_hold: Ttl::ZERO,
        stage: Stage::Held,
    }
}

fn settled(number: u8) -> Holder {
    let since = at(u64::from(number)).unwrap();
    let grant = Some(Grant { fence: Fence::new(since.as_micros()), since });
    Holder { token: Token::from_bytes([number; 16]), grant, ..fresh() }
}

fn shared(number: u8) -> Holder {
    Holder { mode: Mode::Shared, until: at(60), ..settled(number) }
}

fn waiter(number: u8, mode: Mode) -> Waiter {
    Waiter {
        token: Token::from_bytes([number; 16]),
        mode,
        owner: (number == 8).then(|| Owner::new("отчёт-1")),
        since: at(1).unwrap(),
        alive_until: at(4).unwrap(),
    }
}

fn note(number: u8) -> Note {
    Note {
        token: Token::from_bytes([number; 16]),
        by: Owner::new("eve"),
        reason: Reason::new("it hangs"),
        until: at(10).unwrap(),
    }
}

fn at(seconds: u64) -> Option<StoreTime> {
    Some(StoreTime::from_micros(1_764_500_000_000_000 + seconds * 1_000_000))
}

fn secs(seconds: u64) -> Ttl {
    Ttl::new(Duration::from_secs(seconds)).unwrap()
}

fn key() -> Key {
    Key::lock("report:daily").unwrap()
}

// ===== files =====

static WRITTEN: Once = Once::new();

fn golden(name: &str) -> Vec<u8> {
    WRITTEN.call_once(write_if_asked);
    let path = folder().join(name).with_extension("hex");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn write_if_asked() {
    if std::env::var_os("SEMEL_WRITE_GOLDEN").is_some() {
        for (name, entry) in all() {
            let path = folder().join(name).with_extension("hex");
            fs::write(path, to_hex(&codec::encode_lock(&key().digest(), &entry))).unwrap();
        }
    }
}

fn to_hex(bytes: &[u8]) -> String {
    let line = |line: &[u8]| line.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    bytes.chunks(32).map(|chunk| line(chunk) + "\n").collect()
}

// ===== tests =====

#[test]
fn every_file_is_read_as_the_entry_that_was_written() {
    for (name, entry) in all() {
        let bytes = Bytes::from(golden(name));
        assert_eq!(codec::decode_lock(&key().digest(), &bytes), Ok(entry), "{name}");
    }
}

#[test]
fn every_entry_is_written_as_the_bytes_in_its_file() {
    for (name, entry) in all() {
        let written = to_hex(&codec::encode_lock(&key().digest(), &entry));
        assert_eq!(written, to_hex(&golden(name)), "{name}");
    }
}

#[test]
fn every_file_has_its_entry_here() {
    WRITTEN.call_once(write_if_asked);
    let files: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let names: BTreeSet<String> = all().iter().map(|(name, _)| format!("{name}.hex")).collect();
    assert_eq!(files, names);
}

/// Neither is ever taken for the other.
#[test]
fn a_lock_is_no_record_and_a_record_is_no_lock() {
    for (name, _) in all() {
        let bytes = Bytes::from(golden(name));
        assert_eq!(codec::decode(&key().digest(), &bytes), Err(Damaged::Header), "{name}");
        let other = Key::lock("report:weekly").unwrap();
        assert_eq!(codec::decode_lock(&other.digest(), &bytes), Err(Damaged::OtherKey), "{name}");
    }
    let held = fs::read_to_string(folder().with_file_name("golden").join("held.hex")).unwrap();
    let digits: Vec<char> = held.chars().filter(|c| !c.is_whitespace()).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    let record = Bytes::from(digits.chunks(2).map(byte).collect::<Vec<u8>>());
    let of = Key::new("idem:acme:alice:order-20261031-0001").unwrap();
    assert!(codec::decode(&of.digest(), &record).is_ok());
    assert_eq!(codec::decode_lock(&of.digest(), &record), Err(Damaged::Header));
}
