//! The numbered fields of the last fence that a gate saw.

use minicbor::{Decode, Decoder, Encode};

use super::Damaged;
use crate::fence::Fence;

/// Numbers are for good: never reuse one, never change what one means.
#[derive(Encode, Decode)]
struct Wire {
    /// What sort of thing it is; 3 is a gate's last fence.
    #[n(0)]
    sort: u8,
    #[n(1)]
    fence: u64,
}

const SORT_LAST_FENCE: u8 = 3;

pub(super) fn write(fence: Fence, out: &mut Vec<u8>) {
    let wire = Wire { sort: SORT_LAST_FENCE, fence: fence.get() };
    minicbor::encode(wire, out).expect("a Vec takes every byte and every field encodes");
}

/// Reads one that takes up all of `bytes`.
pub(super) fn read(bytes: &[u8]) -> Result<Fence, Damaged> {
    let mut decoder = Decoder::new(bytes);
    let wire: Wire = decoder.decode().map_err(|_| Damaged::Header)?;
    if decoder.position() != bytes.len() || wire.sort != SORT_LAST_FENCE {
        return Err(Damaged::Header);
    }
    Ok(Fence::new(wire.fence))
}

#[cfg(test)]
mod tests {
    use super::super::{
        Damaged, decode, decode_last_fence, decode_lock, encode_last_fence, encode_lock,
    };
    use crate::fence::Fence;
    use crate::key::Key;
    use crate::lock::{LockEntry, LockKind};

    #[test]
    fn a_last_fence_reads_back_and_is_neither_a_call_nor_a_lock() {
        let key = Key::fence("orders").unwrap().digest();
        for fence in [0, 7, u64::MAX].map(Fence::new) {
            let bytes = encode_last_fence(&key, fence);
            assert_eq!(decode_last_fence(&key, &bytes), Ok(fence));
            assert!(decode(&key, &bytes).is_err() && decode_lock(&key, &bytes).is_err());
            let other = Key::fence("other").unwrap().digest();
            assert_eq!(decode_last_fence(&other, &bytes), Err(Damaged::OtherKey));
        }
    }

    #[test]
    fn a_lock_is_no_last_fence() {
        let key = Key::fence("orders").unwrap().digest();
        let (holders, queue, notes) = (Vec::new(), Vec::new(), Vec::new());
        let entry = LockEntry { kind: LockKind::Mutex, holders, queue, notes };
        assert!(decode_last_fence(&key, &encode_lock(&key, &entry)).is_err());
    }

    /// Records outlive the version that wrote them.
    #[test]
    fn the_form_of_a_last_fence_stays_as_it_is() {
        let key = Key::fence("orders").unwrap().digest();
        let bytes = encode_last_fence(&key, Fence::new(7));
        assert_eq!(bytes[0], 1);
        assert_eq!(bytes[25..], [0x82, 3, 7]);
    }
}
