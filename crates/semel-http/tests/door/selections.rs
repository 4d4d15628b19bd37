//! Selected fields of a JSON body tell a repeat from another request.

use proptest::prelude::*;
use semel::Code;
use semel_http::{Fingerprint, SelectError};
use serde_json::{Value, json};

use crate::fingerprint::{differs, parts, run, to, with};
use crate::support::{Door, once, order};

fn select(paths: &[&'static str]) -> Fingerprint {
    Fingerprint::select(paths.iter().copied()).unwrap()
}

#[tokio::test]
async fn selected_fields_count_and_all_others_do_not() {
    let paths = ["$.amount", "$.lines[*].sku"];
    let first = r#"{"amount":3,"lines":[{"sku":"a"},{"sku":"b"}],"sent":1}"#;
    for (second, expected) in [
        (r#"{ "sent":2, "lines":[{"n":1,"sku":"a"},{"sku":"b"}], "amount":3 }"#, None),
        (r#"{"amount":4,"lines":[{"sku":"a"},{"sku":"b"}]}"#, parts(&["$.amount"])),
        (r#"{"amount":"3","lines":[{"sku":"a"},{"sku":"b"}]}"#, parts(&["$.amount"])),
        (r#"{"amount":3,"lines":[{"sku":"b"},{"sku":"a"}]}"#, parts(&["$.lines[*].sku"])),
        (r#"{"amount":3,"lines":[{"sku":"ab"}]}"#, parts(&["$.lines[*].sku"])),
        (r#"{"amount":4,"lines":[{"sku":"c"}]}"#, parts(&paths)),
    ] {
        let door = with(select(&paths));
        assert_eq!(
            differs(&door, order("k", first), order("k", second)).await,
            expected,
            "{second}"
        );
    }
}

/// Whom an order is for may stand in the path: the same fields there are another request.
#[tokio::test]
async fn the_path_and_the_query_count_with_selected_fields() {
    let door = Door::counting(once(), |layer| {
        layer.operation("charge").fingerprint(select(&["$.amount"]))
    });
    let charge = |uri: &str| to(uri, None, r#"{"amount":3}"#);
    let of_another = differs(&door, charge("/accounts/1"), charge("/accounts/2")).await;
    assert_eq!(of_another, parts(&["path"]));
    let door = with(select(&["$.amount"]));
    let expected = parts(&["query"]);
    assert_eq!(differs(&door, charge("/a?to=1"), charge("/a?to=2")).await, expected);
}

/// P6: a selection that finds nothing is an error, not equal to every other that finds nothing.
#[tokio::test]
async fn p6_a_selection_that_finds_nothing_is_refused() {
    for (paths, body) in [
        (&["$.amount"][..], "{}"),
        (&["$.amount"], r#"{"amount":null}"#),
        (&["$.amount"], "null"),
        (&["$.amount"], "[]"),
        (&["$.amount"], "3"),
        (&["$.amount"], r#""amount""#),
        (&["$.lines[*].sku"], r#"{"lines":[]}"#),
        (&["$.lines[*].sku"], r#"{"lines":[{"sku":null},{"sku":null}]}"#),
        (&["$"], "null"),
        // Each of them must find something.
        (&["$.amount", "$.currency"], r#"{"amount":3}"#),
    ] {
        let door = with(select(paths));
        let answer = door.send(order("k", body)).await;
        answer.assert_is(Code::KeyInvalid);
        assert_eq!(answer.json()["params"]["reason"], "selection-empty", "{body}");
        assert_eq!(door.runs.count(), 0);
    }
}

/// What is there, be it false, zero or empty, is not "nothing".
#[tokio::test]
async fn p6_false_zero_and_empty_are_values_and_differ_from_each_other() {
    let values = ["false", "0", r#""""#, "[]", "{}", "[null]", r#""null""#, "0.0", "-1", "true"];
    for (n, first) in values.iter().enumerate() {
        for (m, second) in values.iter().enumerate() {
            let door = with(select(&["$.a"]));
            let body = |value: &str| order("k", format!("{{\"a\":{value}}}"));
            let told = differs(&door, body(first), body(second)).await;
            assert_eq!(told.is_none(), n == m, "{first} and {second}");
        }
    }
}

/// Numbers that a parser would round to the same, and names that come twice, are how two
/// different payments could look alike.
#[tokio::test]
async fn big_numbers_are_told_apart() {
    for (first, second) in [
        ("10000000000000000000001", "10000000000000000000002"),
        ("0.10000000000000000001", "0.10000000000000000002"),
        ("1e1000", "1e1001"),
        ("1", "1.0"),
        ("9007199254740993", "9007199254740992"),
    ] {
        let door = with(select(&["$.amount"]));
        let body = |amount: &str| order("k", format!("{{\"amount\":{amount}}}"));
        assert_eq!(differs(&door, body(first), body(second)).await, parts(&["$.amount"]));
    }
}

#[tokio::test]
async fn what_is_no_plain_json_is_refused_where_fields_are_selected() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    for body in [
        "",
        "amount=3",
        r#"{"amount":3"#,
        r#"{"amount":3,"amount":4}"#,
        r#"{"amount":3,"lines":[{"a":1,"a":1}]}"#,
        "\u{feff}{\"amount\":3}",
        r#"{"amount":03}"#,
        &deep,
    ] {
        let door = with(select(&["$.amount"]));
        let answer = door.send(order("k", body.to_owned())).await;
        answer.assert_is(Code::KeyInvalid);
        assert_eq!(answer.json()["params"]["reason"], "selection-not-json");
        assert_eq!(door.runs.count(), 0);
    }
    let door = with(select(&["$.amount"]));
    door.send(order("k", &b"{\"amount\":\"\xff\"}"[..])).await.assert_is(Code::KeyInvalid);
}

#[test]
fn selections_that_can_t_be_meant_are_refused_when_they_are_made() {
    assert!(matches!(Fingerprint::select([]), Err(SelectError::Empty)));
    for path in ["", "amount", "$.", "$[", "$.a b"] {
        let error = Fingerprint::select(["$.a", path]).unwrap_err();
        assert!(error.to_string().contains(path), "{error}");
        assert!(matches!(error, SelectError::NoJsonPath { .. }));
    }
}

/// Any JSON but for null, which is nothing.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
    .prop_filter("null is nothing", |value| !value.is_null())
}

/// The same JSON in another spelling: members in reverse, white space wherever it may stand.
fn respelled(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .rev()
                .map(|(name, member)| format!("\t{} : {}\n", json!(name), respelled(member)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(respelled).collect();
            format!("[ {} ]", items.join(" , "))
        }
        scalar => scalar.to_string(),
    }
}

proptest! {
    /// Whatever is selected: its spelling makes no difference, and what it says does.
    #[test]
    fn the_spelling_of_json_makes_no_difference_and_its_meaning_does(
        first in any_json(), second in any_json(),
    ) {
        let body = |value: &Value| order("k", json!({ "z": 1, "a": value }).to_string());
        let door = run(async { with(select(&["$.a"])) });
        let again = order("k", format!("{{\"a\":{}, \"y\":[2] }}", respelled(&first)));
        prop_assert_eq!(run(differs(&door, body(&first), again)), None);
        let door = run(async { with(select(&["$.a"])) });
        let told = run(differs(&door, body(&first), body(&second)));
        prop_assert_eq!(told.is_none(), first == second);
    }

    /// No body makes the selection panic, and what is refused never ran.
    #[test]
    fn no_text_breaks_a_selection(body in "[-{}\\[\\]\",:0-9eE.+a\\\\u \n]{0,60}") {
        let door = run(async { with(select(&["$.a", "$..a", "$[?@.a > 1]"])) });
        let answer = run(door.send(order("k", body)));
        prop_assert_eq!(door.runs.count(), u32::from(answer.status.is_success()));
    }
}
