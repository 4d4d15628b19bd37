//! What a document says under which settings.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::Method;
use semel::timer::SystemClock;
use semel::{DetectExpired, MemoryStore, MissingKey, OnException, Once, Policy, Preset, StoreDown};
use serde_json::{Value, json};
use utoipa::openapi::path::{OperationBuilder, ParameterBuilder, PathItem, PathsBuilder};
use utoipa::openapi::{HttpMethod, InfoBuilder, OpenApi, OpenApiBuilder, Response};

use super::*;
use crate::{Failures, Fingerprint, HttpSettings, HttpSettingsBuilder, IdempotencyLayer, Methods};

fn layer() -> IdempotencyLayer {
    IdempotencyLayer::new(Once::new(Arc::new(MemoryStore::new(SystemClock::new()))))
}

fn with(change: impl FnOnce(HttpSettingsBuilder) -> HttpSettingsBuilder) -> IdempotencyLayer {
    layer().settings(change(HttpSettings::builder()).build().unwrap())
}

/// A document with one operation, which answers with these statuses.
fn document(statuses: &[&str]) -> OpenApi {
    let mut operation = OperationBuilder::new();
    for status in statuses {
        operation = operation.response(*status, Response::new("The handler's own."));
    }
    let item = PathItem::new(HttpMethod::Post, operation);
    OpenApiBuilder::new()
        .info(InfoBuilder::new().title("Shop").version("1"))
        .paths(PathsBuilder::new().path("/orders", item))
        .build()
}

fn described(layer: &IdempotencyLayer, statuses: &[&str]) -> Value {
    let mut document = document(statuses);
    layer.describe(&mut document, "/orders", &Method::POST).unwrap();
    serde_json::to_value(document).unwrap()["paths"]["/orders"]["post"].clone()
}

fn statuses(operation: &Value) -> BTreeSet<&str> {
    operation["responses"].as_object().unwrap().keys().map(String::as_str).collect()
}

fn set<'a>(items: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
    items.into_iter().collect()
}

/// The message keys of the problems that are described.
fn problems(operation: &Value) -> BTreeSet<&str> {
    let responses = operation["responses"].as_object().unwrap().values();
    let examples = responses.filter_map(|response| {
        response["content"]["application/problem+json"]["examples"].as_object()
    });
    examples.flat_map(|examples| examples.keys().map(String::as_str)).collect()
}

fn headers<'a>(operation: &'a Value, status: &str) -> BTreeSet<&'a str> {
    let headers = operation["responses"][status]["headers"].as_object();
    headers.into_iter().flat_map(|headers| headers.keys().map(String::as_str)).collect()
}

#[test]
fn by_default_a_key_is_required_and_every_refusal_is_described() {
    let operation = described(&layer(), &["201"]);
    assert_eq!(statuses(&operation), set(["201", "400", "409", "413", "422", "503"]));
    assert_eq!(
        problems(&operation),
        set([
            "caching.idempotency.body_too_large",
            "caching.idempotency.in_progress",
            "caching.idempotency.key_missing",
            "caching.idempotency.key_reused",
            "caching.idempotency.payload_mismatch",
            "caching.idempotency.response_unavailable",
            "caching.key.invalid",
            "caching.store.full",
            "caching.store.unavailable",
        ])
    );
    let [parameter] = &operation["parameters"].as_array().unwrap()[..] else { panic!() };
    assert_eq!(
        (&parameter["name"], &parameter["in"]),
        (&json!("Idempotency-Key"), &json!("header"))
    );
    assert_eq!(parameter["required"], true);
    assert!(parameter["schema"]["pattern"].is_string());
    assert!(parameter["description"].as_str().unwrap().contains("xihan.idempotency-key"));
}

#[test]
fn the_marks_stand_on_answers_that_are_recorded_and_on_no_others() {
    let operation = described(&layer(), &["201", "404", "429", "500", "5XX", "default"]);
    let marks = set(["Idempotent-Replayed", "Idempotency-Durable"]);
    for recorded in ["201", "404", "default"] {
        assert_eq!(headers(&operation, recorded), marks, "{recorded}");
    }
    for transient in ["429", "500", "5XX"] {
        assert_eq!(headers(&operation, transient), set([]), "{transient}");
    }
    let all = described(&layer().failures(Failures::All), &["500"]);
    assert!(headers(&all, "500").contains("Idempotent-Replayed"));
    let unmarked = described(&with(|settings| settings.replay_marker(None)), &["201"]);
    assert_eq!(headers(&unmarked, "201"), set(["Idempotency-Durable"]));
}

#[test]
fn refusals_have_the_headers_of_refusals() {
    let operation = described(&layer(), &["201"]);
    let always = set(["Idempotency-Error", "Content-Language"]);
    for status in ["400", "413", "422", "503"] {
        assert_eq!(headers(&operation, status), always, "{status}");
    }
    let conflict = headers(&operation, "409");
    assert_eq!(conflict, &always | &set(["Retry-After"]));
    let error = &operation["responses"]["409"]["headers"]["Idempotency-Error"]["schema"];
    assert_eq!(error["enum"], json!(["CACHING_CONFLICT_002", "CACHING_CONFLICT_003"]));
}

#[test]
fn what_the_settings_rule_out_is_not_described() {
    let operation = described(&layer().fingerprint(Fingerprint::Off), &["201"]);
    assert!(!statuses(&operation).contains("422"));

    let operation = described(&layer().missing_key(MissingKey::Optional), &["201"]);
    assert!(!problems(&operation).contains("caching.idempotency.key_missing"));
    assert_eq!(operation["parameters"][0]["required"], false);
}

#[test]
fn what_the_settings_bring_in_is_described() {
    let policy = Policy::builder()
        .detect_expired(DetectExpired::On)
        .in_doubt(semel::InDoubtPolicy::Reject)
        .on_exception(OnException::Record)
        .store_down(StoreDown::Open);
    let operation = described(&layer().policy(Arc::new(policy.build().unwrap())), &["201"]);
    let problems = problems(&operation);
    assert!(problems.contains("caching.idempotency.key_expired"));
    assert!(problems.contains("caching.idempotency.in_doubt"));
    assert!(statuses(&operation).contains("500"));
    assert!(headers(&operation, "201").contains("Idempotency-Unprotected"));
}

#[test]
fn presets_are_described_with_their_own_statuses_and_places() {
    let stripe = described(&layer().preset(Preset::Stripe), &["201"]);
    assert_eq!(statuses(&stripe), set(["201", "400", "409", "413", "500", "503"]));
    let ietf = described(&layer().preset(Preset::Ietf), &["201"]);
    let key_reused = &ietf["responses"]["422"]["content"]["application/problem+json"]["examples"]["caching.idempotency.key_reused"]
        ["value"];
    assert_eq!(key_reused["status"], 422);
    let xihan = described(&layer().preset(Preset::Xihan), &["201"]);
    assert_eq!(xihan["parameters"][0]["name"], "baggage");
}

/// Under the same name: that is what another door's key is told.
#[test]
fn where_operations_have_keys_of_their_own_a_key_may_be_another_doors() {
    let rest = described(&layer().preset(Preset::Rest), &["201"]);
    let responses = rest["responses"].as_object().unwrap().values();
    let mut examples = responses.filter_map(|response| {
        let examples = &response["content"]["application/problem+json"]["examples"];
        examples.get("caching.idempotency.key_reused")
    });
    let params = &examples.next().unwrap()["value"]["params"];
    let asked = params["operation"].as_str().unwrap();
    assert_eq!(params["recorded"], format!("{asked} (through another door)"));
}

#[test]
fn what_the_handler_says_of_a_status_is_kept_beside() {
    let mut document = document(&["201", "409"]);
    let own = json!({
        "description": "Sold out.",
        "content": { "application/problem+json": { "schema": { "type": "object" } } }
    });
    let post = document.paths.paths.get_mut("/orders").unwrap().post.as_mut().unwrap();
    let own: Response = serde_json::from_value(own).unwrap();
    post.responses.responses.insert("409".to_owned(), own.into());
    layer().describe(&mut document, "/orders", &Method::POST).unwrap();
    let document = serde_json::to_value(document).unwrap();
    let response = &document["paths"]["/orders"]["post"]["responses"]["409"];
    assert!(response["description"].as_str().unwrap().starts_with("Sold out. Refused before"));
    let schemas = response["content"]["application/problem+json"]["schema"]["anyOf"].as_array();
    assert_eq!(schemas.unwrap().len(), 2);
    assert!(response["headers"]["Idempotent-Replayed"].is_object(), "a business conflict is final");
}

#[test]
fn a_response_that_others_share_is_marked_for_this_operation_alone() {
    let mut document = document(&[]);
    let components = document.components.get_or_insert_default();
    components.responses.insert("Made".to_owned(), Response::new("Made.").into());
    let post = document.paths.paths.get_mut("/orders").unwrap().post.as_mut().unwrap();
    let made = utoipa::openapi::Ref::from_response_name("Made");
    post.responses.responses.insert("201".to_owned(), made.into());
    layer().describe(&mut document, "/orders", &Method::POST).unwrap();
    let document = serde_json::to_value(document).unwrap();
    let post = &document["paths"]["/orders"]["post"];
    assert!(headers(post, "201").contains("Idempotent-Replayed"));
    assert_eq!(document["components"]["responses"]["Made"], json!({ "description": "Made." }));
}

#[test]
fn describing_twice_changes_nothing() {
    let mut document = document(&["201", "409", "500"]);
    layer().describe(&mut document, "/orders", &Method::POST).unwrap();
    let once = serde_json::to_value(&document).unwrap();
    layer().describe(&mut document, "/orders", &Method::POST).unwrap();
    assert!(serde_json::to_value(&document).unwrap() == once);
}

#[test]
fn a_parameter_of_the_same_name_makes_way() {
    let mut document = document(&["201"]);
    let post = document.paths.paths.get_mut("/orders").unwrap().post.as_mut().unwrap();
    let other = ParameterBuilder::new()
        .name("idempotency-key")
        .parameter_in(utoipa::openapi::path::ParameterIn::Header);
    post.parameters = Some(vec![other.build().into()]);
    layer().describe(&mut document, "/orders", &Method::POST).unwrap();
    let document = serde_json::to_value(document).unwrap();
    assert_eq!(document["paths"]["/orders"]["post"]["parameters"].as_array().unwrap().len(), 1);
}

#[test]
fn an_operation_that_is_not_there_or_not_protected_is_an_error() {
    let mut document = document(&["201"]);
    let before = document.clone();
    let error = layer().describe(&mut document, "/order", &Method::POST).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the document has no operation POST /order; it takes one of the document's own"
    );
    let patch = layer().describe(&mut document, "/orders", &Method::PATCH).unwrap_err();
    assert!(matches!(patch, DescribeError::NotThere { .. }));
    let only_put = with(|settings| settings.methods(Methods::Only(vec![Method::PUT])));
    let error = only_put.describe(&mut document, "/orders", &Method::POST).unwrap_err();
    assert!(matches!(error, DescribeError::NotProtected { .. }), "{error}");
    assert!(document.paths == before.paths);
}
