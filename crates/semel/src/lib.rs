//! Under construction.

mod client_key;

pub use client_key::{
    ClientKey, KeyAlphabet, KeyFormat, KeyFormatError, KeyPattern, KeyPatternError, KeyRejected,
    KeyRule, MaxKeyChars, MaxKeyCharsError, UnixMillis,
};
