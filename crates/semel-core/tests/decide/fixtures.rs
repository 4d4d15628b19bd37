//! Claims, outcomes and records to decide upon.

use std::time::Duration;

use bytes::Bytes;
use semel_core::protocol::{Begin, Complete, InDoubt, Seen, SeenRecord};
use semel_core::{
    Claim, Extent, Fingerprint, Form, Operation, Outcome, Owner, Record, State, StoreTime, Token,
    Ttl, Version,
};

pub(crate) const OURS: u8 = 1;
pub(crate) const THEIRS: u8 = 2;

pub(crate) const VERSION: Version = Version::new(7);

pub(crate) fn token(number: u8) -> Token {
    Token::from_bytes([number; 16])
}

pub(crate) fn ttl(seconds: u64) -> Ttl {
    Ttl::new(Duration::from_secs(seconds)).unwrap()
}

pub(crate) fn lease() -> Ttl {
    ttl(60)
}

pub(crate) fn keep() -> Ttl {
    ttl(86_400)
}

/// A claim of the one request that most tests are about.
pub(crate) fn claim(number: u8) -> Claim {
    Claim {
        operation: operation("orders.create"),
        fingerprint: Some(body(b"two keyboards")),
        token: token(number),
        attempt: 1,
        owner: Some(Owner::new("host-1")),
    }
}

pub(crate) fn operation(name: &str) -> Operation {
    Operation::new(name).unwrap()
}

pub(crate) fn body(bytes: &[u8]) -> Fingerprint {
    Fingerprint::builder().part("body", bytes).build()
}

pub(crate) fn whole(payload: &'static str) -> Outcome {
    let payload = Bytes::from_static(payload.as_bytes());
    Outcome { form: Form::Value, extent: Extent::Whole, payload }
}

pub(crate) fn part(payload: &'static str) -> Outcome {
    Outcome { extent: Extent::Partial, ..whole(payload) }
}

pub(crate) fn begin(number: u8, in_doubt: InDoubt) -> Begin {
    Begin { claim: claim(number), in_doubt, lease: lease(), keep: keep() }
}

pub(crate) fn complete(number: u8, outcome: Outcome) -> Complete {
    Complete { claim: claim(number), outcome, keep: keep() }
}

pub(crate) fn absent() -> Seen {
    Seen { now: StoreTime::from_micros(50), record: None }
}

/// A record at [`VERSION`] as it is seen with so much of its lease left.
pub(crate) fn seen(claim: Claim, state: State, lease_left: Ttl) -> Seen {
    let record = Record { claim, state };
    let there = SeenRecord { version: VERSION, lease_left, keep_left: keep(), record };
    Seen { now: StoreTime::from_micros(50), record: Some(there) }
}
