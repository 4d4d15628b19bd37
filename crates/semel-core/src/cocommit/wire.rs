//! From decisions to bytes and back.

use crate::codec;
use crate::key::KeyDigest;
use crate::protocol::{Seen, Write};
use crate::store::{Next, Snapshot};
use crate::store_error::StoreError;

pub(super) fn next_of(digest: &KeyDigest, write: Write) -> Next {
    match write {
        Write::Put { record, lease, keep } => {
            let value = codec::encode(digest, &record);
            Next::Put { value, lease, keep }
        }
        Write::Renew { lease, keep } => Next::Renew { lease, keep },
        Write::Delete => Next::Delete,
    }
}

pub(super) fn decoded(digest: &KeyDigest, snapshot: &Snapshot) -> Result<Seen, StoreError> {
    Seen::of(digest, snapshot).map_err(|damaged| {
        StoreError::damaged(format!("the record of key {digest}")).caused_by(damaged)
    })
}
