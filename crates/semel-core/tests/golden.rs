//! Records as files: what was written once is read for good, and is written the same today.
//!
//! One file for each state and shape, in hex. A difference means that the records of running
//! systems would be read wrongly, or could not be read at all. Files are re-written, after a
//! deliberate change of the format, by
//!
//! ```text
//! SEMEL_WRITE_GOLDEN=1 cargo test -p semel-core --test golden
//! ```
//!
//! and every file that this changes, rather than adds, breaks what is stored somewhere.

#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Once;

use bytes::Bytes;
use semel_core::{
    Claim, Doubt, Extent, Fingerprint, Form, Key, Operation, Outcome, Owner, PartDigest, Record,
    State, Token, codec,
};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn all() -> Vec<(&'static str, Record)> {
    let done = |form, payload: &'static [u8]| done(form, Extent::Whole, payload);
    vec![
        ("held", record(claim(), State::Held)),
        ("held_bare", record(Claim { fingerprint: None, owner: None, ..claim() }, State::Held)),
        ("held_no_parts", record(with_parts(&[]), State::Held)),
        ("held_six_parts", record(with_parts(&SIX), State::Held)),
        (
            "held_non_ascii",
            record(Claim { operation: operation("заказы.создать/订单"), ..claim() }, State::Held),
        ),
        ("held_last_attempt", record(Claim { attempt: u32::MAX, ..claim() }, State::Held)),
        ("doubt_exception", record(claim(), State::Doubt(Doubt::Exception))),
        ("doubt_cut_off", record(claim(), State::Doubt(Doubt::CutOff))),
        ("doubt_other", record(claim(), State::Doubt(Doubt::Other))),
        ("done_value", done(Form::Value, br#"{"id":1}"#)),
        ("done_error", done(Form::Error, br#""declined""#)),
        ("done_bytes", done(Form::Bytes, &[0, 1, 127, 128, 254, 255])),
        ("done_http", done(Form::Http, b"\x83\x18\xc9\x80\x40")),
        ("done_grpc", done(Form::Grpc, b"\x83\x18\xc8\x80\x40")),
        ("done_mcp", done(Form::Mcp, br#"{"result":{"content":[]}}"#)),
        ("done_empty", done(Form::Bytes, b"")),
        ("done_http_partial", self::done(Form::Http, Extent::Partial, b"\x82\x18\xc9\x80")),
        ("done_value_partial", self::done(Form::Value, Extent::Partial, b"")),
    ]
}

const SIX: [&str; 6] = ["method", "path", "query", "content-type", "body", "$.сумма"];

fn claim() -> Claim {
    Claim {
        operation: operation("POST /orders"),
        fingerprint: with_parts(&["query", "body"]).fingerprint,
        token: Token::from_bytes(*b"0123456789abcdef"),
        attempt: 1,
        owner: Some(Owner::new("host-1/4711")),
    }
}

fn with_parts(names: &[&'static str]) -> Claim {
    let add = |builder: semel_core::FingerprintBuilder, (at, name): (u8, &&'static str)| {
        builder.digest(*name, PartDigest::from_bytes([0xd0 + at; 16]))
    };
    let fingerprint = (0..).zip(names).fold(Fingerprint::builder(), add).build();
    Claim {
        operation: operation("POST /orders"),
        fingerprint: Some(fingerprint),
        token: Token::from_bytes([0xff; 16]),
        attempt: 2,
        owner: None,
    }
}

fn operation(name: &str) -> Operation {
    Operation::new(name).unwrap()
}

fn record(claim: Claim, state: State) -> Record {
    Record { claim, state }
}

fn done(form: Form, extent: Extent, payload: &'static [u8]) -> Record {
    let outcome = Outcome { form, extent, payload: Bytes::from_static(payload) };
    record(claim(), State::Done(outcome))
}

// ===== files =====

/// The bytes in the file, written first if that was asked for.
fn golden(name: &str) -> Vec<u8> {
    WRITTEN.call_once(write_if_asked);
    let path = path(name);
    from_hex(&fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}")))
}

static WRITTEN: Once = Once::new();

fn write_if_asked() {
    if std::env::var_os("SEMEL_WRITE_GOLDEN").is_some() {
        for (name, record) in all() {
            fs::write(path(name), to_hex(&codec::encode(&key().digest(), &record))).unwrap();
        }
    }
}

fn key() -> Key {
    Key::new("idem:acme:alice:order-20261031-0001").unwrap()
}

fn path(name: &str) -> PathBuf {
    folder().join(name).with_extension("hex")
}

fn to_hex(bytes: &[u8]) -> String {
    let line = |line: &[u8]| line.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    bytes.chunks(32).map(|chunk| line(chunk) + "\n").collect()
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

// ===== tests =====

#[test]
fn every_file_is_read_as_the_record_that_was_written() {
    let key = key().digest();
    for (name, record) in all() {
        let bytes = Bytes::from(golden(name));
        assert_eq!(codec::decode(&key, &bytes), Ok(record), "{name}");
    }
}

#[test]
fn every_record_is_written_as_the_bytes_in_its_file() {
    let key = key().digest();
    for (name, record) in all() {
        let written = to_hex(&codec::encode(&key, &record));
        assert_eq!(written, to_hex(&golden(name)), "{name}");
    }
}

#[test]
fn every_file_has_its_record_here() {
    WRITTEN.call_once(write_if_asked);
    let files: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let names: BTreeSet<String> = all().iter().map(|(name, _)| format!("{name}.hex")).collect();
    assert_eq!(files, names);
}

#[test]
fn the_fixed_fields_stand_where_the_format_says() {
    for (name, record) in all() {
        let bytes = golden(name);
        assert_eq!(bytes[0], 1, "{name}: format");
        assert_eq!(bytes[1..17], key().digest().as_bytes()[..], "{name}: key");
        let crc = crc32fast::hash(&[&bytes[..17], &bytes[21..]].concat());
        assert_eq!(bytes[17..21], crc.to_le_bytes(), "{name}: checksum");
        let header = u32::from_le_bytes(bytes[21..25].try_into().unwrap()) as usize;
        let payload = match &record.state {
            State::Done(outcome) => &outcome.payload[..],
            State::Held | State::Doubt(_) => &[],
        };
        assert_eq!(&bytes[25 + header..], payload, "{name}: payload");
    }
}
