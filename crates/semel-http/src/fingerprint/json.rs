//! Reading JSON so that what differs stays different.
//!
//! The usual parser keeps the last of two members of one name, and rounds numbers to 64 bits:
//! two requests that a handler would treat differently could come to look alike. Here a member
//! that comes twice is an error, and a number that would be rounded is kept as its text.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Before the text of a number that would be rounded. JSON writes this character as an escape
/// only, and what a client writes so gets a second one, so the two can't be confused.
const KEPT: &str = "\\u0000";
/// An f64 tells all decimals of this many digits apart.
const EXACT_DIGITS: usize = 15;
/// Beyond this power of ten an f64 overflows or loses digits.
const EXACT_POWER: i32 = 290;

/// None where it is no JSON, or has a member twice (RFC 8259, section 4), or is nested deeper
/// than 127 levels.
pub(super) fn parse(text: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(text).ok()?;
    serde_json::from_str::<Unique>(&exact(text)).ok().map(|unique| unique.0)
}

// ===== Numbers =====

/// The same JSON, with numbers that would be rounded as strings.
fn exact(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = if rest.starts_with('"') {
            if rest[1..].starts_with(KEPT) {
                out.push('"');
                out.push_str(KEPT);
                out.push_str(&rest[1..=KEPT.len()]);
                rest = &rest[1 + KEPT.len()..];
                string_end(rest)
            } else {
                1 + string_end(&rest[1..])
            }
        } else {
            let end = number_end(rest);
            if !is_exact(&rest[..end]) {
                out.push_str(&format!("\"{KEPT}{}\"", &rest[..end]));
                rest = &rest[end..];
                continue;
            }
            end
        };
        out.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Where a string ends whose inside begins here: behind its closing quote.
fn string_end(inside: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    inside.len()
}

fn number_end(text: &str) -> usize {
    let part_of =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    text.bytes().position(|byte| !part_of(byte)).unwrap_or(text.len())
}

/// Whether the parser keeps all of a number; also for what is no number, which is its to refuse.
fn is_exact(number: &str) -> bool {
    if number.parse::<u64>().is_ok() || number.parse::<i64>().is_ok() {
        return true;
    }
    if serde_json::from_str::<IgnoredAny>(number).is_err() {
        return true;
    }
    let (digits, power) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let digits =
        digits.bytes().filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0').count();
    let small = |power: i32| power.abs() <= EXACT_POWER;
    digits <= EXACT_DIGITS && power.parse().is_ok_and(small)
}

// ===== Members =====

/// A value in which no object has a member twice.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without a member that comes twice")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("no finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Unique(member))) = members.next_entry::<String, Unique>()? {
            if object.insert(name, member).is_some() {
                return Err(A::Error::custom("a member comes twice"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::parse;

    fn read(text: &str) -> Value {
        parse(text.as_bytes()).unwrap_or_else(|| panic!("{text} is JSON"))
    }

    #[test]
    fn what_fits_is_read_as_ever() {
        for text in [
            r#"{"a":[1,-2,0.5,1e3,true,false,null,"x\"y\\","é\u0041"],"b":{}}"#,
            "18446744073709551615",
            "-9223372036854775808",
            "0.123456789012345",
            r#""123456789012345678901234567890""#,
            " [ ] ",
        ] {
            assert_eq!(read(text), serde_json::from_str::<Value>(text).unwrap(), "{text}");
        }
    }

    #[test]
    fn numbers_that_would_be_rounded_stay_apart() {
        for (left, right) in [
            ("18446744073709551616", "18446744073709551617"),
            ("-9223372036854775809", "-9223372036854775810"),
            ("0.1234567890123456789", "0.1234567890123456788"),
            ("1e400", "1e401"),
            ("1e-400", "0.0"),
            ("1", "1.0"),
            (r#""\u000018446744073709551616""#, "18446744073709551616"),
            (r#""\u0000\u00001e400""#, r#""\u00001e400""#),
        ] {
            assert_ne!(read(left), read(right), "{left} is not {right}");
        }
    }

    #[test]
    fn what_is_no_json_stays_none() {
        for text in [
            "",
            "{",
            "[1,]",
            "01",
            "1.",
            "-",
            "1-2",
            "123456789012345678901-2",
            "+1",
            "NaN",
            "\"a",
            "\"\\u0000",
            "\"\\",
            "{\"a\":1,\"a\":1}",
            "{\"a\":{\"b\":1,\"b\":2}}",
            "{\"a\":1,\"\\u0061\":2}",
            "1 2",
        ] {
            assert!(parse(text.as_bytes()).is_none(), "{text}");
        }
        assert!(parse(b"\"\xff\"").is_none());
    }

    #[test]
    fn depth_is_bounded() {
        let deep = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(parse(deep(127).as_bytes()).is_some());
        assert!(parse(deep(128).as_bytes()).is_none());
        assert!(parse(deep(100_000).as_bytes()).is_none());
        assert!(parse("{\"a\":".repeat(100_000).as_bytes()).is_none());
    }
}
