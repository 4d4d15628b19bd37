//! The sealed form of a value.
//!
//! ```text
//! format, 1 byte = 1 | key name, 1 byte | nonce, 24 bytes | ciphertext | tag, 16 bytes
//! ```
//!
//! Associated data: a fixed label, the key name, and the entry's key, which comes last and so
//! can't be confused with what is before it.

use bytes::Bytes;
use chacha20poly1305::aead::{AeadInOut, Generate, KeyInit};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};

use super::keys::{SealKey, SealKeyId, SealKeys};
use crate::key::Key;
use crate::store::StoreResult;
use crate::store_error::StoreError;

const FORMAT: u8 = 1;
const LABEL: &[u8] = b"semel sealed value 1\0";
const NONCE: usize = 24;
const TAG: usize = 16;
const HEADER: usize = 2 + NONCE;
pub(super) const OVERHEAD: usize = HEADER + TAG;

pub(super) fn seal(keys: &SealKeys, key: &Key, value: &[u8]) -> StoreResult<Bytes> {
    let with = keys.current();
    let nonce = XNonce::try_generate().map_err(|error| {
        StoreError::not_applied("the system gave no random bytes to seal with").caused_by(error)
    })?;
    let mut sealed = Vec::with_capacity(OVERHEAD + value.len());
    sealed.extend_from_slice(&[FORMAT, with.id().get()]);
    sealed.extend_from_slice(&nonce);
    sealed.extend_from_slice(value);
    let tag = cipher(with)
        .encrypt_inout_detached(&nonce, &bound_to(with.id(), key), (&mut sealed[HEADER..]).into())
        .map_err(|_| StoreError::not_applied("the value is too long to seal"))?;
    sealed.extend_from_slice(&tag);
    Ok(sealed.into())
}

pub(super) fn open(keys: &SealKeys, key: &Key, sealed: &[u8]) -> StoreResult<Bytes> {
    let damaged = |what: &str| StoreError::damaged(format!("entry {}: {what}", key.digest()));
    let (header, rest) = sealed
        .split_first_chunk::<HEADER>()
        .ok_or_else(|| damaged("too short to be a sealed value"))?;
    let [FORMAT, id, nonce @ ..] = header else {
        return Err(damaged("not a sealed value, or of a newer format"));
    };
    let (ciphertext, tag) =
        rest.split_last_chunk::<TAG>().ok_or_else(|| damaged("too short to be a sealed value"))?;
    let with = keys
        .find(SealKeyId::new(*id))
        .ok_or_else(|| damaged(&format!("sealed under key {id}, which is not held")))?;
    let nonce: &[u8; NONCE] = nonce;
    let mut value = ciphertext.to_vec();
    cipher(with)
        .decrypt_inout_detached(
            &XNonce::from(*nonce),
            &bound_to(with.id(), key),
            value.as_mut_slice().into(),
            &Tag::from(*tag),
        )
        .map_err(|_| damaged("does not open: altered, or sealed for another key or under one"))?;
    Ok(value.into())
}

fn cipher(key: &SealKey) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.secret().into())
}

fn bound_to(id: SealKeyId, key: &Key) -> Vec<u8> {
    let mut data = Vec::with_capacity(LABEL.len() + 1 + key.as_str().len());
    data.extend_from_slice(LABEL);
    data.push(id.get());
    data.extend_from_slice(key.as_str().as_bytes());
    data
}
