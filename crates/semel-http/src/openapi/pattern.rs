//! What a key header looks like, as a regular expression of ECMA 262.

use semel::{KeyFormat, KeyRule};

use crate::key::HeaderSyntax;

const HEX: &str = "[0-9A-Fa-f]";

/// The pattern of a header value under this rule; none where the rule's own pattern says something
/// that is read differently elsewhere.
pub(super) fn of_header(rule: &KeyRule, syntax: HeaderSyntax) -> Option<String> {
    let max = rule.max_chars().get();
    let (bare, quoted) = match rule.format() {
        KeyFormat::Any => (bare_of_any(max), quoted_of_any(max)),
        KeyFormat::Uuid => same(uuid("[1-8]")),
        KeyFormat::UuidV7 => same(uuid("7")),
        KeyFormat::Ulid => same("[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}".to_owned()),
        KeyFormat::Pattern(pattern) => same(portable(pattern.as_str())?.to_owned()),
        _ => return None,
    };
    Some(match syntax {
        HeaderSyntax::Strict => format!("^\"(?:{quoted})\"$"),
        _ => format!("^(?:(?:{bare})|\"(?:{quoted})\")$"),
    })
}

/// Bare and quoted alike: what the form allows holds neither quotes nor backslashes.
fn same(form: String) -> (String, String) {
    (form.clone(), form)
}

fn uuid(version: &str) -> String {
    format!("{HEX}{{8}}-{HEX}{{4}}-{version}{HEX}{{3}}-[89ABab]{HEX}{{3}}-{HEX}{{12}}")
}

/// Visible ASCII but for quote, comma and semicolon; and no parenthesis at the beginning.
fn bare_of_any(max: usize) -> String {
    format!("[!#-'\\)-+\\--:<-~][!#-+\\--:<-~]{{0,{}}}", max - 1)
}

/// A string of RFC 9651 without its quotes, and without the space, which no key holds.
fn quoted_of_any(max: usize) -> String {
    format!("(?:[!#-\\[\\]-~]|\\\\[\"\\\\]){{1,{max}}}")
}

/// A pattern that means the same in ECMA 262.
fn portable(pattern: &str) -> Option<&str> {
    const ELSEWHERE: [&str; 13] = [
        "(?i", "(?m", "(?s", "(?x", "(?R", "(?U", "(?u", "(?-", "(?P", "[[:", "\\A", "\\z", "\\x{",
    ];
    let plain = !ELSEWHERE.iter().any(|construct| pattern.contains(construct));
    (plain && pattern.is_ascii() && !pattern.contains(['"', '\''])).then_some(pattern)
}

/// What the form is, for people.
pub(super) fn in_words(rule: &KeyRule) -> String {
    let max = rule.max_chars();
    match rule.format() {
        KeyFormat::Uuid => "a UUID (RFC 9562)".to_owned(),
        KeyFormat::UuidV7 => "a UUID of version 7 (RFC 9562, section 5.7)".to_owned(),
        KeyFormat::Ulid => "a ULID".to_owned(),
        KeyFormat::Pattern(pattern) => {
            format!("1 to {max} visible characters that match `{}`", pattern.as_str())
        }
        _ => format!("1 to {max} visible characters"),
    }
}

/// A key that the rule takes; none where only its author knows one.
pub(super) fn example(rule: &KeyRule) -> Option<&'static str> {
    let candidates =
        ["0198c2a4-5b1e-7c3a-9d21-6f0e4b8a7c15", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "order-1"];
    candidates.into_iter().find(|key| rule.check(key).is_ok())
}

#[cfg(test)]
mod tests {
    use semel::{KeyPattern, MaxKeyChars};

    use super::*;

    /// `regex-lite` is near enough to ECMA 262 for what is used here.
    fn takes(rule: &KeyRule, syntax: HeaderSyntax, value: &str) -> bool {
        let pattern = of_header(rule, syntax).unwrap();
        let rule = KeyRule::new()
            .with_max_chars(MaxKeyChars::MAX)
            .with_format(KeyFormat::Pattern(KeyPattern::new(&pattern).unwrap()));
        rule.check(value).is_ok()
    }

    /// What the door itself makes of a header value.
    fn is_read(rule: &KeyRule, syntax: HeaderSyntax, value: &str) -> bool {
        syntax.parse(value.as_bytes()).is_ok_and(|key| key.check(rule).is_ok())
    }

    #[test]
    fn the_pattern_takes_what_the_door_takes_and_nothing_else() {
        let rules = [
            KeyRule::http(),
            KeyRule::http().with_max_chars(MaxKeyChars::new(8).unwrap()),
            KeyRule::http().with_format(KeyFormat::Uuid),
            KeyRule::http().with_format(KeyFormat::UuidV7),
            KeyRule::http().with_format(KeyFormat::Ulid),
            KeyRule::http().with_format("pattern:order-[0-9]{1,3}".parse().unwrap()),
        ];
        let keys = [
            "order-1",
            "order-1234",
            "a",
            "12345678",
            "123456789",
            "a,b",
            "a;b",
            "(a",
            "a(",
            "a\"b",
            "a\\b",
            "a b",
            "é",
            "",
            "0198c2a4-5b1e-7c3a-9d21-6f0e4b8a7c15",
            "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
            "6f9619ff-8b86-0d01-b42d-00cf4fc964ff",
            "01ARZ3NDEKTSV4RRFFQ69G5FAV",
            "81ARZ3NDEKTSV4RRFFQ69G5FAV",
            "01ARZ3NDEKTSV4RRFFQ69G5FAI",
        ];
        let quoted = |key: &str| format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\""));
        for rule in &rules {
            for syntax in [HeaderSyntax::Lenient, HeaderSyntax::Strict] {
                for value in keys.iter().flat_map(|key| [(*key).to_owned(), quoted(key)]) {
                    let expected = is_read(rule, syntax, &value);
                    assert_eq!(takes(rule, syntax, &value), expected, "{rule:?} {syntax} {value}");
                }
            }
        }
    }

    #[test]
    fn a_pattern_that_is_read_differently_elsewhere_is_left_out() {
        for pattern in ["(?i)order", "[[:alpha:]]+", r"\Aa\z", "é+"] {
            let rule = KeyRule::http().with_format(format!("pattern:{pattern}").parse().unwrap());
            assert_eq!(of_header(&rule, HeaderSyntax::Lenient), None, "{pattern}");
        }
    }

    #[test]
    fn the_example_is_a_key() {
        for format in ["any", "uuid", "uuid-v7", "ulid"] {
            let rule = KeyRule::http().with_format(format.parse().unwrap());
            assert!(rule.check(example(&rule).unwrap()).is_ok());
        }
        let rule = KeyRule::http().with_format("pattern:[0-9]{77}".parse().unwrap());
        assert_eq!(example(&rule), None);
    }
}
