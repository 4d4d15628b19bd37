//! Words of others, on a terminal.

use std::borrow::Cow;
use std::fmt::Write;

/// A text that others chose, such as an owner's label, without what a terminal would act on:
/// control characters and those that turn the direction of writing are shown by their numbers.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    if !text.contains(is_active) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_active(c) {
            // Writing into a String can't fail.
            let _ = write!(shown, "{}", c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

fn is_active(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s_63_what_a_terminal_would_act_on_is_shown_by_its_number() {
        for (text, shown) in [
            ("web-3 (größer)", "web-3 (größer)"),
            ("a\x1b[2Jb", "a\\u{1b}[2Jb"),
            ("a\nb\r\t", "a\\u{a}b\\u{d}\\u{9}"),
            ("a\u{9b}b\u{7f}", "a\\u{9b}b\\u{7f}"),
            ("a\u{202e}b", "a\\u{202e}b"),
        ] {
            assert_eq!(safe(text), shown);
        }
    }
}
