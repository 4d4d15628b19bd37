//! What is said where it can't be expanded. That it runs, the tests of crate `semel` show.

use super::expanded;

const OPTIONS: &str = "with = once, key = key, operation = \"o\"";
const FUNCTION: &str = "async fn f(once: &Once, key: &str) -> Result<u8, E> { Ok(1) }";

fn said(options: &str, function: &str) -> String {
    let [options, function] = [options, function].map(|text| text.parse().expect("tokens"));
    expanded(options, function).expect_err("it must be refused").to_string()
}

#[test]
fn what_is_given_well_is_expanded_and_keeps_its_signature_and_attributes() {
    let function = format!("/// Docs.\n#[inline] pub(crate) {FUNCTION}");
    let all = format!(
        "{OPTIONS}, scope = scope(), policy = self.policy.clone(), input(a, b.c), permit = p, \
         failures = |e: &E| judge(e),"
    );
    for options in [OPTIONS, &all] {
        let [options, function] = [options, &function].map(|text| text.parse().expect("tokens"));
        let text = expanded(options, function).expect("it is right").to_string();
        let head =
            "# [inline] pub (crate) async fn f (once : & Once , key : & str) -> Result < u8 , E >";
        assert!(text.contains(head), "{text}");
    }
}

#[test]
fn an_option_that_is_missing_is_named_with_what_it_is() {
    for (options, missing) in [
        ("", "needs `with = ENGINE`"),
        ("with = once, operation = \"o\"", "needs `key = TEXT`"),
        ("with = once, key = key", "needs `operation = \"NAME\"`"),
    ] {
        let said = said(options, FUNCTION);
        assert!(said.contains(missing), "{said}");
    }
}

#[test]
fn an_option_that_there_is_not_or_is_there_twice_is_told() {
    for (more, expected) in [
        (", ttl = 5", "no such option: it takes `with`, `key`"),
        (", a::b = 5", "no such option"),
        (", key = key", "this option is here twice"),
        (", input()", "leave `input` out"),
        (", permit = 5", "expected identifier"),
        (", scope", "expected `=`"),
    ] {
        let said = said(&format!("{OPTIONS}{more}"), FUNCTION);
        assert!(said.contains(expected), "{more}: {said}");
    }
}

#[test]
fn a_name_that_is_none_is_refused_where_it_stands() {
    let long = "o".repeat(1025);
    for (name, expected) in [("", "1 to 1024"), ("-", "without an operation"), (&long, "1 to 1024")]
    {
        let said = said(&format!("with = once, key = key, operation = \"{name}\""), FUNCTION);
        assert!(said.contains(expected), "{said}");
    }
    assert!(said("with = a, key = b, operation = NAME", FUNCTION).contains("expected string"));
}

#[test]
fn what_is_no_async_function_with_a_result_is_told() {
    for (function, expected) in [
        ("fn f() -> Result<u8, E> { Ok(1) }", "goes on an `async fn`"),
        ("async fn f() { }", "returns a `Result`"),
        ("struct F;", "expected"),
        ("async fn f() -> Result<u8, E>;", "expected"),
    ] {
        let said = said(OPTIONS, function);
        assert!(said.contains(expected), "{function}: {said}");
    }
}
