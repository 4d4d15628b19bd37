//! UUID and ULID texts, read strictly: exactly the canonical form, or nothing.

use super::born::UnixMillis;

/// Crockford's base 32 as the ULID specification uses it. The look-alikes I, L, O and the letter U
/// are no digits: taking `O` for `0` would let two texts name one moment.
const ULID_DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ULID_CHARS: usize = 26;
const UUID_CHARS: usize = 36;
const UUID_HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// A UUID of the RFC 9562 variant with a version of 1 to 8.
#[derive(Clone, Copy)]
pub(super) struct Uuid(u128);

impl Uuid {
    /// Reads the form 8-4-4-4-12 in letters of any case. The nil and the max UUID have no version
    /// and are none here: as a key they are a client's forgotten default.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.len() != UUID_CHARS {
            return None;
        }
        let mut value = 0_u128;
        for (at, byte) in text.bytes().enumerate() {
            if UUID_HYPHENS.contains(&at) {
                if byte != b'-' {
                    return None;
                }
            } else {
                value = value << 4 | u128::from(char::from(byte).to_digit(16)?);
            }
        }
        let uuid = Self(value);
        (uuid.has_rfc_variant() && (1..=8).contains(&uuid.version())).then_some(uuid)
    }

    pub(super) fn is_v7(self) -> bool {
        self.version() == 7
    }

    fn version(self) -> u128 {
        self.0 >> 76 & 0xF
    }

    fn has_rfc_variant(self) -> bool {
        self.0 >> 62 & 0b11 == 0b10
    }
}

/// A ULID: 48 bits of time, 80 bits of randomness.
#[derive(Clone, Copy)]
pub(super) struct Ulid(u128);

impl Ulid {
    /// Reads 26 digits in letters of any case. A first digit above 7 would not fit 128 bits.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.len() != ULID_CHARS || !matches!(text.as_bytes()[0], b'0'..=b'7') {
            return None;
        }
        text.bytes().try_fold(0_u128, |value, byte| Some(value << 5 | ulid_digit(byte)?)).map(Self)
    }
}

fn ulid_digit(byte: u8) -> Option<u128> {
    let byte = byte.to_ascii_uppercase();
    let digit = ULID_DIGITS.iter().position(|d| *d == byte)?;
    u128::try_from(digit).ok()
}

/// The time inside a UUIDv7 or a ULID. Both keep it in their first 48 bits.
pub(super) fn born(text: &str) -> Option<UnixMillis> {
    let bits = Uuid::parse(text)
        .filter(|uuid| uuid.is_v7())
        .map(|uuid| uuid.0)
        .or_else(|| Ulid::parse(text).map(|ulid| ulid.0))?;
    u64::try_from(bits >> 80).ok().map(UnixMillis::new)
}
