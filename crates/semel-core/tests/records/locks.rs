//! The bytes of locks: what is written is read back, and anything else is damaged.

use std::time::Duration;

use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use semel_core::codec;
use semel_core::lock::{
    Grant, Holder, LockEntry, LockKind, Mode, Note, Permits, Reason, Stage, Waiter,
};
use semel_core::{Fence, Key, Owner, StoreTime, Token, Ttl};

use crate::arbitrary;

fn entry() -> impl Strategy<Value = LockEntry> {
    (kind(), vec(holder(), 0..6), vec(waiter(), 0..6), vec(note(), 0..4))
        .prop_map(|(kind, holders, queue, notes)| LockEntry { kind, holders, queue, notes })
}

fn kind() -> impl Strategy<Value = LockKind> {
    let permits = (1..=512_usize).prop_map(|number| Permits::new(number).unwrap());
    prop_oneof![
        Just(LockKind::Mutex),
        Just(LockKind::ReadWrite),
        permits.prop_map(LockKind::Semaphore),
    ]
}

fn holder() -> impl Strategy<Value = Holder> {
    let who = (token(), mode(), option::of(owner()), option::of((any::<u64>(), time())));
    (who, option::of(time()), ttl(), ttl(), stage()).prop_map(
        |((token, mode, owner, grant), until, lock_delay, min_hold, stage)| Holder {
            token,
            mode,
            owner,
            grant: grant.map(|(fence, since)| Grant { fence: Fence::new(fence), since }),
            // What rests does so until a moment.
            until: until.or((stage == Stage::Resting).then_some(StoreTime::from_micros(1))),
            lock_delay,
            min_hold,
            stage,
        },
    )
}

fn waiter() -> impl Strategy<Value = Waiter> {
    (token(), mode(), option::of(owner()), time(), time()).prop_map(
        |(token, mode, owner, since, alive_until)| Waiter {
            token,
            mode,
            owner,
            since,
            alive_until,
        },
    )
}

fn note() -> impl Strategy<Value = Note> {
    (token(), owner(), any::<String>(), time()).prop_map(|(token, by, reason, until)| Note {
        token,
        by,
        reason: Reason::new(&reason),
        until,
    })
}

fn stage() -> impl Strategy<Value = Stage> {
    prop_oneof![Just(Stage::Held), Just(Stage::Resting), note().prop_map(Stage::Revoked)]
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Exclusive), Just(Mode::Shared)]
}

fn token() -> impl Strategy<Value = Token> {
    any::<[u8; 16]>().prop_map(Token::from_bytes)
}

fn owner() -> impl Strategy<Value = Owner> {
    prop_oneof![any::<String>(), "\\PC{190,220}"].prop_map(|label| Owner::new(&label))
}

fn time() -> impl Strategy<Value = StoreTime> {
    any::<u64>().prop_map(StoreTime::from_micros)
}

fn ttl() -> impl Strategy<Value = Ttl> {
    let some = (0..Ttl::MAX.as_micros()).prop_map(|micros| Ttl::from_micros(micros).unwrap());
    prop_oneof![Just(Ttl::ZERO), Just(Ttl::MAX), some]
}

proptest! {
    #[test]
    fn every_lock_is_read_as_it_was_written(key in arbitrary::key(), entry in entry()) {
        let bytes = codec::encode_lock(&key.digest(), &entry);
        prop_assert_eq!(codec::decode_lock(&key.digest(), &bytes), Ok(entry));
    }

    #[test]
    fn no_bytes_at_all_make_a_lock_by_chance(bytes in vec(any::<u8>(), 0..200)) {
        let key = Key::lock("r").unwrap();
        prop_assert!(codec::decode_lock(&key.digest(), &Bytes::from(bytes)).is_err());
    }

    #[test]
    fn a_flipped_bit_of_a_lock_is_found(entry in entry(), bit in any::<proptest::sample::Index>()) {
        let key = Key::lock("r").unwrap();
        let mut bytes = codec::encode_lock(&key.digest(), &entry).to_vec();
        let bit = bit.index(bytes.len() * 8);
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(codec::decode_lock(&key.digest(), &Bytes::from(bytes)).is_err());
    }
}

/// The largest entry fits what stores take by default.
#[test]
fn the_largest_entry_is_bounded() {
    let owner = Owner::new(&"o".repeat(500));
    let reason = Reason::new(&"r".repeat(500));
    let time = StoreTime::from_micros(u64::MAX);
    let token = |number: usize| {
        let mut bytes = [0xff; 16];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        Token::from_bytes(bytes)
    };
    let note = |number| Note {
        token: token(number),
        by: owner.clone(),
        reason: reason.clone(),
        until: time,
    };
    let holder = |number| Holder {
        token: token(number),
        mode: Mode::Shared,
        owner: Some(owner.clone()),
        grant: Some(Grant { fence: Fence::new(u64::MAX), since: time }),
        until: Some(time),
        lock_delay: Ttl::MAX,
        min_hold: Ttl::new(Duration::from_secs(1)).unwrap(),
        stage: Stage::Held,
    };
    let waiter = |number| Waiter {
        token: token(number),
        mode: Mode::Shared,
        owner: Some(owner.clone()),
        since: time,
        alive_until: time,
    };
    let entry = LockEntry {
        kind: LockKind::ReadWrite,
        holders: (0..usize::from(Permits::MOST)).map(holder).collect(),
        queue: (0..LockEntry::MOST_WAITERS).map(waiter).collect(),
        notes: (0..LockEntry::MOST_NOTES).map(note).collect(),
    };
    let key = Key::lock("r").unwrap();
    let bytes = codec::encode_lock(&key.digest(), &entry);
    assert!(bytes.len() < 256 * 1024, "{}", bytes.len());
    assert_eq!(codec::decode_lock(&key.digest(), &bytes), Ok(entry));
}
