//! The numbered fields of a count of attempts.

use minicbor::{Decode, Decoder, Encode};

use super::Damaged;

/// Numbers are for good: never reuse one, never change what one means.
#[derive(Encode, Decode)]
struct Wire {
    /// What sort of thing it is; 5 is a count of attempts.
    #[n(0)]
    sort: u8,
    #[n(1)]
    count: u32,
}

const SORT_ATTEMPTS: u8 = 5;

pub(super) fn write(count: u32, out: &mut Vec<u8>) {
    let wire = Wire { sort: SORT_ATTEMPTS, count };
    minicbor::encode(wire, out).expect("a Vec takes every byte and every field encodes");
}

/// Reads one that takes up all of `bytes`.
pub(super) fn read(bytes: &[u8]) -> Result<u32, Damaged> {
    let mut decoder = Decoder::new(bytes);
    let wire: Wire = decoder.decode().map_err(|_| Damaged::Header)?;
    if decoder.position() != bytes.len() || wire.sort != SORT_ATTEMPTS {
        return Err(Damaged::Header);
    }
    Ok(wire.count)
}

#[cfg(test)]
mod tests {
    use super::super::{
        Damaged, decode, decode_attempts, decode_last_fence, decode_lock, encode_attempts,
        encode_last_fence,
    };
    use crate::fence::Fence;
    use crate::key::{Key, KeyDigest};

    fn key() -> KeyDigest {
        Key::attempts(&Key::message("billing", "shop", "1").unwrap()).unwrap().digest()
    }

    #[test]
    fn a_count_reads_back_and_is_nothing_else() {
        for count in [0, 7, u32::MAX] {
            let bytes = encode_attempts(&key(), count);
            assert_eq!(decode_attempts(&key(), &bytes), Ok(count));
            assert!(decode(&key(), &bytes).is_err() && decode_lock(&key(), &bytes).is_err());
            assert!(decode_last_fence(&key(), &bytes).is_err());
            let other = Key::message("billing", "shop", "1").unwrap().digest();
            assert_eq!(decode_attempts(&other, &bytes), Err(Damaged::OtherKey));
        }
    }

    #[test]
    fn a_last_fence_is_no_count() {
        let bytes = encode_last_fence(&key(), Fence::new(7));
        assert!(decode_attempts(&key(), &bytes).is_err());
    }

    /// Records outlive the version that wrote them.
    #[test]
    fn the_form_of_a_count_stays_as_it_is() {
        let bytes = encode_attempts(&key(), 7);
        assert_eq!(bytes[0], 1);
        assert_eq!(bytes[25..], [0x82, 5, 7]);
    }
}
