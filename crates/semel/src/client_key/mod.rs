//! What a client may send as the key of an idempotent call, on any door.
//!
//! A door reads a text, [`KeyRule::check`] makes it a [`ClientKey`] or says why it is none. The
//! text is never trimmed, cut or folded: two keys are one key only if they are equal character for
//! character.

mod born;
mod format;
mod ids;
mod key;
mod max_chars;
mod pattern;
mod rejected;
mod rule;
#[cfg(test)]
mod tests;

pub use born::UnixMillis;
pub use format::{KeyFormat, KeyFormatError};
pub use key::ClientKey;
pub use max_chars::{MaxKeyChars, MaxKeyCharsError};
pub use pattern::{KeyPattern, KeyPatternError};
pub use rejected::KeyRejected;
pub use rule::{KeyAlphabet, KeyRule};
