//! Request bodies, read and judged inside the handler: what is refused here is
//! an answer of the handler like any other.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;

use super::data::{NewOrder, NewPayment};
use super::problem::{FieldError, Problem};

const NAME: &str = "a text of 1 to 200 characters that isn't blank";
const AMOUNT: &str = "a whole number from 1 to 1000000";
const ORDER: &str = "the id of an order, a whole number from 1";
const MAX_NAME: usize = 200;
const MAX_AMOUNT: i64 = 1_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderBody {
    name: Option<Value>,
    amount: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PaymentBody {
    order: Option<Value>,
    amount: Option<Value>,
}

/// Reads `{"name": …, "amount": …}`; all wrong fields are named at once.
pub(crate) fn order(body: &[u8]) -> Result<NewOrder, Problem> {
    let body: OrderBody = read(body)?;
    let mut wrong = Vec::new();
    let name = field("name", NAME, name(body.name), &mut wrong);
    let amount = field("amount", AMOUNT, number(body.amount, MAX_AMOUNT), &mut wrong);
    match (name, amount) {
        (Some(name), Some(amount)) => Ok(NewOrder { name, amount }),
        _ => Err(Problem::fields(wrong)),
    }
}

/// Reads `{"order": …, "amount": …}`; all wrong fields are named at once.
pub(crate) fn payment(body: &[u8]) -> Result<NewPayment, Problem> {
    let body: PaymentBody = read(body)?;
    let mut wrong = Vec::new();
    let order = field("order", ORDER, number(body.order, i64::MAX), &mut wrong);
    let amount = field("amount", AMOUNT, number(body.amount, MAX_AMOUNT), &mut wrong);
    match (order, amount) {
        (Some(order), Some(amount)) => Ok(NewPayment { order, amount }),
        _ => Err(Problem::fields(wrong)),
    }
}

/// A payment for an order that isn't there.
pub(crate) fn no_such_order() -> Problem {
    Problem::fields(vec![FieldError { field: "order", expected: "an order of your tenant" }])
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| match error.classify() {
        Category::Data => Problem::unprocessable(format!("The JSON object is wrong: {error}.")),
        _ => Problem::bad_request(format!("The body must be one JSON object: {error}.")),
    })
}

fn field<T>(
    field: &'static str,
    expected: &'static str,
    value: Option<T>,
    wrong: &mut Vec<FieldError>,
) -> Option<T> {
    if value.is_none() {
        wrong.push(FieldError { field, expected });
    }
    value
}

fn name(value: Option<Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.trim().is_empty() && text.chars().count() <= MAX_NAME => {
            Some(text)
        }
        _ => None,
    }
}

fn number(value: Option<Value>, max: i64) -> Option<i64> {
    value?.as_i64().filter(|number| (1..=max).contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::response::IntoResponse;
    use proptest::prelude::*;

    fn status(body: &str) -> u16 {
        order(body.as_bytes()).map_or_else(|p| p.into_response().status().as_u16(), |_| 201)
    }

    #[test]
    fn an_order_with_a_name_and_an_amount_is_taken() {
        let new = order(br#"{"name":"Keyboard","amount":2}"#).unwrap();
        assert_eq!(new, NewOrder { name: "Keyboard".to_owned(), amount: 2 });
        assert_eq!(status(r#"{"amount":1000000,"name":" x "}"#), 201);
        assert_eq!(status(&format!(r#"{{"name":"{}","amount":1}}"#, "é".repeat(200))), 201);
    }

    #[test]
    fn what_is_no_json_is_400() {
        for body in ["", "{", "nonsense", "{\"name\":\"\u{1}\",\"amount\":1}", "{} {}"] {
            assert_eq!(status(body), 400, "{body:?}");
        }
    }

    #[test]
    fn json_that_is_no_order_is_422() {
        for body in [
            "{}",
            "1",
            "null",
            r#"{"name":"","amount":1}"#,
            r#"{"name":" \t","amount":1}"#,
            r#"{"name":7,"amount":1}"#,
            r#"{"name":"a","amount":0}"#,
            r#"{"name":"a","amount":1000001}"#,
            r#"{"name":"a","amount":1.5}"#,
            r#"{"name":"a","amount":"1"}"#,
            r#"{"name":"a","amount":1,"price":1}"#,
            r#"{"name":"a","name":"b","amount":1}"#,
        ] {
            assert_eq!(status(body), 422, "{body}");
        }
        assert_eq!(status(&format!(r#"{{"name":"{}","amount":1}}"#, "a".repeat(201))), 422);
    }

    #[test]
    fn every_wrong_field_is_named() {
        let problem = serde_json::to_value(order(br#"{"amount":0}"#).unwrap_err()).unwrap();
        let fields: Vec<_> =
            problem["errors"].as_array().unwrap().iter().map(|e| &e["field"]).collect();
        assert_eq!(fields, ["name", "amount"]);
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(body in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = order(&body).map_err(IntoResponse::into_response);
            let _ = payment(&body).map_err(IntoResponse::into_response);
        }
    }
}
