//! What the layer says itself: `application/problem+json` with every member, in two languages.

use std::sync::Arc;

use axum::body::Body;
use http::{HeaderName, HeaderValue};
use semel::{
    Begun, Call, Code, DetectExpired, InDoubtPolicy, InFlight, Language, Once, Operation, Policy,
};
use serde_json::{Value, json};

use crate::support::store::{Comes, Doing, FULL, NOT_APPLIED, Ruled};
use crate::support::{Answer, Door, Order, alice, keyless, once, order, policy, settings};

/// Every member of the document, and the headers beside it (sections 5 and 6 of the contract).
#[track_caller]
fn assert_one(answer: &Answer, language: Language, code: Code, params: &Value) {
    let json = answer.json();
    let members: Vec<&String> = json.as_object().unwrap().keys().collect();
    let expected = ["code", "detail", "messageKey", "params", "sameKey", "status", "title", "type"];
    assert_eq!(members, expected);
    assert_eq!(json["type"], format!("urn:semel:problem:{}", code.code()));
    assert_eq!(json["code"], code.code());
    assert_eq!(json["messageKey"], code.message_key());
    assert_eq!(json["status"], code.status().as_u16());
    assert_eq!(json["sameKey"], code.same_key().as_bool());
    assert_eq!(json["params"], *params);
    assert_eq!(answer.status.as_u16(), code.status().as_u16());
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    assert_eq!(answer.header("idempotency-error"), Some(code.code()));
    assert_eq!(answer.header("content-language"), Some(language.tag()));
    let is_chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    for text in [&json["title"], &json["detail"]] {
        let text = text.as_str().unwrap();
        assert_eq!(is_chinese(text), language == Language::SimplifiedChinese, "{text}");
    }
}

/// In English and in Chinese.
#[track_caller]
fn assert_document(answers: &[Answer; 2], code: Code, params: &Value) {
    for (answer, language) in answers.iter().zip(LANGUAGES) {
        assert_one(answer, language, code, params);
    }
}

const LANGUAGES: [Language; 2] = [Language::English, Language::SimplifiedChinese];

/// The same request, asked in English and in Chinese.
async fn told(door: &Door, request: impl Fn() -> Order) -> [Answer; 2] {
    let mut answers = Vec::new();
    for language in ["en", "zh-CN, en;q=0.5"] {
        let mut request = request();
        request.headers_mut().insert("accept-language", HeaderValue::from_static(language));
        answers.push(door.send(request).await);
    }
    answers.try_into().unwrap()
}

async fn held(once: &Once, policy: &Arc<Policy>) -> semel::Claim {
    let operation = Operation::new("POST /orders").unwrap();
    let call = Call::new(policy, &alice(), "k", operation).unwrap();
    let Begun::Fresh(claim) = once.begin(&call).await else { panic!("it is free") };
    claim
}

/// I4: stable types and codes for each kind of trouble.
#[tokio::test]
async fn i4_a_call_in_flight() {
    let reject = policy(|policy| policy.in_flight(InFlight::Reject));
    let door = Door::counting(once(), |layer| layer.policy(reject.clone()));
    let _claim = held(&door.once, &reject).await;
    let answers = told(&door, || order("k", "{}")).await;
    assert_document(&answers, Code::InProgress, &json!({"retryAfter": 5}));
    assert_eq!(answers[0].header("retry-after"), Some("5"));
}

#[tokio::test]
async fn i4_a_key_of_another_operation() {
    let door = Door::counting(once(), |layer| layer);
    door.post("k", "{}").await;
    let refund = || {
        let mut order = order("k", "{}");
        *order.uri_mut() = "/refunds".parse().unwrap();
        order
    };
    let params = json!({"operation": "POST /refunds", "recorded": "POST /orders"});
    assert_document(&told(&door, refund).await, Code::KeyReused, &params);
}

/// S-66: a path that would break out of a page or of the document stands in it as a JSON string,
/// and changes no member.
#[tokio::test]
async fn s_66_what_a_client_sent_stands_in_a_problem_as_a_json_string() {
    let door = Door::counting(once(), |layer| layer);
    door.post("k", "{}").await;
    for path in [r#"/a","status":200,"x":"</script>"#, "/%3Cscript%3E", r"/a%22"] {
        let Ok(uri) = path.parse::<http::Uri>() else { continue };
        let hostile = || {
            let mut order = order("k", "{}");
            *order.uri_mut() = uri.clone();
            order
        };
        let params = json!({"operation": format!("POST {path}"), "recorded": "POST /orders"});
        assert_document(&told(&door, hostile).await, Code::KeyReused, &params);
    }
}

#[tokio::test]
async fn i4_an_answer_that_was_not_kept() {
    let settings = settings(|http| http.max_cached_response(1));
    let door = Door::counting(once(), |layer| layer.settings(settings));
    door.post("k", "{}").await;
    let answers = told(&door, || order("k", "{}")).await;
    assert_document(&answers, Code::ResponseUnavailable, &json!({}));
}

#[tokio::test(start_paused = true)]
async fn i4_a_call_in_doubt() {
    let strict = policy(|policy| policy.in_doubt(InDoubtPolicy::Reject));
    let door = Door::counting(once(), |layer| layer.policy(strict.clone()));
    let claim = held(&door.once, &strict).await;
    claim.doubt(semel::core::Doubt::CutOff).await;
    let answers = told(&door, || order("k", "{}")).await;
    let since = answers[0].json()["params"]["since"].clone();
    // RFC 3339, in UTC.
    let text = since.as_str().unwrap();
    assert!(text.len() == 20 && text.ends_with('Z') && text.as_bytes()[10] == b'T', "{text}");
    assert_document(&answers, Code::InDoubt, &json!({ "since": since }));
}

#[tokio::test]
async fn i4_an_invalid_key() {
    let door = Door::counting(once(), |layer| layer);
    let answers = told(&door, || order("a,b", "{}")).await;
    assert_document(&answers, Code::KeyInvalid, &json!({"reason": "several-keys"}));
}

#[tokio::test]
async fn i4_a_missing_key() {
    let door = Door::counting(once(), |layer| layer);
    let answers = told(&door, || keyless("{}")).await;
    assert_document(&answers, Code::KeyMissing, &json!({"header": "Idempotency-Key"}));
}

#[tokio::test]
async fn i4_another_request_under_the_key() {
    let door = Door::counting(once(), |layer| layer);
    door.post("k", "{}").await;
    let answers = told(&door, || order("k", "[]")).await;
    assert_document(&answers, Code::PayloadMismatch, &json!({"differs": ["body"]}));
}

/// I10: a key from before the time that is remembered is told so, not run again in silence.
#[tokio::test]
async fn i10_a_key_that_is_older_than_memory() {
    let detect = policy(|policy| policy.detect_expired(DetectExpired::On));
    let door = Door::counting(once(), |layer| layer.policy(detect));
    // A UUIDv7 and a ULID of 2023.
    for key in ["018c0000-0000-7000-8000-000000000000", "01HF000000000000000000000A"] {
        for (answer, language) in told(&door, || order(key, "{}")).await.iter().zip(LANGUAGES) {
            let params = answer.json()["params"].clone();
            let age = params["age"].as_u64().unwrap();
            assert!(age > 86_400, "{age}");
            assert_one(answer, language, Code::KeyExpired, &json!({"age": age, "limit": 86_400}));
        }
    }
    assert_eq!(door.runs.count(), 0);
    // Keys that say nothing of their age are as good as ever.
    door.post("order-1", "{}").await.assert_is_the_handlers(201, "order 1");
}

#[tokio::test]
async fn i4_a_body_that_is_too_large() {
    let settings = settings(|http| http.max_request_body(4));
    let door = Door::counting(once(), |layer| layer.settings(settings));
    let answers = told(&door, || order("k", "12345")).await;
    assert_document(&answers, Code::BodyTooLarge, &json!({"limit": 4}));
}

#[tokio::test]
async fn i4_a_store_that_can_t_be_reached_and_one_that_is_full() {
    for (kind, code) in [(NOT_APPLIED, Code::StoreUnavailable), (FULL, Code::StoreFull)] {
        let store = Ruled::new(move |doing| match doing {
            Doing::Claim => Comes::Before(kind),
            _ => Comes::Through,
        });
        let door = Door::counting(Once::new(store), |layer| layer);
        assert_document(&told(&door, || order("k", "{}")).await, code, &json!({}));
        assert_eq!(door.runs.count(), 0);
    }
}

/// I1: an answer of the layer can be told from one of the handler with the same status.
#[tokio::test]
async fn i1_the_handlers_own_409_and_422_bear_no_mark_of_the_layer() {
    for status in [400, 409, 413, 422, 503] {
        let door = Door::with(
            once(),
            |layer| layer,
            move |_| async move {
                Ok(http::Response::builder().status(status).body(Body::from("mine")).unwrap())
            },
        );
        door.post("k", "{}").await.assert_is_the_handlers(status, "mine");
    }
}

#[tokio::test]
async fn the_language_is_negotiated() {
    let door = Door::counting(once(), |layer| layer);
    for (accepts, expected) in [
        (&[][..], Language::English),
        (&["zh"], Language::SimplifiedChinese),
        (&["zh-CN,zh;q=0.9"], Language::SimplifiedChinese),
        (&["en;q=0.4, zh-Hans;q=0.5"], Language::SimplifiedChinese),
        (&["fr", "zh;q=0.2"], Language::SimplifiedChinese),
        (&["zh-TW"], Language::English),
        (&["zh;q=0"], Language::English),
        (&["fr, de"], Language::English),
        (&["*"], Language::English),
    ] {
        let mut request = keyless("{}");
        for accept in accepts {
            request.headers_mut().append("accept-language", HeaderValue::from_static(accept));
        }
        // What is no text is passed over.
        request.headers_mut().append("accept-language", HeaderValue::from_bytes(b"\xff").unwrap());
        let answer = door.send(request).await;
        let params = json!({"header": "Idempotency-Key"});
        assert_one(&answer, expected, Code::KeyMissing, &params);
    }
}

/// What a service has to expose to scripts in browsers is every header that the layer may set.
#[test]
fn the_headers_to_be_exposed_are_those_that_the_layer_sets() {
    for marker in [Some("x-seen-before"), Some("idempotent-replayed"), None] {
        let settings = settings(|http| http.replay_marker(marker.map(HeaderName::from_static)));
        let exposed = settings.exposed_headers();
        let own = ["idempotency-error", "idempotency-unprotected", "idempotency-durable"];
        let expected: Vec<&str> = marker.into_iter().chain(own).chain(["retry-after"]).collect();
        assert_eq!(exposed, expected);
    }
}
