//! The numbered fields before a cached value.

use bytes::Bytes;
use minicbor::bytes::ByteArray;
use minicbor::{Decode, Decoder, Encode};

use super::Damaged;
use super::pen::Pen;
use crate::cache_entry::{CacheEntry, Renewal};
use crate::record::Token;
use crate::time::Ttl;

/// Numbers are for good: never reuse one, never change what one means.
#[derive(Encode, Decode)]
struct Wire {
    /// What sort of thing it is; 4 is a cached value.
    #[n(0)]
    sort: u8,
    #[n(1)]
    token: ByteArray<16>,
    /// What a read renews; nothing without it.
    #[n(2)]
    renewal: Option<u8>,
    /// For how long, in microseconds.
    #[n(3)]
    sliding: Option<u64>,
}

const SORT_CACHE: u8 = 4;
const LEASE: u8 = 1;
const KEEP: u8 = 2;

/// As many bytes as a header takes, or a few more.
pub(super) const ROOM: usize = 32;

pub(super) fn write(entry: &CacheEntry, out: &mut Vec<u8>) {
    let (renewal, sliding) = match entry.renewal {
        Renewal::Never => (None, None),
        Renewal::Lease(sliding) => (Some(LEASE), Some(sliding.as_micros())),
        Renewal::Keep(sliding) => (Some(KEEP), Some(sliding.as_micros())),
    };
    let token = (*entry.token.as_bytes()).into();
    let wire = Wire { sort: SORT_CACHE, token, renewal, sliding };
    minicbor::encode(wire, Pen(out)).expect("a Vec takes every byte and every field encodes");
}

/// Reads a header that takes up all of `header`.
pub(super) fn read(header: &[u8], value: Bytes) -> Result<CacheEntry, Damaged> {
    let mut decoder = Decoder::new(header);
    let wire: Wire = decoder.decode().map_err(|_| Damaged::Header)?;
    if decoder.position() != header.len() || wire.sort != SORT_CACHE {
        return Err(Damaged::Header);
    }
    let renewal = renewal(wire.renewal, wire.sliding).ok_or(Damaged::Header)?;
    Ok(CacheEntry { token: Token::from_bytes(*wire.token), renewal, value })
}

/// A renewal of zero, or of a kind that is not known, is never guessed at.
fn renewal(kind: Option<u8>, sliding: Option<u64>) -> Option<Renewal> {
    let ttl = || Ttl::from_micros(sliding?).filter(|ttl| !ttl.is_zero());
    match kind {
        None => sliding.is_none().then_some(Renewal::Never),
        Some(LEASE) => ttl().map(Renewal::Lease),
        Some(KEEP) => ttl().map(Renewal::Keep),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        decode, decode_cache, decode_last_fence, decode_lock, encode_cache, framed,
    };
    use super::*;
    use crate::key::{Key, KeyDigest};

    const SECOND: Ttl = Ttl::from_micros(1_000_000).unwrap();

    fn digest(key: &str) -> KeyDigest {
        Key::cache(None, key).unwrap().digest()
    }

    fn entry(renewal: Renewal, value: &'static [u8]) -> CacheEntry {
        CacheEntry { token: Token::from_bytes([7; 16]), renewal, value: Bytes::from_static(value) }
    }

    #[test]
    fn a_cached_value_reads_back_and_is_nothing_else() {
        let key = digest("k");
        for renewal in [Renewal::Never, Renewal::Lease(SECOND), Renewal::Keep(Ttl::MAX)] {
            for value in [&b""[..], b"v", &[0; 9_000]] {
                let entry = entry(renewal, value);
                let bytes = encode_cache(&key, &entry);
                assert_eq!(decode_cache(&key, &bytes), Ok(entry));
                assert_eq!(decode_cache(&digest("other"), &bytes), Err(Damaged::OtherKey));
                assert!(decode(&key, &bytes).is_err() && decode_lock(&key, &bytes).is_err());
                assert!(decode_last_fence(&key, &bytes).is_err());
            }
        }
    }

    #[test]
    fn no_bytes_that_were_changed_are_a_value() {
        let key = digest("k");
        let whole = encode_cache(&key, &entry(Renewal::Lease(SECOND), b"value"));
        for cut in 0..whole.len() {
            assert!(decode_cache(&key, &whole.slice(..cut)).is_err(), "{cut} bytes");
        }
        for at in 0..whole.len() {
            let mut changed = whole.to_vec();
            changed[at] ^= 1;
            assert!(decode_cache(&key, &changed.into()).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_renewal_that_is_not_known_is_damage() {
        let key = digest("k");
        for (renewal, sliding) in
            [(Some(3), Some(1)), (Some(1), None), (Some(2), Some(0)), (None, Some(1))]
        {
            let wire = Wire { sort: SORT_CACHE, token: [7; 16].into(), renewal, sliding };
            let bytes = framed(&key, ROOM, b"v", |out| minicbor::encode(&wire, out).unwrap());
            assert_eq!(decode_cache(&key, &bytes), Err(Damaged::Header), "{renewal:?} {sliding:?}");
        }
    }

    /// Values outlive the version that wrote them.
    #[test]
    fn the_form_of_a_cached_value_stays_as_it_is() {
        let key = digest("k");
        let token = [0x50, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7];
        for (renewal, head, tail) in [
            (Renewal::Never, &[0x82, 4][..], &b"v"[..]),
            (Renewal::Lease(SECOND), &[0x84, 4], b"\x01\x1a\x00\x0f\x42\x40v"),
            (Renewal::Keep(SECOND), &[0x84, 4], b"\x02\x1a\x00\x0f\x42\x40v"),
        ] {
            let bytes = encode_cache(&key, &entry(renewal, b"v"));
            assert_eq!(bytes[0], 1);
            assert_eq!(bytes[25..], [head, &token, tail].concat());
        }
    }
}
