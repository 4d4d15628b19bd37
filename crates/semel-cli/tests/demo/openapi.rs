//! `/openapi.json` and `/docs`: the document is one, and the real answers are those that it has.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::storage::locked;
use crate::support::{
    Answer, Call, Client, Described, Files, Http, Server, keyboard, members, until,
};

async fn begin(flags: &[&str]) -> (Files, Server, Client, Described) {
    let (files, server) = Files::new_server(flags).await;
    let client = server.client(Http::One).await;
    let described = Described::of(&server).await;
    (files, server, client, described)
}

// ===== The document itself =====

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_document_is_whole() {
    let (_files, _server, _client, described) = begin(&["--methods", "POST,DELETE"]).await;
    let document = &described.0;
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
    assert!(document["info"]["title"].is_string() && document["info"]["version"].is_string());
    let mut ids = BTreeSet::new();
    for (path, method, operation) in described.operations() {
        let id = operation["operationId"].as_str().unwrap();
        assert!(ids.insert(id), "{id} stands for two operations");
        parameters_are_whole(path, operation);
        assert!(members(&operation["responses"]).next().is_some(), "{method} {path}");
        for (status, response) in members(&operation["responses"]) {
            assert!(status.len() == 3 && response["description"].is_string(), "{path} {status}");
            for (_, content) in members(&response["content"]) {
                for (_, example) in members(&content["examples"]) {
                    described.assert_valid(&content["schema"], &example["value"]);
                }
            }
        }
    }
    references_lead_somewhere(document, document);
}

#[track_caller]
fn parameters_are_whole(path: &str, operation: &Value) {
    let none = Vec::new();
    let parameters = operation["parameters"].as_array().unwrap_or(&none);
    let mut seen = BTreeSet::new();
    for parameter in parameters {
        let name = parameter["name"].as_str().unwrap();
        let place = parameter["in"].as_str().unwrap();
        assert!(seen.insert((name.to_ascii_lowercase(), place)), "{path}: {name} stands twice");
        assert!(parameter["schema"].is_object() && parameter["description"].is_string(), "{name}");
        if place == "path" {
            assert!(path.contains(&format!("{{{name}}}")), "{path}: {name}");
            assert_eq!(parameter["required"], true);
        }
    }
    let in_path = path.matches('{').count();
    assert_eq!(seen.iter().filter(|(_, place)| *place == "path").count(), in_path, "{path}");
}

fn references_lead_somewhere(document: &Value, part: &Value) {
    if let Some(reference) = part.get("$ref").and_then(Value::as_str) {
        assert!(document.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
    let parts = part.as_array().into_iter().flatten();
    parts.chain(members(part).map(|(_, value)| value)).for_each(|part| {
        references_lead_somewhere(document, part);
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_is_protected_is_described_as_protected() {
    let key_of = |operation: &Value| {
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        parameters.into_iter().find(|parameter| parameter["name"] == "Idempotency-Key")
    };
    let (_files, _server, _client, described) = begin(&[]).await;
    for (path, method, operation) in described.operations() {
        let is_protected = method == "post";
        assert_eq!(key_of(operation).is_some(), is_protected, "{method} {path}");
        let conflict = operation["responses"]["409"]["headers"]["Idempotency-Error"].is_object();
        assert_eq!(conflict, is_protected, "{method} {path}");
    }

    let flags = ["--methods", "DELETE", "--missing-key", "optional", "--fingerprint", "off"];
    let (_files, _server, _client, described) = begin(&flags).await;
    let delete = &described.0["paths"]["/orders/{id}"]["delete"];
    assert_eq!(key_of(delete).unwrap()["required"], false);
    assert!(delete["responses"]["422"].is_null());
    assert!(key_of(&described.0["paths"]["/orders"]["post"]).is_none());
}

// ===== Real answers =====

fn payment(body: &str) -> Call {
    Call::post("/payments", body).key("payment")
}

/// A repeat of a call that still runs.
async fn repeat_meanwhile(server: &Server, client: &Client) -> Answer {
    let slow = keyboard("slow").demo("slow=2s");
    let before = server.executions("POST /orders").await;
    let first = tokio::spawn({
        let (client, slow) = (client.clone(), slow.clone());
        async move { client.send(slow).await }
    });
    until("the handler runs", async || {
        (server.executions("POST /orders").await > before).then_some(())
    })
    .await;
    let repeat = client.send(slow).await;
    first.await.unwrap().assert_fresh(201);
    repeat
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_call_really_gets_is_what_the_document_says() {
    let (_files, server, client, described) = begin(&["--in-flight", "reject"]).await;
    let mut seen = BTreeSet::new();
    let mut check = |answer: &Answer, status: u16| {
        assert_eq!(answer.status, status, "{answer:?}");
        described.assert_describes("post", "/orders", answer);
        seen.insert(status);
    };
    let first = client.send(keyboard("k")).await;
    check(&first, 201);
    let replay = client.send(keyboard("k")).await;
    assert!(replay.is_replay());
    check(&replay, 201);
    check(&client.send(keyboard("k").without("idempotency-key")).await, 400);
    check(&client.send(keyboard("k").set("idempotency-key", "a,b")).await, 400);
    check(&client.send(keyboard("broken").body("{")).await, 400);
    check(&client.send(keyboard("k").by("nobody")).await, 401);
    check(&repeat_meanwhile(&server, &client).await, 409);
    check(&client.send(keyboard("sold").demo("conflict")).await, 409);
    check(&client.send(keyboard("large").body(vec![b' '; (1 << 20) + 1])).await, 413);
    check(&client.send(keyboard("k").body(r#"{"name":"Mouse","amount":1}"#)).await, 422);
    check(&client.send(keyboard("fields").body(r#"{"name":"","amount":0}"#)).await, 422);
    check(&client.send(keyboard("fails").demo("fail")).await, 500);
    let in_chinese = keyboard("k").without("idempotency-key").set("accept-language", "zh");
    check(&client.send(in_chinese).await, 400);
    assert_eq!(seen, BTreeSet::from([201, 400, 401, 409, 413, 422, 500]));

    let reused = client.send(payment(r#"{"order":1,"amount":2}"#).key("k")).await;
    reused.assert_refusal(409, "CACHING_CONFLICT_003", "caching.idempotency.key_reused");
    described.assert_describes("post", "/payments", &reused);
    let paid = client.send(payment(r#"{"order":1,"amount":2}"#)).await;
    paid.assert_fresh(201);
    described.assert_describes("post", "/payments", &paid);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_needs_no_key_answers_as_described_too() {
    let (_files, _server, client, described) = begin(&[]).await;
    client.send(keyboard("k")).await.assert_fresh(201);
    for (path, url, status) in [
        ("/orders", "/orders", 200),
        ("/orders/{id}", "/orders/1", 200),
        ("/orders/{id}", "/orders/99", 404),
        ("/executions", "/executions", 200),
    ] {
        let answer = client.send(Call::get(url)).await;
        assert_eq!(answer.status, status, "{url}");
        described.assert_describes("get", path, &answer);
    }
    let removed = client.send(Call::new(http::Method::DELETE, "/orders/1")).await;
    assert_eq!(removed.status, 204);
    described.assert_describes("delete", "/orders/{id}", &removed);
}

/// The records are on SQLite here, whatever the other scenarios run on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_gone_is_described() {
    let files = Files::new();
    let store = format!("sqlite:{}", files.path("records.db").display());
    let server = files.start(&["--store", &store]).await;
    let described = Described::of(&server).await;
    let client = server.client(Http::One).await;
    client.send(keyboard("before")).await.assert_fresh(201);
    let lock = locked(&files);
    let refused = client.send(keyboard("k")).await;
    drop(lock);
    refused.assert_refusal(503, "CACHING_UNAVAILABLE_001", "caching.store.unavailable");
    described.assert_describes("post", "/orders", &refused);
}

// ===== The page =====

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_shows_every_operation_and_runs_nothing() {
    let (_files, _server, client, described) = begin(&[]).await;
    let page = client.send(Call::get("/docs").without("authorization")).await;
    page.assert_fresh(200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'self';"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");

    let html = String::from_utf8(page.body.to_vec()).unwrap();
    for forbidden in ["<script", "<style", " style=", "javascript:", "src=", "dev-alice-key"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    for (path, method, operation) in described.operations() {
        assert!(html.contains(&format!("<b>{}</b>", method.to_uppercase())), "{method}");
        assert!(html.contains(path), "{path}");
        for (status, _) in members(&operation["responses"]) {
            assert!(html.contains(&format!("<b>{status}</b>")), "{path} {status}");
        }
    }
    for shown in ["Idempotency-Key", "Idempotent-Replayed", "CACHING_VALIDATION_003", "Retry-After"]
    {
        assert!(html.contains(shown), "{shown}");
    }
    let style = client.send(Call::get("/docs/style.css").without("authorization")).await;
    assert_eq!(style.header("content-type"), Some("text/css"));
}
