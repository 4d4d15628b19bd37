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
