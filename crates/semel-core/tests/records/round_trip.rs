//! What is written is read back; anything else is damaged.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use semel_core::codec::{self, Damaged};
use semel_core::protocol::Seen;
use semel_core::{Entry, Key, Record, Snapshot, StoreTime, Ttl, Version};

use crate::arbitrary;
use crate::raw::{Raw, cbor, key, text};

/// A record with every field, of a few hundred bytes.
fn full() -> (Key, Record) {
    let parts = cbor(|e| {
        e.array(2).unwrap();
        for name in ["query", "body"] {
            e.array(2).unwrap().str(name).unwrap().bytes(&[0xa5; 16]).unwrap();
        }
    });
    let raw = Raw::done(4, &[0x5a; 120])
        .with(Raw::PARTS, parts)
        .with(Raw::OWNER, text("host-1/4711"))
        .with(Raw::PARTIAL, cbor(|e| drop(e.bool(true))));
    (key(), raw.read().unwrap())
}

#[test]
fn every_single_flipped_bit_is_found() {
    let (key, record) = full();
    let whole = codec::encode(&key.digest(), &record).to_vec();
    assert!(whole.len() > 200, "{}", whole.len());
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let read = codec::decode(&key.digest(), &Bytes::from(flipped));
        assert!(read.is_err(), "bit {bit}");
    }
}

#[test]
fn every_two_flipped_bits_of_a_small_record_are_found() {
    let small = Raw::held().build();
    let whole = codec::decode(&key().digest(), &small).unwrap();
    let whole = codec::encode(&key().digest(), &whole).to_vec();
    let bits = whole.len() * 8;
    for first in 0..bits {
        for second in first + 1..bits {
            let mut flipped = whole.clone();
            flipped[first / 8] ^= 1 << (first % 8);
            flipped[second / 8] ^= 1 << (second % 8);
            let read = codec::decode(&key().digest(), &Bytes::from(flipped));
            assert!(read.is_err(), "bits {first} and {second}");
        }
    }
}

#[test]
fn every_truncation_and_every_byte_too_many_is_found() {
    let (key, record) = full();
    let whole = codec::encode(&key.digest(), &record);
    for length in 0..whole.len() {
        let read = codec::decode(&key.digest(), &whole.slice(..length));
        let expected = if length < 25 { Damaged::TooShort } else { Damaged::Checksum };
        assert_eq!(read, Err(expected), "{length} of {} bytes", whole.len());
    }
    for last in 0..=255 {
        let longer = Bytes::from([&whole[..], &[last]].concat());
        assert_eq!(codec::decode(&key.digest(), &longer), Err(Damaged::Checksum), "{last}");
    }
}

#[test]
fn a_payload_is_shared_with_the_bytes_it_was_read_from() {
    let (key, record) = full();
    let whole = codec::encode(&key.digest(), &record);
    let read = codec::decode(&key.digest(), &whole).unwrap();
    let semel_core::State::Done(outcome) = read.state else { panic!("not done") };
    let ends = whole.as_ptr_range().end;
    assert_eq!(outcome.payload.as_ptr_range().end, ends);
}

fn snapshot_of(value: Bytes) -> Snapshot {
    let entry =
        Entry { version: Version::new(1), value, lease_left: Ttl::ZERO, keep_left: Ttl::MAX };
    Snapshot { now: StoreTime::from_micros(1), entry: Some(entry) }
}

#[test]
fn an_entry_of_no_bytes_is_damaged_and_not_absent() {
    let seen = Seen::of(&key().digest(), &snapshot_of(Bytes::new()));
    assert_eq!(seen, Err(Damaged::TooShort));
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(key in arbitrary::key(), record in arbitrary::record()) {
        let bytes = codec::encode(&key.digest(), &record);
        prop_assert_eq!(codec::decode(&key.digest(), &bytes), Ok(record.clone()));
        let seen = Seen::of(&key.digest(), &snapshot_of(bytes)).unwrap();
        prop_assert_eq!(seen.record.map(|there| there.record), Some(record));
    }

    #[test]
    fn a_record_read_under_another_key_is_damaged(
        key in arbitrary::key(),
        other in arbitrary::key(),
        record in arbitrary::record(),
    ) {
        prop_assume!(key != other);
        let bytes = codec::encode(&key.digest(), &record);
        prop_assert_eq!(codec::decode(&other.digest(), &bytes), Err(Damaged::OtherKey));
    }

    #[test]
    fn a_record_with_any_byte_changed_is_damaged(
        record in arbitrary::record(),
        at in any::<prop::sample::Index>(),
        bits in 1..=255_u8,
    ) {
        let mut bytes = codec::encode(&key().digest(), &record).to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= bits;
        prop_assert!(codec::decode(&key().digest(), &Bytes::from(bytes)).is_err());
    }

    #[test]
    fn garbage_is_damaged_and_never_absent(garbage in vec(any::<u8>(), 0..400)) {
        let garbage = Bytes::from(garbage);
        prop_assert!(codec::decode(&key().digest(), &garbage).is_err());
        prop_assert!(Seen::of(&key().digest(), &snapshot_of(garbage)).is_err());
    }

    #[test]
    fn garbage_of_the_right_format_and_key_is_damaged(garbage in vec(any::<u8>(), 8..400)) {
        let head = [&[1][..], &key().digest().as_bytes()[..]].concat();
        let bytes = Bytes::from([head, garbage].concat());
        prop_assert!(codec::decode(&key().digest(), &bytes).is_err());
    }
}
