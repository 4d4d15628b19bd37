//! The fingerprint of a function's input.

use std::convert::Infallible;

use minicbor::data::Type;
use minicbor::decode::Error;
use minicbor::{Decoder, Encoder};
use semel_core::{Fingerprint, PartDigest};

/// The fingerprint of an input, from its CBOR.
///
/// Maps are compared by what they hold: a `HashMap` gives its entries in another order each time,
/// and a repeat must not be taken for another request because of that.
pub(super) fn fingerprint(cbor: &[u8]) -> Fingerprint {
    let mut sorted = Vec::with_capacity(cbor.len());
    let whole = copy_sorted(&mut Decoder::new(cbor), &mut sorted).is_ok();
    // It is our own encoder's; but if it can't be read, it is compared as it is.
    let bytes = if whole { &sorted } else { cbor };
    Fingerprint::builder().digest("input", PartDigest::of(bytes)).build()
}

/// Copies one item with the entries of its maps in the order of their keys' bytes.
fn copy_sorted(from: &mut Decoder<'_>, to: &mut Vec<u8>) -> Result<(), Error> {
    match from.datatype()? {
        Type::Map | Type::MapIndef => {
            let length = from.map()?;
            let mut entries = Vec::new();
            for_each(from, length, |from| {
                let (mut key, mut value) = (Vec::new(), Vec::new());
                copy_sorted(from, &mut key)?;
                copy_sorted(from, &mut value)?;
                entries.push((key, value));
                Ok(())
            })?;
            entries.sort_unstable();
            written(to, |to| to.map(entries.len() as u64).map(drop));
            for (key, value) in entries {
                to.extend_from_slice(&key);
                to.extend_from_slice(&value);
            }
        }
        Type::Array | Type::ArrayIndef => {
            let length = from.array()?;
            let mut items = Vec::new();
            let mut count = 0;
            for_each(from, length, |from| {
                count += 1;
                copy_sorted(from, &mut items)
            })?;
            written(to, |to| to.array(count).map(drop));
            to.extend_from_slice(&items);
        }
        Type::Tag => {
            let tag = from.tag()?;
            written(to, |to| to.tag(tag).map(drop));
            copy_sorted(from, to)?;
        }
        _ => {
            let start = from.position();
            from.skip()?;
            to.extend_from_slice(from.input().get(start..from.position()).unwrap_or_default());
        }
    }
    Ok(())
}

/// Goes through the items of a collection of a known length, or of one that ends with a break.
fn for_each(
    from: &mut Decoder<'_>,
    length: Option<u64>,
    mut item: impl FnMut(&mut Decoder<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    match length {
        Some(length) => (0..length).try_for_each(|_| item(from)),
        None => {
            while from.datatype()? != Type::Break {
                item(from)?;
            }
            from.skip()
        }
    }
}

fn written(
    to: &mut Vec<u8>,
    write: impl FnOnce(&mut Encoder<&mut Vec<u8>>) -> Result<(), minicbor::encode::Error<Infallible>>,
) {
    // Writing into a Vec can't fail.
    write(&mut Encoder::new(to)).ok();
}
