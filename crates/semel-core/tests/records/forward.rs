//! Versions beside each other: a reader of today on records of tomorrow and of yesterday gives the
//! same meaning or refuses, and never "absent" (M7, F-28).

use semel_core::codec::Damaged;
use semel_core::{Doubt, Extent, Form, State};

use crate::raw::{Raw, bytes, cbor, null, number, sealed, text};

/// A value of every CBOR sort, nested too.
fn newer_values() -> Vec<Vec<u8>> {
    let nested = cbor(|e| {
        e.map(2).unwrap().str("a").unwrap().array(3).unwrap().u8(1).unwrap().null().unwrap();
        e.bytes(b"x").unwrap().u8(2).unwrap().begin_array().unwrap().f64(0.5).unwrap();
        e.begin_map().unwrap().u8(1).unwrap().bool(true).unwrap().end().unwrap().end().unwrap();
    });
    vec![number(u64::MAX), text("later"), bytes(&[0xff; 40]), null(), nested]
}

#[test]
fn a_header_with_newer_fields_means_what_it_means_without_them() {
    let raws = [Raw::held(), Raw::doubt(1), Raw::done(4, b"payload")];
    for raw in raws {
        let known = raw.read().unwrap();
        for value in newer_values() {
            let newer = raw.clone().with(Raw::KNOWN, value.clone()).with(Raw::KNOWN + 2, value);
            assert_eq!(newer.read(), Ok(known.clone()), "{newer:?}");
        }
    }
}

#[test]
fn a_part_with_newer_fields_means_what_it_means_without_them() {
    let part = |newer: bool| {
        cbor(|e| {
            e.array(1).unwrap().array(if newer { 3 } else { 2 }).unwrap();
            e.str("body").unwrap().bytes(&[9; 16]).unwrap();
            if newer {
                e.str("blake4").unwrap();
            }
        })
    };
    let known = Raw::held().with(Raw::PARTS, part(false)).read().unwrap();
    assert_eq!(known.claim.fingerprint.as_ref().unwrap().parts().len(), 1);
    assert_eq!(Raw::held().with(Raw::PARTS, part(true)).read(), Ok(known));
}

#[test]
fn a_header_with_the_required_fields_only_is_whole() {
    let record = Raw::held().read().unwrap();
    assert_eq!(record.state, State::Held);
    assert_eq!(record.claim.operation.as_str(), "orders.create");
    assert_eq!(record.claim.token.as_bytes(), &[7; 16]);
    assert!(record.claim.fingerprint.is_none() && record.claim.owner.is_none());
    for fields in 0..=Raw::ATTEMPT {
        assert_eq!(Raw::held().without_from(fields).read(), Err(Damaged::Header), "{fields}");
    }
}

#[test]
fn a_form_that_is_not_known_yet_has_ended_all_the_same() {
    for form in [0, 7, 200, 255] {
        let record = Raw::done(form, b"of tomorrow").read().unwrap();
        let State::Done(outcome) = record.state else { panic!("{form}: not done") };
        let Form::Other(unknown) = outcome.form else { panic!("{form}: {:?}", outcome.form) };
        assert_eq!(u64::from(unknown.number()), form);
        assert_eq!(outcome.extent, Extent::Whole);
        assert_eq!(&outcome.payload[..], b"of tomorrow");
    }
}

#[test]
fn a_reason_that_is_not_known_yet_is_in_doubt_all_the_same() {
    for reason in [0, 3, 77, 255] {
        assert_eq!(
            Raw::doubt(reason).read().unwrap().state,
            State::Doubt(Doubt::Other),
            "{reason}"
        );
    }
}

#[test]
fn a_sort_a_state_and_a_format_that_are_not_known_yet_are_refused() {
    for sort in [0, 2, 255, 256, u64::MAX] {
        let raw = Raw::held().with(Raw::SORT, number(sort));
        assert_eq!(raw.read(), Err(Damaged::Header), "sort {sort}");
    }
    for state in [0, 4, 255, 256, u64::MAX] {
        let raw = Raw::held().with(Raw::STATE, number(state));
        assert_eq!(raw.read(), Err(Damaged::Header), "state {state}");
    }
    for format in (0..=255).filter(|format| *format != 1) {
        let header = Raw::held().header();
        let record = sealed(format, u32::try_from(header.len()).unwrap(), &header);
        let read = semel_core::codec::decode(&crate::raw::key().digest(), &record);
        assert_eq!(read, Err(Damaged::UnknownFormat { format }));
    }
}

#[test]
fn what_says_two_things_at_once_is_refused() {
    let held = Raw::held;
    let yes = || cbor(|e| drop(e.bool(true)));
    let contradictions = [
        ("held with a form", held().with(Raw::FORM, number(1))),
        ("held and partial", held().with(Raw::PARTIAL, yes())),
        ("held with a reason", held().with(Raw::DOUBT, number(1))),
        ("held with a payload", held().with_payload(b"x")),
        ("doubt without a reason", held().with(Raw::STATE, number(2))),
        ("doubt with a form", Raw::doubt(1).with(Raw::FORM, number(1))),
        ("doubt and partial", Raw::doubt(1).with(Raw::PARTIAL, yes())),
        ("doubt with a payload", Raw::doubt(1).with_payload(b"x")),
        ("done without a form", held().with(Raw::STATE, number(3))),
        ("done with a reason", Raw::done(1, b"").with(Raw::DOUBT, number(1))),
    ];
    for (what, raw) in contradictions {
        assert_eq!(raw.read(), Err(Damaged::Header), "{what}");
    }
}
