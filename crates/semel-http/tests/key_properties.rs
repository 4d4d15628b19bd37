//! What holds for every key and for every pile of bytes.

use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence::WithSource;
use semel::KeyRule;
use semel_http::{BaggageKey, HeaderSyntax, KeySources};

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");

// ===== writing what is read =====

/// The String of RFC 9651, section 4.1.6.
fn quoted(key: &str) -> String {
    let escaped = key.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

/// Every byte percent-encoded that `keep` does not spare.
fn percent_encoded(text: &str, keep: impl Fn(u8) -> bool) -> String {
    let encode = |byte: u8| match keep(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

fn headers<V: AsRef<[u8]>>(name: &HeaderName, lines: &[V]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        if let Ok(value) = HeaderValue::from_bytes(line.as_ref()) {
            headers.append(name, value);
        }
    }
    headers
}

fn parse(syntax: HeaderSyntax, value: &str) -> Option<String> {
    syntax.parse(value.as_bytes()).ok().map(|key| key.as_str().to_owned())
}

fn baggage(lines: &[String]) -> Option<String> {
    let headers = headers(&HeaderName::from_static("baggage"), lines);
    BaggageKey::default().read(&headers).ok()?.map(|key| key.as_str().to_owned())
}

// ===== bytes that look like what is read =====

/// Field values near the grammar, where a parser's branches are.
fn near_header() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just(b"\"".to_vec()),
        Just(b"\\".to_vec()),
        Just(b";a=1".to_vec()),
        Just(b", ".to_vec()),
        Just(b"(".to_vec()),
        Just(b"\t ".to_vec()),
        Just(b"?1@:%-".to_vec()),
        "[ -~]{0,8}".prop_map(String::into_bytes),
        vec(any::<u8>(), 0..4),
    ];
    vec(part, 0..8).prop_map(|parts| parts.concat())
}

/// Baggage near the grammar, with our member in it now and then.
fn near_baggage() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just(b"xihan.idempotency-key".to_vec()),
        Just(b"=".to_vec()),
        Just(b",".to_vec()),
        Just(b";p=1".to_vec()),
        Just(b" \t".to_vec()),
        Just(b"%".to_vec()),
        "%[0-9a-g]{1,2}".prop_map(String::into_bytes),
        "[a-z]{0,4}".prop_map(String::into_bytes),
        vec(any::<u8>(), 0..4),
    ];
    vec(part, 0..24).prop_map(|parts| parts.concat())
}

fn lines(near: impl Strategy<Value = Vec<u8>> + 'static) -> impl Strategy<Value = Vec<Vec<u8>>> {
    vec(prop_oneof![3 => near.boxed(), 1 => vec(any::<u8>(), 0..700).boxed()], 0..5)
}

proptest! {
    // A failing case is printed and kept beside this file, to be run again first.
    #![proptest_config(ProptestConfig::with_failure_persistence(WithSource("regressions")))]

    // ===== round trips =====

    #[test]
    fn c8_a_quoted_key_is_read_back_by_both_syntaxes(key in "[ -~]{1,250}", space in " {0,3}") {
        let value = format!("{space}{}{space}", quoted(&key));
        prop_assume!(value.len() <= HeaderSyntax::MAX_BYTES);
        prop_assert_eq!(parse(HeaderSyntax::Strict, &value), Some(key.clone()));
        prop_assert_eq!(parse(HeaderSyntax::Lenient, &value), Some(key));
    }

    #[test]
    fn c8_a_bare_key_is_the_same_as_the_quoted_one(key in "[!#-'*+\\--:<-~][!#-+\\--:<-~]{0,254}") {
        prop_assert_eq!(parse(HeaderSyntax::Lenient, &key), Some(key.clone()));
        let value = quoted(&key);
        if value.len() <= HeaderSyntax::MAX_BYTES {
            prop_assert_eq!(parse(HeaderSyntax::Lenient, &value), Some(key));
        }
    }

    #[test]
    fn parameters_never_change_the_key(
        key in "[!-~]{1,60}",
        parameters in vec(("[a-z*][a-z0-9_.*-]{0,5}", "(|=1|=\"x,y;z\"|=tok|=\\?0|=:aGk=:|=-4\\.5)"), 0..4),
    ) {
        let tail: String = parameters.iter().map(|(name, value)| format!(";{name}{value}")).collect();
        let value = quoted(&key) + &tail;
        prop_assert_eq!(parse(HeaderSyntax::Strict, &value), Some(key.clone()));
        prop_assert_eq!(parse(HeaderSyntax::Lenient, &value), Some(key));
    }

    #[test]
    fn f_15_any_text_survives_baggage(text in "\\PC{1,200}|(?s).{1,40}", spare in any::<bool>()) {
        let keep = |byte: u8| spare && byte.is_ascii_alphanumeric();
        let line = format!("a=1, xihan.idempotency-key={};p, b=2", percent_encoded(&text, keep));
        prop_assert_eq!(baggage(&[line]), Some(text));
    }

    #[test]
    fn our_member_is_found_wherever_it_stands(
        key in "[a-z0-9-]{1,40}",
        others in vec("[a-w]{1,6}( ?= ?[a-z%\\\\\" ]{0,8})?(;[a-z=]{0,5})?", 0..20),
        at in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut members = others;
        members.insert(at.index(members.len() + 1), format!("xihan.idempotency-key={key}"));
        let (one, two) = members.split_at(cut.index(members.len() + 1));
        prop_assert_eq!(baggage(&[one.join(","), two.join(" , ")]), Some(key));
    }

    // ===== any bytes =====

    #[test]
    fn lenient_takes_all_that_strict_takes_and_reads_the_same_key(value in near_header()) {
        if let Ok(key) = HeaderSyntax::Strict.parse(&value) {
            prop_assert_eq!(HeaderSyntax::Lenient.parse(&value), Ok(key));
        }
    }

    #[test]
    fn x8_x11_any_header_lines_give_one_key_or_a_fault(lines in lines(near_header())) {
        let headers = headers(&HEADER, &lines);
        for syntax in [HeaderSyntax::Lenient, HeaderSyntax::Strict] {
            let sources = KeySources::default().with_syntax(syntax);
            match sources.find(&headers) {
                Ok(None) => prop_assert!(!headers.contains_key(&HEADER), "a header was ignored"),
                Ok(Some(found)) => {
                    prop_assert_eq!(headers.get_all(&HEADER).iter().count(), 1);
                    prop_assert!(!found.key().as_str().trim().is_empty());
                    if let Ok(key) = found.check(&KeyRule::http()) {
                        prop_assert_eq!(key.as_str(), found.key().as_str());
                    }
                }
                Err(fault) => prop_assert!(!fault.reason().is_empty()),
            }
        }
    }

    #[test]
    fn x11_baggage_that_names_us_gives_a_key_or_a_fault(lines in lines(near_baggage())) {
        let headers = headers(&HeaderName::from_static("baggage"), &lines);
        let found = KeySources::default().find(&headers);
        if let Ok(found) = found {
            let names = headers.get_all("baggage").iter().flat_map(|line| {
                line.as_bytes().split(|byte| *byte == b',').filter(|member| names_us(member))
            });
            prop_assert_eq!(names.count(), usize::from(found.is_some()));
        }
    }

    #[test]
    fn any_bytes_are_parsed_without_a_panic(value in vec(any::<u8>(), 0..600)) {
        for syntax in [HeaderSyntax::Lenient, HeaderSyntax::Strict] {
            if let Ok(key) = syntax.parse(&value) {
                prop_assert!(key.as_str().bytes().all(|byte| matches!(byte, b' '..=b'~')));
            }
        }
    }
}

/// Whether a member's name is ours, told by another way than the parser's: as text.
fn names_us(member: &[u8]) -> bool {
    let text = String::from_utf8_lossy(member);
    let name = text.split([';', '=']).next().unwrap_or_default();
    name.trim_matches([' ', '\t']) == "xihan.idempotency-key"
}
