//! The key header against tables of field values.
//!
//! Two tables: the project's own cases, which always run, and the structured-field vectors of the
//! HTTP working group, which run from the folder that `SEMEL_SF_VECTORS` names (string.json,
//! string-generated.json and item.json of <https://github.com/httpwg/structured-field-tests>).

use std::env;
use std::fs;
use std::path::Path;

use http::{HeaderMap, HeaderName, HeaderValue};
use semel::KeyRule;
use semel_http::{HeaderFault, HeaderSyntax, KeySources};
use serde::Deserialize;
use serde::de::DeserializeOwned;

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// The field lines as headers; none if a line can't be a field value (a newline, a NUL): a server
/// refuses such a request before anyone sees its headers.
fn headers(lines: &[String]) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(HEADER, HeaderValue::from_bytes(line.as_bytes()).ok()?);
    }
    Some(headers)
}

fn load<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

// ===== the project's own cases =====

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    raw: Vec<String>,
    lenient: Expected,
    strict: Expected,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Expected {
    Key(String),
    Fault(String),
}

/// The way of a whole request: find the key, check it by the rule for HTTP.
fn outcome(syntax: HeaderSyntax, lines: &[String]) -> Expected {
    let Some(headers) = headers(lines) else {
        return Expected::Fault("not-a-field-value".to_owned());
    };
    let sources = KeySources::new([HEADER], None).expect("one header").with_syntax(syntax);
    let key = sources
        .find(&headers)
        .and_then(|found| found.expect("the header is there").check(&KeyRule::http()));
    match key {
        Ok(key) => Expected::Key(key.as_str().to_owned()),
        Err(fault) => Expected::Fault(fault.reason().to_owned()),
    }
}

#[test]
fn every_own_case_has_its_key_or_its_fault() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/idempotency_key_header.json");
    let cases: Vec<Case> = load(&file).unwrap();
    let (mut keys, mut faults) = (0, 0);
    for case in &cases {
        for (syntax, expected) in
            [(HeaderSyntax::Lenient, &case.lenient), (HeaderSyntax::Strict, &case.strict)]
        {
            let got = outcome(syntax, &case.raw);
            assert_eq!(&got, expected, "{syntax}: {} {:?}", case.name, case.raw);
            match got {
                Expected::Key(_) => keys += 1,
                Expected::Fault(_) => faults += 1,
            }
        }
    }
    // Keeps the table from being emptied by accident.
    assert!(cases.len() >= 100, "{} cases", cases.len());
    assert!(keys >= 60 && faults >= 100, "{keys} keys, {faults} faults");
}

// ===== the official vectors =====

const VECTORS: &str = "SEMEL_SF_VECTORS";
const FILES: [&str; 3] = ["string.json", "string-generated.json", "item.json"];

#[derive(Deserialize)]
struct Vector {
    name: String,
    raw: Vec<String>,
    header_type: String,
    /// The bare item and its parameters.
    expected: Option<(serde_json::Value, serde_json::Value)>,
    #[serde(default)]
    must_fail: bool,
    #[serde(default)]
    can_fail: bool,
}

#[derive(Default, Debug, PartialEq)]
struct Tally {
    refused: usize,
    read: usize,
    not_a_string: usize,
}

impl Tally {
    fn total(&self) -> usize {
        self.refused + self.read + self.not_a_string
    }
}

fn load_vectors(folder: &Path) -> Result<Vec<Vector>, String> {
    let mut vectors = Vec::new();
    for file in FILES {
        let path = folder.join(file);
        vectors.extend(load(&path).map_err(|error| {
            format!("{VECTORS} must name a folder that holds {}: {error}", FILES.join(", "))
        })?);
    }
    Ok(vectors)
}

/// What strict syntax makes of the lines. None where no server would let them through.
fn strict(lines: &[String]) -> Option<Result<String, HeaderFault>> {
    let read = |syntax: HeaderSyntax| {
        let key = syntax.read(&headers(lines)?, &HEADER);
        Some(key.map(|key| key.expect("the header is there").as_str().to_owned()))
    };
    let got = read(HeaderSyntax::Strict)?;
    if got.is_ok() {
        assert_eq!(Some(&got), read(HeaderSyntax::Lenient).as_ref(), "lenient differs: {lines:?}");
    }
    Some(got)
}

/// Compares one vector. What is expected to be an item but no string is refused as such: it is a
/// structured field, and no key.
fn judge(vector: &Vector, tally: &mut Tally) {
    let Vector { name, raw, .. } = vector;
    assert_eq!(vector.header_type, "item", "{name}");
    let got = strict(raw);
    if vector.must_fail {
        assert!(!matches!(got, Some(Ok(_))), "{name}: {raw:?} must be refused, got {got:?}");
        tally.refused += 1;
        return;
    }
    let (item, _) = vector.expected.as_ref().expect("a vector has must_fail or expected");
    match (item.as_str(), got) {
        (Some(text), Some(Ok(got))) => {
            assert_eq!(got, text, "{name}: {raw:?}");
            tally.read += 1;
        }
        (Some(_), got) => {
            assert!(vector.can_fail, "{name}: {raw:?} must be read, got {got:?}");
            tally.refused += 1;
        }
        (None, got) => {
            let not_a_string = matches!(got, Some(Err(HeaderFault::NotAString(_))));
            assert!(not_a_string, "{name}: {raw:?} is no string, got {got:?}");
            tally.not_a_string += 1;
        }
    }
}

#[test]
fn every_official_vector_is_read_or_refused_as_it_must_be() {
    let Some(folder) = env::var_os(VECTORS) else {
        eprintln!("{VECTORS} names no folder: the official vectors were not read, own cases were");
        return;
    };
    let vectors = load_vectors(Path::new(&folder)).unwrap_or_else(|error| panic!("{error}"));
    let mut tally = Tally::default();
    for vector in &vectors {
        judge(vector, &mut tally);
    }
    println!("{} official vectors: {tally:?}", tally.total());
    // 172 must fail; one may (a string over two lines) and does: two headers are never one key.
    assert_eq!(tally, Tally { refused: 173, read: 100, not_a_string: 2 });
    assert_eq!(tally.total(), 275);
}

#[test]
fn a_folder_without_vectors_is_an_error_that_says_so() {
    let empty = tempfile::tempdir().unwrap();
    let Err(error) = load_vectors(empty.path()) else { panic!("an empty folder has no vectors") };
    let expected = "SEMEL_SF_VECTORS must name a folder that holds string.json, \
                    string-generated.json, item.json: ";
    assert!(error.starts_with(expected), "{error}");
    assert!(error.contains(&empty.path().join("string.json").display().to_string()), "{error}");
}
