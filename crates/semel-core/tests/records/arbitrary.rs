//! Any record.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use semel_core::{
    Claim, Doubt, Extent, Fingerprint, Form, Key, Operation, Outcome, Owner, PartDigest, Record,
    State, Token,
};

pub(crate) fn key() -> impl Strategy<Value = Key> {
    "[!-~¡-ÿа-я]{1,64}".prop_map(|text| Key::new(text).unwrap())
}

pub(crate) fn record() -> impl Strategy<Value = Record> {
    (claim(), state()).prop_map(|(claim, state)| Record { claim, state })
}

fn claim() -> impl Strategy<Value = Claim> {
    (operation(), option::of(fingerprint()), any::<[u8; 16]>(), attempt(), option::of(owner()))
        .prop_map(|(operation, fingerprint, token, attempt, owner)| Claim {
            operation,
            fingerprint,
            token: Token::from_bytes(token),
            attempt,
            owner,
        })
}

fn operation() -> impl Strategy<Value = Operation> {
    let named = prop_oneof![any::<String>(), "[a-z]{1000,1024}"]
        .prop_filter_map("1 to 1024 bytes", |name| Operation::new(name).ok());
    prop_oneof![4 => named, 1 => Just(Operation::unnamed())]
}

fn fingerprint() -> impl Strategy<Value = Fingerprint> {
    vec((any::<String>(), any::<[u8; 16]>()), 0..8).prop_map(|parts| {
        let add = |builder: semel_core::FingerprintBuilder, (name, digest): (String, [u8; 16])| {
            builder.digest(name, PartDigest::from_bytes(digest))
        };
        parts.into_iter().fold(Fingerprint::builder(), add).build()
    })
}

fn attempt() -> impl Strategy<Value = u32> {
    prop_oneof![0..3_u32, Just(u32::MAX), any::<u32>()]
}

fn owner() -> impl Strategy<Value = Owner> {
    prop_oneof![any::<String>(), "\\PC{190,220}"].prop_map(|label| Owner::new(&label))
}

fn state() -> impl Strategy<Value = State> {
    let doubt = [Doubt::Exception, Doubt::CutOff, Doubt::Other];
    prop_oneof![
        Just(State::Held),
        proptest::sample::select(doubt.to_vec()).prop_map(State::Doubt),
        outcome().prop_map(State::Done),
    ]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let form = vec![Form::Value, Form::Error, Form::Bytes, Form::Http, Form::Grpc, Form::Mcp];
    let extent = prop_oneof![Just(Extent::Whole), Just(Extent::Partial)];
    (proptest::sample::select(form), extent, vec(any::<u8>(), 0..600))
        .prop_map(|(form, extent, payload)| Outcome { form, extent, payload: Bytes::from(payload) })
}
