//! The numbered fields of a record's header.

use std::sync::Arc;

use bytes::Bytes;
use minicbor::bytes::ByteArray;
use minicbor::{Decode, Decoder, Encode};

use super::Damaged;
use super::pen::Pen;
use crate::fingerprint::{Fingerprint, PartName};
use crate::part_digest::PartDigest;
use crate::record::{
    Claim, Doubt, Extent, Form, Operation, Outcome, Owner, Record, State, Token, UnknownForm,
};

/// Numbers are for good: never reuse one, never change what one means.
#[derive(Encode, Decode)]
pub(super) struct Header<'b> {
    /// What sort of record it is; 1 is an idempotent call.
    #[n(0)]
    sort: u8,
    #[n(1)]
    state: u8,
    #[n(2)]
    token: ByteArray<16>,
    #[b(3)]
    operation: &'b str,
    #[n(4)]
    attempt: u32,
    #[b(5)]
    parts: Option<Vec<WirePart<'b>>>,
    #[b(6)]
    owner: Option<&'b str>,
    #[n(7)]
    form: Option<u8>,
    #[n(8)]
    partial: Option<bool>,
    #[n(9)]
    doubt: Option<u8>,
}

#[derive(Encode, Decode)]
struct WirePart<'b> {
    #[b(0)]
    name: &'b str,
    #[n(1)]
    digest: ByteArray<16>,
}

const SORT_CALL: u8 = 1;
const HELD: u8 = 1;
const DOUBT: u8 = 2;
const DONE: u8 = 3;
const MCP: u8 = 6;

pub(super) fn write(record: &Record, out: &mut Vec<u8>) {
    let Claim { operation, fingerprint, token, attempt, owner } = &record.claim;
    let mut header = Header {
        sort: SORT_CALL,
        state: HELD,
        token: (*token.as_bytes()).into(),
        operation: operation.as_str(),
        attempt: *attempt,
        parts: fingerprint.as_ref().map(wire_parts),
        owner: owner.as_ref().map(Owner::as_str),
        form: None,
        partial: None,
        doubt: None,
    };
    match &record.state {
        State::Held => {}
        State::Doubt(doubt) => {
            header.state = DOUBT;
            header.doubt = Some(doubt_number(*doubt));
        }
        State::Done(outcome) => {
            header.state = DONE;
            header.form = Some(form_number(outcome.form));
            header.partial = (outcome.extent == Extent::Partial).then_some(true);
        }
    }
    minicbor::encode(&header, Pen(out)).expect("a Vec takes every byte and every field encodes");
}

/// As many bytes as the header of a claim takes, or a few more.
pub(super) fn room(claim: &Claim) -> usize {
    // The numbers, the token, and what stands before the texts.
    const FIXED: usize = 44;
    const OF_PART: usize = 3 + 18;
    let parts = claim.fingerprint.iter().flat_map(Fingerprint::parts);
    let parts: usize = parts.map(|(name, _)| OF_PART + name.as_str().len()).sum();
    let owner = claim.owner.as_ref().map_or(0, |owner| owner.as_str().len());
    FIXED + claim.operation.as_str().len() + owner + parts
}

fn wire_parts(fingerprint: &Fingerprint) -> Vec<WirePart<'_>> {
    fingerprint
        .parts()
        .map(|(name, digest)| WirePart { name: name.as_str(), digest: (*digest.as_bytes()).into() })
        .collect()
}

/// Reads a header that takes up all of `bytes`.
pub(super) fn read(bytes: &[u8]) -> Result<Header<'_>, Damaged> {
    let mut decoder = Decoder::new(bytes);
    let header = decoder.decode().map_err(|_| Damaged::Header)?;
    if decoder.position() == bytes.len() { Ok(header) } else { Err(Damaged::Header) }
}

impl Header<'_> {
    pub(super) fn into_record(self, payload: Bytes) -> Result<Record, Damaged> {
        if self.sort != SORT_CALL {
            return Err(Damaged::Header);
        }
        let state = self.state(payload)?;
        let claim = Claim {
            operation: Operation::recorded(Arc::from(self.operation))
                .map_err(|_| Damaged::Header)?,
            fingerprint: self.parts.as_deref().map(fingerprint).transpose()?,
            token: Token::from_bytes(*self.token),
            attempt: self.attempt,
            owner: self.owner.map(Owner::new),
        };
        Ok(Record { claim, state })
    }

    /// A field of one state beside another state says two things at once: nobody writes that.
    fn state(&self, payload: Bytes) -> Result<State, Damaged> {
        match (self.state, self.form, self.partial, self.doubt) {
            (HELD, None, None, None) if payload.is_empty() => Ok(State::Held),
            (DOUBT, None, None, Some(number)) if payload.is_empty() => {
                Ok(State::Doubt(doubt(number)))
            }
            (DONE, Some(form), partial, None) => {
                let extent = if partial == Some(true) { Extent::Partial } else { Extent::Whole };
                Ok(State::Done(Outcome { form: form_of(form), extent, payload }))
            }
            _ => Err(Damaged::Header),
        }
    }
}

fn fingerprint(parts: &[WirePart<'_>]) -> Result<Fingerprint, Damaged> {
    let digests =
        parts.iter().map(|part| (PartName::read(part.name), PartDigest::from_bytes(*part.digest)));
    Fingerprint::from_parts(digests).ok_or(Damaged::Header)
}

const fn doubt_number(doubt: Doubt) -> u8 {
    match doubt {
        Doubt::Exception => 1,
        Doubt::CutOff => 2,
        Doubt::Other => 0,
    }
}

const fn doubt(number: u8) -> Doubt {
    match number {
        1 => Doubt::Exception,
        2 => Doubt::CutOff,
        _ => Doubt::Other,
    }
}

const fn form_number(form: Form) -> u8 {
    match form {
        Form::Value => 1,
        Form::Error => 2,
        Form::Bytes => 3,
        Form::Http => 4,
        Form::Grpc => 5,
        Form::Mcp => MCP,
        Form::Other(unknown) => unknown.number(),
    }
}

const fn form_of(number: u8) -> Form {
    match number {
        1 => Form::Value,
        2 => Form::Error,
        3 => Form::Bytes,
        4 => Form::Http,
        5 => Form::Grpc,
        MCP => Form::Mcp,
        number => Form::Other(UnknownForm(number)),
    }
}
