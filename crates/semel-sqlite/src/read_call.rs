//! A call that changes nothing, as the queue holds it.

use semel_core::{Key, Page, Snapshot};

use crate::failure::Failure;
use crate::reply::Reply;

/// A call that changes nothing.
pub(crate) enum ReadCall {
    Read { key: Key, reply: Reply<Snapshot> },
    Scan { range: Range, limit: usize, reply: Reply<Page> },
}

/// Keys from `from` on, up to but without `to`; to the end when there is no `to`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) from: String,
    pub(crate) to: Option<String>,
}

impl Range {
    /// The keys that begin with `prefix` and come after `after`.
    ///
    /// The order is that of the UTF-8 bytes, which is that of the characters. The first text
    /// beyond all that begin with a prefix is the prefix with its last character made one higher.
    pub(crate) fn new(prefix: &str, after: Option<&Key>) -> Self {
        // The first text after a key is the key with the lowest character behind it.
        let after = after.map(|key| format!("{key}\0")).unwrap_or_default();
        Self { from: after.max(prefix.to_owned()), to: beyond(prefix) }
    }
}

fn beyond(prefix: &str) -> Option<String> {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        // The step over the surrogates is the range's; the last character of all has no next.
        if let Some(next) = (last..=char::MAX).nth(1) {
            text.push(next);
            return Some(text);
        }
    }
    None
}

impl ReadCall {
    pub(crate) fn refuse(self, why: &Failure) {
        match self {
            Self::Read { reply, .. } => drop(reply.send(Err(why.error()))),
            Self::Scan { reply, .. } => drop(reply.send(Err(why.error()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_ends_where_the_prefix_does() {
        let range = |prefix| Range::new(prefix, None);
        assert_eq!(range("ab").to.as_deref(), Some("ac"));
        assert_eq!(range("a\u{10FFFF}").to.as_deref(), Some("b"));
        assert_eq!(range("\u{10FFFF}").to, None);
        assert_eq!(range("").to, None);
        // The next character after the last before the surrogates is the first behind them.
        assert_eq!(range("\u{D7FF}").to.as_deref(), Some("\u{E000}"));
        // One byte to two, two to three, three to four.
        assert_eq!(range("\u{7F}").to.as_deref(), Some("\u{80}"));
        assert_eq!(range("\u{7FF}").to.as_deref(), Some("\u{800}"));
        assert_eq!(range("\u{FFFF}").to.as_deref(), Some("\u{10000}"));
    }

    #[test]
    fn a_range_goes_on_right_after_the_cursor() {
        let key = Key::new("ab").unwrap();
        assert_eq!(Range::new("a", Some(&key)).from, "ab\0");
        // A cursor before the prefix does not widen it.
        assert_eq!(Range::new("b", Some(&key)).from, "b");
    }
}
