//! The grammar of keys, and that no two callers share one by accident (M6).
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

use std::collections::{HashMap, HashSet};

use semel_core::{Key, KeyError, Scope};

/// Characters with a meaning in composed keys, and two that keys don't take.
const SYMBOLS: [char; 6] = ['a', ':', '-', '%', '\0', ' '];

/// All texts of 1 to `max` symbols.
fn texts(max: usize) -> Vec<String> {
    let mut all = Vec::new();
    let mut last = vec![String::new()];
    for _ in 0..max {
        let longer = last.iter().flat_map(|text| SYMBOLS.map(|symbol| format!("{text}{symbol}")));
        last = longer.collect();
        all.extend_from_slice(&last);
    }
    all
}

/// Those, and absence.
fn parts(max: usize) -> Vec<Option<String>> {
    std::iter::once(None).chain(texts(max).into_iter().map(Some)).collect()
}

fn scope(tenant: Option<&str>, subject: Option<&str>) -> Scope {
    let mut scope = Scope::anonymous();
    if let Some(tenant) = tenant {
        scope = scope.with_tenant(tenant).expect("not empty");
    }
    if let Some(subject) = subject {
        scope = scope.with_subject(subject).expect("not empty");
    }
    scope
}

/// Takes a key apart again, by the letter of the contract and without the code under test.
fn taken_apart(key: &Key) -> Vec<Option<String>> {
    let mut segments = key.as_str().split(':');
    assert_eq!(segments.next(), Some("idem"));
    segments.map(|segment| (segment != "-").then(|| decoded(segment))).collect()
}

fn decoded(segment: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let hex = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&hex).unwrap(), 16).unwrap()
            }
            plain => plain,
        });
    }
    String::from_utf8(bytes).unwrap()
}

// ===== no two callers share a key =====

#[test]
fn m6_every_triple_of_short_parts_can_be_read_back_from_its_key() {
    for tenant in parts(2) {
        for subject in parts(2) {
            let scope = scope(tenant.as_deref(), subject.as_deref());
            for client in texts(2) {
                let key = Key::idempotency(&scope, &client).unwrap();
                let due = [tenant.clone(), subject.clone(), Some(client)];
                assert_eq!(taken_apart(&key), due, "{key}");
            }
        }
    }
}

#[test]
fn m6_every_pair_of_longer_parts_can_be_read_back_from_its_key() {
    for tenant in parts(3) {
        for subject in parts(3) {
            let scope = scope(tenant.as_deref(), subject.as_deref());
            let key = Key::idempotency(&scope, "k").unwrap();
            assert_eq!(taken_apart(&key)[..2], [tenant.clone(), subject], "{key}");
        }
    }
}

#[test]
fn m6_scopes_share_keys_exactly_when_they_are_equal() {
    let mut owners: HashMap<Key, Scope> = HashMap::new();
    for tenant in parts(4) {
        for subject in [None, Some("a"), Some("-"), Some("%2D")] {
            let ours = scope(tenant.as_deref(), subject);
            let key = Key::idempotency(&ours, "k").unwrap();
            assert_eq!(Key::idempotency(&ours.clone(), "k").unwrap(), key);
            let other = owners.insert(key.clone(), ours.clone());
            assert_eq!(other, None, "{key} belongs to two scopes");
        }
    }
    assert_eq!(owners.len(), parts(4).len() * 4);
}

#[test]
fn m6_an_operation_of_its_own_never_meets_another_key() {
    let mut seen = HashSet::new();
    for tenant in parts(1) {
        for subject in parts(1) {
            let scope = scope(tenant.as_deref(), subject.as_deref());
            for client in texts(2) {
                assert!(seen.insert(Key::idempotency(&scope, &client).unwrap()));
                for operation in texts(1) {
                    let key = Key::idempotency_of_operation(&scope, &client, &operation).unwrap();
                    let due = [tenant.clone(), subject.clone(), Some(client.clone())];
                    assert_eq!(taken_apart(&key)[..3], due, "{key}");
                    assert!(seen.insert(key), "two calls share a key");
                }
            }
        }
    }
}

#[test]
fn m6_digested_keys_differ_wherever_readable_ones_do() {
    let mut seen = HashSet::new();
    for tenant in parts(1) {
        for subject in parts(1) {
            let scope = scope(tenant.as_deref(), subject.as_deref());
            for client in texts(2) {
                for operation in parts(1) {
                    let operation = operation.as_deref();
                    let key = Key::idempotency_digest(&[7; 32], &scope, &client, operation);
                    assert!(seen.insert(key.unwrap()), "two calls share a digest");
                }
            }
        }
    }
}

#[test]
fn a_digested_key_depends_on_its_secret_and_shows_nothing() {
    let alice = scope(Some("acme"), Some("alice"));
    let first = Key::idempotency_digest(&[1; 32], &alice, "order-1", None).unwrap();
    let second = Key::idempotency_digest(&[2; 32], &alice, "order-1", None).unwrap();
    assert_ne!(first, second);
    for part in ["acme", "alice", "order"] {
        assert!(!first.as_str().contains(part), "{first}");
    }
    let readable = Key::idempotency(&alice, "order-1").unwrap();
    assert!(!readable.as_str().starts_with(first.as_str()));
}

/// Of all that could be taken for each other no two messages share a key, nor does a message share
/// one with a call.
#[test]
fn no_two_messages_share_a_key_in_either_form() {
    let texts = ["a", "a:b", "b", "-", "%2D", "a%3Ab", " ", "\u{a0}"];
    let mut keys = HashSet::new();
    for consumer in texts {
        for source in texts {
            for id in texts {
                assert!(keys.insert(Key::message(consumer, source, id).unwrap()));
                for secret in [None, Some(&[1; 32])] {
                    let digest = Key::message_digest(secret, consumer, source, id).unwrap();
                    assert!(keys.insert(digest), "{consumer}, {source}, {id}");
                }
            }
        }
    }
    assert!(keys.iter().all(|key| key.as_str().starts_with("inbox:")));
    assert_eq!(Key::message("billing", "/shop", "1").unwrap().as_str(), "inbox:billing:/shop:1");
    let attempts = Key::attempts(&Key::message("billing", "/shop", "1").unwrap()).unwrap();
    assert_eq!(attempts.as_str(), "attempts:inbox:billing:/shop:1");
}

#[test]
fn a_subject_named_dash_is_not_anonymous() {
    let named = Key::idempotency(&scope(None, Some("-")), "k").unwrap();
    let anonymous = Key::idempotency(&Scope::anonymous(), "k").unwrap();
    assert_eq!(named.as_str(), "idem:-:%2D:k");
    assert_eq!(anonymous.as_str(), "idem:-:-:k");
    // Nor is one that spells the encoding out.
    let spelled = Key::idempotency(&scope(None, Some("%2D")), "k").unwrap();
    assert_eq!(spelled.as_str(), "idem:-:%252D:k");
}

#[test]
fn a_part_is_never_empty() {
    assert!(Scope::new("", "alice").unwrap_err().to_string().contains("tenant"));
    assert!(Scope::new("acme", "").unwrap_err().to_string().contains("subject"));
    for empty in [
        Key::idempotency(&Scope::anonymous(), ""),
        Key::idempotency_of_operation(&Scope::anonymous(), "k", ""),
        Key::idempotency_digest(&[0; 32], &Scope::anonymous(), "", None),
        Key::message("", "s", "i"),
        Key::message("c", "", "i"),
        Key::message("c", "s", ""),
        Key::message_digest(None, "", "s", "i"),
        Key::message_digest(None, "c", "", "i"),
        Key::message_digest(None, "c", "s", ""),
        Key::lock(""),
        Key::cache(None, ""),
        Key::new(""),
    ] {
        assert_eq!(empty, Err(KeyError::Empty));
    }
}

// ===== length =====

#[test]
fn a_key_has_512_characters_at_most_and_they_are_not_bytes() {
    for symbol in ["k", "é", "漢", "😀"] {
        assert!(Key::new(symbol.repeat(512)).is_ok(), "512 of {symbol}");
        let over = Key::new(symbol.repeat(513));
        assert_eq!(over, Err(KeyError::TooLong { chars: 513 }), "513 of {symbol}");
    }
    assert!(Key::new("k").is_ok());
    assert_eq!(Key::new("k".repeat(1 << 20)), Err(KeyError::TooLong { chars: 1 << 20 }));
}

#[test]
fn the_limit_counts_what_composition_adds() {
    let scope = scope(Some("acme"), Some("alice"));
    let room = 512 - "idem:acme:alice:".len();
    assert!(Key::idempotency(&scope, &"k".repeat(room)).is_ok());
    let over = Key::idempotency(&scope, &"k".repeat(room + 1));
    assert_eq!(over, Err(KeyError::TooLong { chars: 513 }));
    // A character that is encoded counts as what it becomes.
    let encoded = format!("{}:", "k".repeat(room - 3));
    assert_eq!(Key::idempotency(&scope, &encoded).unwrap().as_str().chars().count(), 512);
    let over = format!("{}:", "k".repeat(room - 2));
    assert_eq!(Key::idempotency(&scope, &over), Err(KeyError::TooLong { chars: 513 }));
    assert!(Key::idempotency(&scope, &"😀".repeat(room)).is_ok());
}

#[test]
fn the_limit_of_a_lock_counts_its_prefix() {
    assert_eq!(Key::lock("report:daily").unwrap().as_str(), "lock:report:daily");
    assert!(Key::lock(&"r".repeat(507)).is_ok());
    assert_eq!(Key::lock(&"r".repeat(508)), Err(KeyError::TooLong { chars: 513 }));
}

#[test]
fn the_limit_of_a_cached_value_counts_what_stands_before_its_key() {
    assert_eq!(Key::cache(None, "a:b").unwrap().as_str(), "cache:-:a:b");
    assert!(Key::cache(None, &"k".repeat(504)).is_ok());
    assert_eq!(Key::cache(None, &"k".repeat(505)), Err(KeyError::TooLong { chars: 513 }));
    assert_eq!(Key::cache(Some("n n"), "a b"), Err(KeyError::WhiteSpace { at: 13 }));
}

#[test]
fn no_two_caches_share_a_key() {
    let names = [None, Some("-"), Some("a"), Some("a:b"), Some("a%3Ab"), Some("%2D"), Some(" ")];
    let keys: HashSet<_> = names.iter().map(|name| Key::cache(*name, "b:c").unwrap()).collect();
    assert_eq!(keys.len(), names.len());
    assert_ne!(Key::cache(Some("a"), "b:c"), Key::cache(Some("a:b"), "c"));
}

// ===== characters =====

/// Unicode's `White_Space`, written out.
const WHITE_SPACE: [char; 25] = [
    '\u{9}', '\u{a}', '\u{b}', '\u{c}', '\u{d}', '\u{20}', '\u{85}', '\u{a0}', '\u{1680}',
    '\u{2000}', '\u{2001}', '\u{2002}', '\u{2003}', '\u{2004}', '\u{2005}', '\u{2006}', '\u{2007}',
    '\u{2008}', '\u{2009}', '\u{200a}', '\u{2028}', '\u{2029}', '\u{202f}', '\u{205f}', '\u{3000}',
];

#[test]
fn white_space_and_control_characters_of_every_kind_are_refused_and_nothing_else() {
    let control = |c: char| matches!(u32::from(c), 0..=0x1f | 0x7f..=0x9f);
    let mut text = String::new();
    for c in '\0'..=char::MAX {
        text.clear();
        text.extend(['a', c, 'b']);
        let due = match c {
            _ if control(c) => Err(KeyError::Control { at: 1 }),
            _ if WHITE_SPACE.contains(&c) => Err(KeyError::WhiteSpace { at: 1 }),
            _ => Ok(()),
        };
        assert_eq!(Key::new(text.as_str()).map(|_| ()), due, "{c:?}");
    }
}

#[test]
fn nothing_is_trimmed() {
    for text in [" k", "k ", "\tk", "k\n", "\u{a0}k", "k\u{3000}", " "] {
        assert!(Key::new(text).is_err(), "{text:?}");
    }
}

#[test]
fn white_space_in_a_segment_is_encoded_instead_of_refused() {
    for c in WHITE_SPACE.into_iter().chain(['\0', '\u{7f}', '\u{9f}']) {
        let client = format!("a{c}b");
        let key = Key::idempotency(&Scope::anonymous(), &client).unwrap();
        assert_eq!(taken_apart(&key)[2].as_deref(), Some(&*client));
    }
    // A lock's resource is not a segment: it follows the grammar of keys itself.
    assert_eq!(Key::lock("a b"), Err(KeyError::WhiteSpace { at: 6 }));
}

// ===== what is shown =====

#[test]
fn debug_and_errors_show_no_part_of_a_key_or_scope() {
    let whose = scope(Some("SECRET-TENANT"), Some("SECRET-SUBJECT"));
    let key = Key::idempotency(&whose, "SECRET-KEY").unwrap();
    let long = Key::new("SECRET".repeat(100)).unwrap_err();
    let blank = Key::new("SECRET KEY").unwrap_err();
    let shown = [
        format!("{key:?} {:?} {} {whose:?}", key.digest(), key.digest()),
        format!("{long:?} {long} {} {blank:?} {blank} {}", long.reason(), blank.reason()),
    ];
    for shown in shown {
        assert!(!shown.contains("SECRET"), "{shown}");
    }
    assert_eq!(key.to_string(), "idem:SECRET-TENANT:SECRET-SUBJECT:SECRET-KEY");
}

#[test]
fn a_digest_tells_keys_apart() {
    let digests: HashSet<_> = texts(3)
        .iter()
        .filter_map(|text| Key::new(text.as_str()).ok())
        .map(|k| k.digest())
        .collect();
    let valid = texts(3).iter().filter(|text| !text.contains(['\0', ' '])).count();
    assert_eq!(digests.len(), valid);
}
