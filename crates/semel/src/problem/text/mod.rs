//! Titles and details, a file for each language.
//!
//! Every text says what was wrong and then what to do. Names that come from outside (operations,
//! headers, selections) go through [`shown`] first: one line, of bounded length.

mod chinese;
mod english;

use std::time::Duration;

use super::code::Code;
use super::kind::ProblemKind;
use super::language::Language;

pub(super) const fn title(code: Code, language: Language) -> &'static str {
    match language {
        Language::English => english::title(code),
        Language::SimplifiedChinese => chinese::title(code),
    }
}

pub(super) fn detail(kind: &ProblemKind, language: Language) -> String {
    match language {
        Language::English => english::detail(kind),
        Language::SimplifiedChinese => chinese::detail(kind),
    }
}

/// How much of a name is shown.
const MOST_CHARS: usize = 120;

/// A name fit for a sentence: control characters and the like, which could forge a line in a log
/// or turn a terminal's writing round, become `?`; what is too long ends with `…`.
fn shown(name: &str) -> String {
    let mut text: String =
        name.chars().take(MOST_CHARS).map(|c| if is_plain(c) { c } else { '?' }).collect();
    if name.chars().nth(MOST_CHARS).is_some() {
        text.push('…');
    }
    text
}

/// Neither a control character, nor a line or paragraph separator, nor one that changes the
/// direction of writing (Unicode, UAX 9).
fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{61c}' | '\u{200e}' | '\u{200f}')
        && !matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// How long in words: the largest unit that leaves a number of at least two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Span {
    Seconds(u64),
    Minutes(u64),
    Hours(u64),
    Days(u64),
}

impl Span {
    fn of(duration: Duration) -> Self {
        match duration.as_secs() {
            seconds @ 0..120 => Self::Seconds(seconds),
            seconds @ 120..7_200 => Self::Minutes(seconds / 60),
            seconds @ 7_200..172_800 => Self::Hours(seconds / 3_600),
            seconds => Self::Days(seconds / 86_400),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_from_outside_stay_on_one_line_and_end() {
        assert_eq!(shown("POST /orders/{id}"), "POST /orders/{id}");
        assert_eq!(shown("a\nb\u{1b}[2Jc\u{202e}d\u{2028}e"), "a?b?[2Jc?d?e");
        let long = shown(&"订".repeat(MOST_CHARS + 1));
        assert_eq!(long.chars().count(), MOST_CHARS + 1);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn spans_are_told_in_the_unit_that_people_would_use() {
        for (seconds, span) in [
            (0, Span::Seconds(0)),
            (119, Span::Seconds(119)),
            (120, Span::Minutes(2)),
            (7_199, Span::Minutes(119)),
            (86_400, Span::Hours(24)),
            (172_800, Span::Days(2)),
            (u64::MAX, Span::Days(u64::MAX / 86_400)),
        ] {
            assert_eq!(Span::of(Duration::from_secs(seconds)), span);
        }
    }
}
