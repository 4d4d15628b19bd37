//! Tables for rules, formats and times; properties for every input.

use std::time::Duration;

use proptest::prelude::*;
use semel_core::StoreTime;

use super::*;

const UUID_V4: &str = "9b2f5c1e-7a34-4d10-8c55-0f1e2d3c4b5a";
/// The example of RFC 9562, appendix A.6: 2022-02-22T19:22:22Z.
const UUID_V7: &str = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
const UUID_V7_MILLIS: u64 = 1_645_557_742_000;
const ULID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const ULID_MILLIS: u64 = 1_469_922_850_259;

fn rejected(rule: &KeyRule, key: &str) -> KeyRejected {
    rule.check(key).expect_err("the rule should refuse this key")
}

fn format(text: &str) -> KeyRule {
    KeyRule::new().with_format(text.parse().unwrap())
}

// ===== length, blank, alphabet =====

#[test]
fn an_empty_or_blank_key_is_refused_by_every_rule() {
    let rules = [KeyRule::new(), KeyRule::http(), format("uuid"), format("pattern:.*")];
    for rule in &rules {
        assert_eq!(rejected(rule, ""), KeyRejected::Empty, "{rule:?}");
        for blank in [" ", "\t", " \n ", "\u{a0}\u{3000}", "\0", "\u{85}"] {
            assert_eq!(rejected(rule, blank), KeyRejected::Blank, "{rule:?} {blank:?}");
        }
    }
}

#[test]
fn s_12_a_key_of_255_characters_is_the_longest() {
    for rule in [KeyRule::new(), KeyRule::http()] {
        assert!(rule.check(&"k".repeat(255)).is_ok());
        for too_many in [256, 8 * 1024, 1024 * 1024] {
            let fault = rejected(&rule, &"k".repeat(too_many));
            assert_eq!(fault, KeyRejected::TooLong { max: MaxKeyChars::DEFAULT });
        }
    }
}

#[test]
fn length_counts_characters_and_not_bytes() {
    let rule = KeyRule::new().with_max_chars(MaxKeyChars::new(3).unwrap());
    assert!(rule.check("鍵鍵鍵").is_ok());
    assert_eq!(rejected(&rule, "鍵鍵鍵鍵").reason(), "too-long");
}

#[test]
fn a_limit_outside_1_to_500_is_refused() {
    for chars in [0, 501, usize::MAX] {
        let error = MaxKeyChars::new(chars).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("a key can't be limited to {chars} characters; it takes 1 to 500")
        );
    }
    assert_eq!(MaxKeyChars::new(500).unwrap(), MaxKeyChars::MAX);
}

#[test]
fn the_http_rule_takes_visible_ascii_only() {
    let rule = KeyRule::http();
    let all: String = ('!'..='~').collect();
    assert_eq!(rule.check(&all).unwrap().as_str(), all);
    for (key, at) in [("a b", 1), ("a\t", 1), ("schlüssel", 4), ("k\u{7f}", 1), (" k", 0)] {
        assert_eq!(rejected(&rule, key), KeyRejected::NotVisibleAscii { at }, "{key:?}");
    }
}

#[test]
fn a_rule_for_functions_takes_any_character_and_never_trims() {
    for key in [" k ", "schlüssel", "a:b%c", "-"] {
        assert_eq!(KeyRule::new().check(key).unwrap().as_str(), key);
    }
}

// ===== formats =====

#[test]
fn uuid_takes_the_canonical_form_in_any_letter_case() {
    let rule = format("uuid");
    for key in [UUID_V4, UUID_V7, "9B2F5C1E-7a34-1D10-BC55-0F1E2D3C4B5A"] {
        assert!(rule.check(key).is_ok(), "{key}");
    }
    for key in [
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "9b2f5c1e-7a34-0d10-8c55-0f1e2d3c4b5a",
        "9b2f5c1e-7a34-9d10-8c55-0f1e2d3c4b5a",
        "9b2f5c1e-7a34-4d10-7c55-0f1e2d3c4b5a",
        "9b2f5c1e-7a34-4d10-cc55-0f1e2d3c4b5a",
        "9b2f5c1e7a344d108c550f1e2d3c4b5a",
        "{9b2f5c1e-7a34-4d10-8c55-0f1e2d3c4b5a}",
        "urn:uuid:9b2f5c1e-7a34-4d10-8c55-0f1e2d3c4b5a",
        "9b2f5c1e-7a34-4d10-8c55-0f1e2d3c4b5",
        "9b2f5c1e-7a34-4d10-8c55-0f1e2d3c4b5a0",
        "9b2f5c1e-7a34-4d10-8c55-0f1e2d3c4b5g",
        "9b2f5c1e_7a34_4d10_8c55_0f1e2d3c4b5a",
        "+b2f5c1e-7a34-4d10-8c55-0f1e2d3c4b5a",
        ULID,
    ] {
        assert_eq!(rejected(&rule, key), KeyRejected::NotAUuid, "{key}");
    }
}

#[test]
fn uuid_v7_takes_version_seven_only() {
    let rule = format("uuid-v7");
    assert!(rule.check(UUID_V7).is_ok());
    assert!(rule.check(&UUID_V7.to_uppercase()).is_ok());
    assert_eq!(rejected(&rule, UUID_V4), KeyRejected::NotAUuidV7);
    assert_eq!(rejected(&rule, ULID), KeyRejected::NotAUuidV7);
}

#[test]
fn ulid_takes_crockford_digits_that_fit_128_bits() {
    let rule = format("ulid");
    for key in [ULID, "01arz3ndektsv4rrffq69g5fav", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"] {
        assert!(rule.check(key).is_ok(), "{key}");
    }
    for key in [
        "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "01ARZ3NDEKTSV4RRFFQ69G5FA",
        "01ARZ3NDEKTSV4RRFFQ69G5FAVV",
        "01ARZ3NDEKTSV4RRFFQ69G5FAI",
        "01ARZ3NDEKTSV4RRFFQ69G5FAL",
        "O1ARZ3NDEKTSV4RRFFQ69G5FAV",
        "01ARZ3NDEKTSV4RRFFQ69G5FAU",
        "01ARZ3NDEKTSV4RRFFQ69G5F-V",
        UUID_V7,
    ] {
        assert_eq!(rejected(&rule, key), KeyRejected::NotAUlid, "{key}");
    }
}

#[test]
fn a_pattern_matches_the_whole_key_or_not_at_all() {
    for (pattern, taken, refused) in [
        ("[a-z]+|[0-9]+", "abc", "abc1"),
        ("a|ab", "ab", "abc"),
        ("^order-[0-9]{4}$", "order-0001", "order-0001x"),
        ("(?m)^abc$", "abc", "abc\nxyz"),
        ("(?x) a b # spaces don't count\n", "ab", "a b"),
        ("(?i)k-.+", "K-1", "xK-1"),
    ] {
        let rule = format(&format!("pattern:{pattern}"));
        assert!(rule.check(taken).is_ok(), "{pattern} should take {taken}");
        assert_eq!(rejected(&rule, refused).reason(), "pattern-mismatch", "{pattern} {refused}");
    }
}

#[test]
fn a_pattern_that_is_not_usable_says_why() {
    for (pattern, message) in [
        ("", "the pattern is empty; it takes a regular expression that matches the whole key"),
        ("a)|(b", "the pattern is not usable: "),
        ("[a-z", "the pattern is not usable: "),
        (r"(a)\1", "the pattern is not usable: "),
        ("(?=a)a", "the pattern is not usable: "),
        ("(?x)a # never ends", "the pattern can't be anchored on the whole key: "),
    ] {
        let error = format!("pattern:{pattern}").parse::<KeyFormat>().unwrap_err();
        assert!(error.to_string().starts_with(message), "{pattern:?}: {error}");
    }
    let error = KeyPattern::new(&"a".repeat(1025)).unwrap_err();
    assert_eq!(error, KeyPatternError::TooLong { chars: 1025 });
}

#[test]
fn a_pattern_that_would_grow_without_bound_is_refused_and_not_compiled() {
    for pattern in [
        "a{4294967295}",
        "((a{1000}){1000}){1000}",
        "(((){1000}){1000}){1000}",
        "((a{0}){65535}){65535}",
        "(x+x+)+{1000}{1000}",
        r"[\w-]{100000}",
    ] {
        let error = KeyPattern::new(pattern).unwrap_err();
        assert!(matches!(error, KeyPatternError::Invalid(_)), "{pattern}: {error}");
    }
    assert!(KeyPattern::new(&"(".repeat(1024)).is_err());
    assert!(KeyPattern::new(&format!("{}a{}", "(".repeat(500), ")".repeat(500))).is_err());
}

#[test]
fn a_pattern_that_makes_backtracking_engines_hang_is_answered() {
    let rule = format("pattern:((x+x+)+|(x*)*|(x|x|x)+)+y");
    assert_eq!(rejected(&rule, &"x".repeat(255)).reason(), "pattern-mismatch");
    let longest = format("pattern:[0-9A-Za-z_-]{1,255}");
    assert!(longest.check(&"x".repeat(255)).is_ok());
}

#[test]
fn every_format_is_read_back_from_its_text() {
    for text in ["any", "uuid", "uuid-v7", "ulid", "pattern:a:b|c", "pattern: spaced "] {
        assert_eq!(text.parse::<KeyFormat>().unwrap().to_string(), text);
    }
    for text in ["", "UUID", "uuid-v4", "uuidv7", " any", "pattern", "regex:a"] {
        let error = text.parse::<KeyFormat>().unwrap_err();
        assert_eq!(error, KeyFormatError::Unknown { got: text.to_owned() });
    }
}

// ===== what an error shows =====

#[test]
fn i4_reasons_are_stable_words() {
    let pattern = KeyPattern::new("x").unwrap();
    let reasons = [
        KeyRejected::Empty,
        KeyRejected::Blank,
        KeyRejected::TooLong { max: MaxKeyChars::DEFAULT },
        KeyRejected::NotVisibleAscii { at: 0 },
        KeyRejected::NotAUuid,
        KeyRejected::NotAUuidV7,
        KeyRejected::NotAUlid,
        KeyRejected::PatternMismatch { pattern },
    ]
    .map(|fault| fault.reason());
    assert_eq!(
        reasons,
        [
            "empty",
            "blank",
            "too-long",
            "not-visible-ascii",
            "not-a-uuid",
            "not-a-uuid-v7",
            "not-a-ulid",
            "pattern-mismatch"
        ]
    );
}

#[test]
fn neither_an_error_nor_debug_shows_the_key() {
    let secret = "Zq9-secret";
    for text in ["uuid", "uuid-v7", "ulid", "pattern:[a-c]+"] {
        let fault = rejected(&format(text), secret);
        assert!(!format!("{fault} {fault:?}").contains("secret"), "{fault:?}");
    }
    let key = KeyRule::http().check(secret).unwrap();
    assert_eq!(format!("{key:?}").len(), "ClientKey(01234567)".len());
    assert!(!format!("{key:?}").contains("secret"));
    assert_ne!(format!("{key:?}"), format!("{:?}", KeyRule::http().check("other").unwrap()));
}

// ===== the time inside a key =====

fn born(key: &str) -> Option<u64> {
    KeyRule::new().check(key).unwrap().born().map(UnixMillis::get)
}

#[test]
fn a_uuid_v7_and_a_ulid_tell_when_they_were_made() {
    assert_eq!(born(UUID_V7), Some(UUID_V7_MILLIS));
    assert_eq!(born(&UUID_V7.to_uppercase()), Some(UUID_V7_MILLIS));
    assert_eq!(born(ULID), Some(ULID_MILLIS));
    assert_eq!(born(&ULID.to_lowercase()), Some(ULID_MILLIS));
    assert_eq!(born("7ZZZZZZZZZ0000000000000000"), Some((1 << 48) - 1));
    for key in [UUID_V4, "order-1", "01ARZ3NDEKTSV4RRFFQ69G5FAU", &UUID_V7[1..]] {
        assert_eq!(born(key), None, "{key}");
    }
}

#[test]
fn a_key_is_expired_only_beyond_the_limit() {
    let day = Duration::from_hours(24);
    let made = UnixMillis::new(UUID_V7_MILLIS);
    let at = |ms: u64| UnixMillis::new(UUID_V7_MILLIS + ms);
    assert!(!made.is_older_than(day, at(0)));
    assert!(!made.is_older_than(day, at(86_400_000)));
    assert!(made.is_older_than(day, at(86_400_001)));
    assert_eq!(made.age(at(1_500)), Duration::from_millis(1_500));
}

#[test]
fn a_key_from_the_future_is_not_expired() {
    let now = UnixMillis::new(1_000);
    for made in [UnixMillis::new(1_001), UnixMillis::new(u64::MAX)] {
        assert_eq!(made.age(now), Duration::ZERO);
        assert!(!made.is_older_than(Duration::ZERO, now));
    }
}

#[test]
fn a_store_moment_is_rounded_down_to_milliseconds() {
    assert_eq!(UnixMillis::from(StoreTime::from_micros(1_999)), UnixMillis::new(1));
}

// ===== properties =====

fn uuid_text(bits: u128) -> String {
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

fn ulid_text(bits: u128) -> String {
    let digit = |shift: u32| (bits >> shift & 31) as usize;
    (0..26)
        .rev()
        .map(|n| "0123456789ABCDEFGHJKMNPQRSTVWXYZ".as_bytes()[digit(n * 5)] as char)
        .collect()
}

proptest! {
    #[test]
    fn an_accepted_key_is_the_text_unchanged(text in any::<String>(), http in any::<bool>()) {
        let rule = if http { KeyRule::http() } else { KeyRule::new() };
        match rule.check(&text) {
            Ok(key) => {
                prop_assert_eq!(key.as_str(), &text);
                prop_assert!((1..=255).contains(&text.chars().count()));
                prop_assert!(!http || text.bytes().all(|b| b.is_ascii_graphic()));
            }
            Err(fault) => prop_assert!(!fault.reason().is_empty()),
        }
    }

    #[test]
    fn what_the_http_rule_takes_every_wider_rule_takes(text in "[ -~]{0,300}") {
        if KeyRule::http().check(&text).is_ok() {
            prop_assert!(KeyRule::new().check(&text).is_ok());
        }
    }

    #[test]
    fn every_uuid_v7_tells_its_time(millis in 0_u64..1 << 48, low in any::<u128>()) {
        let random = low & !(0xF << 76 | 0b11 << 62) & ((1 << 80) - 1);
        let bits = u128::from(millis) << 80 | random | 7 << 76 | 0b10 << 62;
        prop_assert_eq!(born(&uuid_text(bits)), Some(millis));
        prop_assert!(format("uuid-v7").check(&uuid_text(bits)).is_ok());
    }

    #[test]
    fn every_ulid_tells_its_time(bits in any::<u128>()) {
        let text = ulid_text(bits);
        prop_assert_eq!(born(&text).map(u128::from), Some(bits >> 80));
        prop_assert!(format("ulid").check(&text).is_ok());
    }

    #[test]
    fn any_text_is_a_format_or_an_error(text in "(pattern:)?\\PC{0,40}") {
        if let Ok(format) = text.parse::<KeyFormat>() {
            prop_assert_eq!(format.to_string(), text);
        }
    }
}
