//! Values that arrive damaged.

use bytes::Bytes;

use crate::store::{Page, Snapshot};

pub(super) fn snapshot(mut snapshot: Snapshot, at: usize) -> Snapshot {
    if let Some(entry) = &mut snapshot.entry {
        entry.value = flipped(&entry.value, at);
    }
    snapshot
}

pub(super) fn page(mut page: Page, at: usize) -> Page {
    for (_, entry) in &mut page.entries {
        entry.value = flipped(&entry.value, at);
    }
    page
}

fn flipped(value: &[u8], at: usize) -> Bytes {
    let mut bytes = value.to_vec();
    match at.checked_rem(bytes.len()) {
        Some(at) => bytes[at] ^= 1,
        None => bytes.push(1),
    }
    bytes.into()
}
