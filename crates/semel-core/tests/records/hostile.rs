//! Bytes from somebody who can write into the store and knows the checksum: whatever they say, a
//! read ends soon, in a record or in a refusal.

use proptest::collection::vec;
use proptest::prelude::*;
use semel_core::codec::{self, Damaged};
use semel_core::{Operation, Owner, State};

use crate::raw::{Raw, bytes, cbor, key, number, sealed, text};

/// Items whose heads promise more than there is.
fn promises() -> Vec<Vec<u8>> {
    let heads = [0x5b, 0x7b, 0x9b, 0xbb];
    let lengths = [u64::MAX, u64::MAX / 2, u64::from(u32::MAX), 1 << 20];
    let item = |head: u8, length: u64| [&[head][..], &length.to_be_bytes()[..]].concat();
    heads.iter().flat_map(|head| lengths.map(|length| item(*head, length))).collect()
}

#[test]
fn a_length_that_is_not_there_is_refused_and_nothing_is_set_aside_for_it() {
    for promise in promises() {
        for field in 0..=Raw::KNOWN + 1 {
            let raw = Raw::held().with(field, promise.clone());
            assert_eq!(raw.read(), Err(Damaged::Header), "field {field}: {promise:02x?}");
        }
    }
}

#[test]
fn an_array_of_fields_without_end_is_refused() {
    let mut header = vec![0x9b];
    header.extend(u64::MAX.to_be_bytes());
    header.extend(&Raw::held().header()[1..]);
    let record = sealed(1, u32::try_from(header.len()).unwrap(), &header);
    assert_eq!(codec::decode(&key().digest(), &record), Err(Damaged::Header));
}

#[test]
fn nesting_a_million_deep_costs_no_stack() {
    const DEEP: usize = 1_000_000;
    let definite = [vec![0x81; DEEP], vec![0]].concat();
    let indefinite = [vec![0x9f; DEEP], vec![0xff; DEEP]].concat();
    let mixed = [[0x82, 0x9f].repeat(DEEP), vec![0xff]].concat();
    let tags = [vec![0xc0; DEEP], vec![0]].concat();
    for nested in [definite, indefinite, mixed, tags] {
        // In a field that is not known it is passed over, or refused where it does not end.
        let skipped = Raw::held().with(Raw::KNOWN, nested.clone()).read();
        assert!(matches!(skipped, Ok(_) | Err(Damaged::Header)));
        for field in 0..Raw::KNOWN {
            let raw = Raw::held().with(field, nested.clone());
            assert_eq!(raw.read(), Err(Damaged::Header), "field {field}");
        }
    }
}

#[test]
fn a_hundred_thousand_parts_are_read_in_no_more_time_than_they_are_long() {
    const PARTS: u64 = 100_000;
    let parts = cbor(|e| {
        e.array(PARTS).unwrap();
        for part in 0..PARTS {
            e.array(2).unwrap().str(&part.to_string()).unwrap().bytes(&[0; 16]).unwrap();
        }
    });
    let record = Raw::held().with(Raw::PARTS, parts).read().unwrap();
    assert_eq!(record.claim.fingerprint.unwrap().parts().len() as u64, PARTS);
}

#[test]
fn a_part_that_is_named_twice_is_refused() {
    let twice = cbor(|e| {
        e.array(2).unwrap();
        for digest in [[1; 16], [2; 16]] {
            e.array(2).unwrap().str("body").unwrap().bytes(&digest).unwrap();
        }
    });
    assert_eq!(Raw::held().with(Raw::PARTS, twice).read(), Err(Damaged::Header));
}

#[test]
fn bytes_between_the_header_and_its_end_are_refused() {
    assert_eq!(Raw::held().with_behind(&[0]).read(), Err(Damaged::Header));
    assert_eq!(Raw::done(1, b"payload").with_behind(b"more").read(), Err(Damaged::Header));
}

#[test]
fn a_header_length_that_points_elsewhere_is_refused() {
    let header = Raw::done(1, b"").header();
    let right = u32::try_from(header.len()).unwrap();
    for wrong in (0..right).chain([right + 1, right + 1000, u32::MAX]) {
        let record = sealed(1, wrong, &header);
        let read = codec::decode(&key().digest(), &record);
        assert_eq!(read, Err(Damaged::Header), "{wrong} in place of {right}");
    }
}

#[test]
fn names_and_tokens_out_of_bounds_are_refused() {
    let operation = |name: &str| Raw::held().with(Raw::OPERATION, text(name)).read();
    assert_eq!(operation(""), Err(Damaged::Header));
    assert_eq!(operation(&"x".repeat(Operation::MAX_BYTES + 1)), Err(Damaged::Header));
    assert!(operation(&"x".repeat(Operation::MAX_BYTES)).is_ok());
    for length in (0..40).filter(|length| *length != 16) {
        let raw = Raw::held().with(Raw::TOKEN, bytes(&vec![0; length]));
        assert_eq!(raw.read(), Err(Damaged::Header), "a token of {length} bytes");
    }
    let not_utf8 = vec![0x62, 0xc3, 0x28];
    assert_eq!(Raw::held().with(Raw::OPERATION, not_utf8).read(), Err(Damaged::Header));
    let attempt = number(u64::from(u32::MAX) + 1);
    assert_eq!(Raw::held().with(Raw::ATTEMPT, attempt).read(), Err(Damaged::Header));
}

#[test]
fn an_owner_label_that_is_too_long_is_cut_like_everywhere() {
    let label = "я".repeat(1000);
    let record = Raw::held().with(Raw::OWNER, text(&label)).read().unwrap();
    assert_eq!(record.claim.owner, Some(Owner::new(&label)));
}

proptest! {
    #[test]
    fn any_header_with_the_right_checksum_ends_in_a_record_or_a_refusal(
        header in vec(any::<u8>(), 0..200),
        payload in vec(any::<u8>(), 0..20),
    ) {
        let length = u32::try_from(header.len()).unwrap();
        let record = sealed(1, length, &[header, payload].concat());
        let read = codec::decode(&key().digest(), &record);
        prop_assert!(matches!(read, Ok(_) | Err(Damaged::Header)), "{read:?}");
    }

    #[test]
    fn a_changed_header_with_the_right_checksum_means_something_or_is_refused(
        flips in vec((any::<prop::sample::Index>(), 1..=255_u8), 1..4),
    ) {
        let raw = Raw::done(4, b"").with(Raw::OWNER, text("host-1"));
        let mut header = raw.header();
        for (at, bits) in flips {
            let at = at.index(header.len());
            header[at] ^= bits;
        }
        let length = u32::try_from(header.len()).unwrap();
        if let Ok(record) = codec::decode(&key().digest(), &sealed(1, length, &header)) {
            // What it means survives being written again by this version; a reason or a form that
            // this version does not know stays unknown.
            let again = codec::decode(&key().digest(), &codec::encode(&key().digest(), &record));
            prop_assert_eq!(again, Ok(record.clone()));
            prop_assert!(!matches!(&record.state, State::Held if !header_says_held(&header)));
        }
    }
}

/// Whether the state field, behind the array's head and the sort, says "held".
fn header_says_held(header: &[u8]) -> bool {
    let mut fields = minicbor::Decoder::new(header);
    fields.array().unwrap();
    fields.skip().unwrap();
    fields.u8().unwrap() == 1
}
