//! Tables for baggage and for sources together. Header syntax has its cases in
//! `tests/data/idempotency_key_header.json`, run by `tests/sf_vectors.rs`.

use http::header::InvalidHeaderName;
use http::{HeaderMap, HeaderName, HeaderValue};
use semel::{KeyRejected, KeyRule};

use super::*;

fn headers(lines: &[(&'static str, &[u8])]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(*name, HeaderValue::from_bytes(value).unwrap());
    }
    headers
}

fn baggage_lines(lines: &[&[u8]]) -> Result<Option<String>, BaggageFault> {
    let lines: Vec<_> = lines.iter().map(|line| ("baggage", *line)).collect();
    let key = BaggageKey::new("k").unwrap().read(&headers(&lines))?;
    Ok(key.map(|key| key.as_str().to_owned()))
}

fn baggage(line: &str) -> Result<Option<String>, BaggageFault> {
    baggage_lines(&[line.as_bytes()])
}

fn found(lines: &[(&'static str, &[u8])]) -> Result<Option<String>, KeyFault> {
    let found = KeySources::default().find(&headers(lines))?;
    Ok(found.map(|found| found.key().as_str().to_owned()))
}

const KEY: &str = "idempotency-key";

// ===== baggage =====

#[test]
fn a_baggage_value_is_read_without_its_white_space_and_properties() {
    for line in [
        "k=v",
        " k \t=\t v ",
        "a=1,k=v,b=2",
        "a=1 , k=v;p=1;q , b=2",
        ",,k=v,,",
        "k=v;",
        "k=v;k=other",
        "k=v;\"broken property",
        "k=%76",
        "a=1;k=no,k=v",
    ] {
        assert_eq!(baggage(line), Ok(Some("v".to_owned())), "{line}");
    }
}

#[test]
fn a_baggage_value_is_percent_decoded_once() {
    for (line, value) in [
        ("k=order%201", "order 1"),
        ("k=%e9%8d%B5", "鍵"),
        ("k=%2541", "%41"),
        ("k=a+b", "a+b"),
        ("k=a=b==", "a=b=="),
        ("k=a%2Cb%3Bc", "a,b;c"),
        ("k=:/?#[]@!$&'()*<>^_`{|}~", ":/?#[]@!$&'()*<>^_`{|}~"),
    ] {
        assert_eq!(baggage(line), Ok(Some(value.to_owned())), "{line}");
    }
}

#[test]
fn baggage_without_our_member_carries_no_key() {
    assert_eq!(baggage_lines(&[]), Ok(None));
    for line in
        ["", " ", ",", "a=1", "K=v", "kk=v", "xk=v", "a=k=v", "a;k=v", "%6B=v", "=k", "k.=v"]
    {
        assert_eq!(baggage(line), Ok(None), "{line}");
    }
}

#[test]
fn several_baggage_headers_count_as_one() {
    assert_eq!(baggage_lines(&[b"a=1", b"k=v", b"b=2"]), Ok(Some("v".to_owned())));
    assert_eq!(baggage_lines(&[b"k=v", b"k=v"]), Err(BaggageFault::Twice));
}

#[test]
fn f_15_a_member_of_ours_that_cannot_be_read_is_an_error() {
    for (line, fault) in [
        ("k", BaggageFault::Malformed),
        ("k;p=1", BaggageFault::Malformed),
        ("k=a b", BaggageFault::Malformed),
        ("k=\"v\"", BaggageFault::Malformed),
        ("k=a\\b", BaggageFault::Malformed),
        ("k=a\tb", BaggageFault::Malformed),
        ("k=schlüssel", BaggageFault::Malformed),
        ("k=", BaggageFault::Empty),
        ("k= ;p", BaggageFault::Empty),
        ("k=%", BaggageFault::BadPercent),
        ("k=%4", BaggageFault::BadPercent),
        ("k=%4g", BaggageFault::BadPercent),
        ("k=%+1", BaggageFault::BadPercent),
        ("k=%%41", BaggageFault::BadPercent),
        ("k=%u0041", BaggageFault::BadPercent),
        ("k=%ff", BaggageFault::NotUtf8),
        ("k=%c3", BaggageFault::NotUtf8),
        ("k=%c0%80", BaggageFault::NotUtf8),
        ("k=%ed%a0%80", BaggageFault::NotUtf8),
        ("k=v,k=v", BaggageFault::Twice),
        ("k=v,k=w", BaggageFault::Twice),
        ("k=v,k", BaggageFault::Malformed),
    ] {
        assert_eq!(baggage(line), Err(fault), "{line}");
        assert_eq!(baggage(&format!("a=1,{line}")), Err(fault), "behind another: {line}");
    }
}

#[test]
fn f_15_members_of_others_that_are_malformed_do_not_hide_ours() {
    for line in [
        "a,k=v",
        "a=%zz,k=v",
        "a=%ff,k=v",
        "a=\"x,k=v",
        "a b=1,k=v",
        "=,k=v",
        "ä=ü,k=v",
        "a=1,a=2,k=v",
        ";;;,k=v",
    ] {
        assert_eq!(baggage(line), Ok(Some("v".to_owned())), "{line}");
    }
    assert_eq!(baggage_lines(&[b"a=\xff\xfe,k=v"]), Ok(Some("v".to_owned())));
}

#[test]
fn f_15_sixty_four_members_are_read_and_one_more_is_an_error() {
    let others = |n: usize| vec!["a=1"; n].join(",");
    assert_eq!(baggage(&format!("{},k=v", others(63))), Ok(Some("v".to_owned())));
    assert_eq!(baggage(&others(64)), Ok(None));
    // The key stands within the limit, and the header is refused as a whole all the same: what a
    // proxy that counts otherwise would forward must not depend on the order.
    assert_eq!(baggage(&format!("k=v,{}", others(64))), Err(BaggageFault::TooManyMembers));
    assert_eq!(baggage(&others(65)), Err(BaggageFault::TooManyMembers));
    let lines = vec![others(33); 2];
    let lines: Vec<_> = lines.iter().map(String::as_bytes).collect();
    assert_eq!(baggage_lines(&lines), Err(BaggageFault::TooManyMembers));
}

#[test]
fn f_15_the_limit_of_8192_bytes_counts_all_lines() {
    let line = |bytes: usize| format!("a={}", "x".repeat(bytes - 2)).into_bytes();
    assert_eq!(baggage_lines(&[&line(8188), b"k=vw"]), Ok(Some("vw".to_owned())));
    let too_large = Err(BaggageFault::TooLarge { bytes: 8193 });
    assert_eq!(baggage_lines(&[&line(8189), b"k=vw"]), too_large);
    assert_eq!(baggage_lines(&[&line(8193)]), too_large);
    assert_eq!(baggage_lines(&[&[b','; 8192]]), Ok(None));
    let many = [[b' '; 1024].as_slice(); 9];
    assert_eq!(baggage_lines(&many), Err(BaggageFault::TooLarge { bytes: 9216 }));
}

#[test]
fn a_baggage_key_is_a_token() {
    assert_eq!(BaggageKey::default().as_str(), "xihan.idempotency-key");
    assert_eq!("a!#$%&'*+-.^_`|~9".parse::<BaggageKey>().unwrap().as_str().len(), 17);
    assert_eq!(BaggageKey::new(""), Err(BaggageKeyError::Empty));
    for (name, at) in [("a b", 1), ("a=b", 1), ("ä", 0), ("a,", 1), ("(a)", 0), ("a;b", 1)] {
        assert_eq!(BaggageKey::new(name), Err(BaggageKeyError::NotAToken { at }), "{name}");
    }
}

// ===== sources =====

#[test]
fn f_13_a_request_without_a_key_carries_none() {
    assert_eq!(found(&[]), Ok(None));
    assert_eq!(found(&[("x-idempotency-key", b"k"), ("baggage", b"a=1")]), Ok(None));
}

#[test]
fn c8_a_bare_and_a_quoted_key_are_one_key_in_any_place() {
    let key = Ok(Some("k-1".to_owned()));
    let member = b"xihan.idempotency-key=k-1";
    assert_eq!(found(&[(KEY, b"k-1")]), key);
    assert_eq!(found(&[(KEY, b"\"k-1\"")]), key);
    assert_eq!(found(&[("baggage", member)]), key);
    assert_eq!(found(&[(KEY, b"k-1"), ("baggage", member)]), key);
    assert_eq!(found(&[(KEY, b"\"k-1\";v=1"), ("baggage", member)]), key);
}

#[test]
fn c8_a_header_sent_twice_is_refused_even_with_equal_values() {
    for lines in [[b"\"k\"" as &[u8], b"\"k\""], [b"k", b"\"k\""], [b"a", b"b"], [b"", b"k"]] {
        let fault = found(&lines.map(|line| (KEY, line))).unwrap_err();
        assert_eq!(fault.reason(), "several-headers", "{lines:?}");
    }
}

#[test]
fn f_13_places_that_disagree_are_refused_and_both_named() {
    let fault = found(&[(KEY, b"k"), ("baggage", b"xihan.idempotency-key=other")]).unwrap_err();
    assert_eq!(fault.reason(), "sources-disagree");
    assert_eq!(fault.place().to_string(), "baggage member xihan.idempotency-key");
    assert!(fault.to_string().starts_with("Idempotency-Key and baggage member xihan."), "{fault}");
    // Equality is exact: letter case is part of the key.
    let fault = found(&[(KEY, b"k"), ("baggage", b"xihan.idempotency-key=K")]).unwrap_err();
    assert_eq!(fault.reason(), "sources-disagree");
}

#[test]
fn x8_x11_a_place_that_cannot_be_read_is_an_error_even_beside_a_good_one() {
    let member: (&str, &[u8]) = ("baggage", b"xihan.idempotency-key=k");
    for (lines, reason) in [
        (vec![(KEY, b"" as &[u8])], "empty"),
        (vec![(KEY, b"  ")], "empty"),
        (vec![(KEY, b"\"\"")], "empty"),
        (vec![(KEY, b"\"  \"")], "blank"),
        (vec![(KEY, b"caf\xe9")], "not-visible-ascii"),
        (vec![(KEY, b"\"caf\xc3\xa9\"")], "not-visible-ascii"),
        (vec![(KEY, b"\"k"), member], "malformed"),
        (vec![(KEY, b""), member], "empty"),
        (vec![(KEY, b"k"), ("baggage", b"xihan.idempotency-key=%f")], "baggage-bad-percent"),
        (vec![(KEY, b"k"), ("baggage", b"xihan.idempotency-key=%ff")], "baggage-not-utf8"),
        (vec![(KEY, b"k"), ("baggage", b"xihan.idempotency-key=")], "empty"),
        (vec![(KEY, b"k"), ("baggage", b"xihan.idempotency-key=%20")], "blank"),
        (vec![(KEY, b"k"), ("baggage", b"xihan.idempotency-key")], "baggage-malformed"),
        (vec![(KEY, b"k"), member, member], "baggage-member-twice"),
        (vec![(KEY, b"k"), ("baggage", &[b','; 8193])], "baggage-too-large"),
    ] {
        let fault = found(&lines).expect_err("a key that can't be read is not a missing key");
        assert_eq!(fault.reason(), reason, "{lines:?}");
    }
}

#[test]
fn headers_are_read_in_their_order_and_must_agree() {
    let names = ["x-request-key", KEY].map(HeaderName::from_static);
    let sources = KeySources::new(names, None).unwrap();
    let both =
        sources.find(&headers(&[(KEY, b"k"), ("x-request-key", b"\"k\"")])).unwrap().unwrap();
    assert_eq!(both.source().to_string(), "X-Request-Key");
    let second = sources.find(&headers(&[(KEY, b"k")])).unwrap().unwrap();
    assert_eq!(second.source().to_string(), "Idempotency-Key");
    let fault = sources.find(&headers(&[(KEY, b"k"), ("x-request-key", b"j")])).unwrap_err();
    assert_eq!(fault.reason(), "sources-disagree");
    // Baggage is not read, so nothing in it matters.
    let unread = headers(&[(KEY, b"k"), ("baggage", b"xihan.idempotency-key=%")]);
    assert!(sources.find(&unread).unwrap().is_some());
}

#[test]
fn baggage_alone_is_a_source() {
    let sources = KeySources::new([], Some(BaggageKey::default())).unwrap();
    let lines = headers(&[("baggage", b"xihan.idempotency-key=order-20261031-0001"), (KEY, b"x")]);
    let found = sources.find(&lines).unwrap().unwrap();
    assert_eq!(found.key().as_str(), "order-20261031-0001");
    assert_eq!(sources.places(), [KeySource::Baggage(BaggageKey::default())]);
}

#[test]
fn places_that_make_no_sense_together_are_refused() -> Result<(), InvalidHeaderName> {
    let name = HeaderName::from_bytes(b"Idempotency-Key")?;
    assert_eq!(KeySources::new([], None), Err(KeySourcesError::None));
    let place = KeySource::Header(name.clone());
    let twice = KeySources::new([name.clone(), name], None).unwrap_err();
    assert_eq!(twice, KeySourcesError::Repeated { place });
    assert_eq!(twice.to_string(), "Idempotency-Key is named twice; each header is read once");
    let baggage = HeaderName::from_static("baggage");
    assert_eq!(KeySources::new([baggage], None), Err(KeySourcesError::BaggageAsHeader));
    Ok(())
}

#[test]
fn s_12_what_is_longer_than_a_key_is_refused_before_it_is_parsed() {
    let quoted = |text: String| format!("\"{text}\"").into_bytes();
    let read = |value: Vec<u8>| {
        let found = KeySources::default().find(&headers(&[(KEY, &value)]))?.unwrap();
        found.check(&KeyRule::http())
    };
    assert!(read("k".repeat(255).into_bytes()).is_ok());
    assert!(read(quoted("k".repeat(255))).is_ok());
    for value in [
        "k".repeat(256).into_bytes(),
        quoted("k".repeat(256)),
        vec![b'k'; 8 * 1024],
        vec![b'k'; 1024 * 1024],
        quoted("\\\"".repeat(255)),
    ] {
        assert_eq!(read(value).unwrap_err().reason(), "too-long");
    }
    let fault = HeaderSyntax::Lenient.parse(&[b'"'; 511]).unwrap_err();
    assert_eq!(fault, HeaderFault::TooLong { bytes: 511 });
}

#[test]
fn i4_reasons_are_stable_words() {
    let header = [
        HeaderFault::Several { count: 2 },
        HeaderFault::TooLong { bytes: 511 },
        HeaderFault::Empty,
        HeaderFault::NotVisibleAscii { at: 0 },
        HeaderFault::List,
        HeaderFault::NotAString(ItemKind::Token),
        HeaderFault::Malformed,
        HeaderFault::NeedsQuotes { at: 0 },
    ]
    .map(|fault| fault.reason());
    assert_eq!(
        header.join(" "),
        "several-headers too-long empty not-visible-ascii list not-a-string malformed needs-quotes"
    );
    let baggage = [
        BaggageFault::TooLarge { bytes: 8193 },
        BaggageFault::TooManyMembers,
        BaggageFault::Twice,
        BaggageFault::Malformed,
        BaggageFault::BadPercent,
        BaggageFault::NotUtf8,
        BaggageFault::Empty,
    ]
    .map(|fault| fault.reason());
    assert_eq!(
        baggage.join(" "),
        "baggage-too-large baggage-too-many-members baggage-member-twice baggage-malformed \
         baggage-bad-percent baggage-not-utf8 empty"
    );
}

#[test]
fn a_fault_names_its_place_and_what_is_expected_and_never_the_key() {
    let lines = headers(&[(KEY, b"secret")]);
    let strict = KeySources::default().with_syntax(HeaderSyntax::Strict);
    assert_eq!(
        strict.find(&lines).unwrap_err().to_string(),
        "Idempotency-Key: the value is a token without quotes; a quoted string is expected, \
         as in \"order-1\""
    );
    let found = KeySources::default().find(&lines).unwrap().unwrap();
    assert!(!format!("{found:?}").contains("secret"));
    let rule = KeyRule::http().with_format("uuid".parse().unwrap());
    let fault = found.check(&rule).unwrap_err();
    assert_eq!(fault.reason(), "not-a-uuid");
    assert!(fault.to_string().starts_with("Idempotency-Key: the key is not a UUID"), "{fault}");
    let rejected = KeyRejected::NotAUuid;
    assert_eq!(fault, KeyFault::Rejected { place: found.source().clone(), rejected });
}

#[test]
fn a_syntax_is_read_back_from_its_name() {
    for syntax in [HeaderSyntax::Lenient, HeaderSyntax::Strict] {
        assert_eq!(syntax.to_string().parse(), Ok(syntax));
    }
    assert_eq!(
        "Strict".parse::<HeaderSyntax>().unwrap_err().to_string(),
        "unknown header syntax \"Strict\"; it takes lenient or strict"
    );
}
