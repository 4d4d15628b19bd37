//! Records made by hand, field by field: what another version might write, and what nobody would.

use bytes::Bytes;
use minicbor::Encoder;
use semel_core::{Key, Record, codec};

/// A header as a list of encoded fields, in front of a payload.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    fields: Vec<Vec<u8>>,
    behind: Vec<u8>,
    payload: Vec<u8>,
}

pub(crate) type Cbor<'a> = Encoder<&'a mut Vec<u8>>;

/// The bytes of one CBOR item, or of several.
pub(crate) fn cbor(write: impl FnOnce(&mut Cbor<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut Encoder::new(&mut out));
    out
}

pub(crate) fn number(number: u64) -> Vec<u8> {
    cbor(|e| drop(e.u64(number)))
}

pub(crate) fn text(text: &str) -> Vec<u8> {
    cbor(|e| drop(e.str(text)))
}

pub(crate) fn bytes(bytes: &[u8]) -> Vec<u8> {
    cbor(|e| drop(e.bytes(bytes)))
}

pub(crate) fn null() -> Vec<u8> {
    cbor(|e| drop(e.null()))
}

impl Raw {
    pub(crate) const SORT: usize = 0;
    pub(crate) const STATE: usize = 1;
    pub(crate) const TOKEN: usize = 2;
    pub(crate) const OPERATION: usize = 3;
    pub(crate) const ATTEMPT: usize = 4;
    pub(crate) const PARTS: usize = 5;
    pub(crate) const OWNER: usize = 6;
    pub(crate) const FORM: usize = 7;
    pub(crate) const PARTIAL: usize = 8;
    pub(crate) const DOUBT: usize = 9;
    /// Fields that this version knows.
    pub(crate) const KNOWN: usize = 10;

    /// The five fields that no version leaves out.
    pub(crate) fn held() -> Self {
        let fields = vec![number(1), number(1), bytes(&[7; 16]), text("orders.create"), number(1)];
        Self { fields, behind: Vec::new(), payload: Vec::new() }
    }

    pub(crate) fn doubt(reason: u64) -> Self {
        Self::held().with(Self::STATE, number(2)).with(Self::DOUBT, number(reason))
    }

    pub(crate) fn done(form: u64, payload: &[u8]) -> Self {
        let mut raw = Self::held().with(Self::STATE, number(3)).with(Self::FORM, number(form));
        raw.payload = payload.to_vec();
        raw
    }

    /// The same with this field; those between are null.
    pub(crate) fn with(mut self, field: usize, value: Vec<u8>) -> Self {
        let fields = self.fields.len().max(field + 1);
        self.fields.resize(fields, null());
        self.fields[field] = value;
        self
    }

    pub(crate) fn without_from(mut self, field: usize) -> Self {
        self.fields.truncate(field);
        self
    }

    pub(crate) fn with_payload(mut self, payload: &[u8]) -> Self {
        self.payload = payload.to_vec();
        self
    }

    /// The same with these bytes between the header's last field and its end.
    pub(crate) fn with_behind(mut self, behind: &[u8]) -> Self {
        self.behind = behind.to_vec();
        self
    }

    pub(crate) fn header(&self) -> Vec<u8> {
        let mut header = cbor(|e| drop(e.array(self.fields.len() as u64)));
        header.extend(self.fields.concat());
        header.extend(&self.behind);
        header
    }

    pub(crate) fn build(&self) -> Bytes {
        let header = self.header();
        let length = u32::try_from(header.len()).unwrap();
        sealed(1, length, &[header, self.payload.clone()].concat())
    }

    pub(crate) fn read(&self) -> Result<Record, codec::Damaged> {
        codec::decode(&key().digest(), &self.build())
    }
}

pub(crate) fn key() -> Key {
    Key::new("idem:acme:alice:raw").unwrap()
}

/// Bytes with the right key and the right checksum, whatever they say.
pub(crate) fn sealed(format: u8, header_length: u32, rest: &[u8]) -> Bytes {
    let head = [&[format][..], &key().digest().as_bytes()[..]].concat();
    let body = [&header_length.to_le_bytes()[..], rest].concat();
    let crc = crc32fast::hash(&[&head[..], &body[..]].concat());
    Bytes::from([head, crc.to_le_bytes().to_vec(), body].concat())
}
