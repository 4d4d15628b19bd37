//! What the layer says itself: `application/problem+json` with every member, in two languages.

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use semel::{
    Begun, Call, Code, DetectExpired, InDoubtPolicy, InFlight, KeyFormat, KeyRule, Language, Once,
    Operation, Policy,
};
use semel_http::{HeaderSyntax, IdempotencyLayer, KeySources};
use serde_json::{Value, json};
use std::sync::Arc;
use tower::{Layer, ServiceExt};

use crate::support::bodies::{Scripted, Step};
use crate::support::door::created;
use crate::support::store::{Comes, Doing, FULL, NOT_APPLIED, Ruled};
use crate::support::{Answer, Door, Order, Work, alice, keyless, once, order, policy, settings};

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

// ===== Bad input =====

fn field(name: &'static str, value: impl AsRef<[u8]>) -> (HeaderName, HeaderValue) {
    (HeaderName::from_static(name), HeaderValue::from_bytes(value.as_ref()).unwrap())
}

type Fields = Vec<(HeaderName, HeaderValue)>;

/// What is refused by the defaults, and the word for why.
fn refused_by_default() -> Vec<(Fields, &'static str)> {
    let key = |value: &str| vec![field("idempotency-key", value)];
    let baggage = |value: &str| vec![field("baggage", value)];
    let many = (0..64).map(|n| format!("m{n}=1,")).collect::<String>();
    vec![
        (key(""), "empty"),
        (key("  "), "empty"),
        (key("\"\""), "empty"),
        (key("\"  \""), "blank"),
        (key(&"k".repeat(256)), "too-long"),
        (key(&format!("\"{}\"", "k".repeat(256))), "too-long"),
        (key(&"k".repeat(4_000)), "too-long"),
        (key("a b"), "not-visible-ascii"),
        (key("\"a b\""), "not-visible-ascii"),
        (key("a\tb"), "not-visible-ascii"),
        (vec![field("idempotency-key", b"k\xff")], "not-visible-ascii"),
        (key("é"), "not-visible-ascii"),
        (key("\"k"), "malformed-header"),
        (key("k;v=1"), "malformed-header"),
        (key("a,b"), "several-keys"),
        (key("(\"a\")"), "several-keys"),
        (vec![field("idempotency-key", "k"), field("idempotency-key", "k")], "several-keys"),
        (vec![field("idempotency-key", "k"), field("idempotency-key", "l")], "several-keys"),
        (
            vec![field("idempotency-key", "k"), field("baggage", "xihan.idempotency-key=l")],
            "sources-disagree",
        ),
        (baggage("xihan.idempotency-key"), "malformed-baggage"),
        (baggage("xihan.idempotency-key=%zz"), "malformed-baggage"),
        (baggage("xihan.idempotency-key=%ff"), "malformed-baggage"),
        (baggage("xihan.idempotency-key=\"k\""), "malformed-baggage"),
        (baggage("xihan.idempotency-key="), "empty"),
        (baggage("xihan.idempotency-key=%20"), "blank"),
        (baggage("xihan.idempotency-key=a%20b"), "not-visible-ascii"),
        (baggage("xihan.idempotency-key=%C3%A9"), "not-visible-ascii"),
        (baggage("xihan.idempotency-key=k,xihan.idempotency-key=k"), "baggage-member-twice"),
        (baggage(&format!("{many}xihan.idempotency-key=k")), "baggage-too-large"),
        (baggage(&format!("a={},xihan.idempotency-key=k", "x".repeat(8_192))), "baggage-too-large"),
        // A key in one place does not make up for a fault in another.
        (
            vec![field("idempotency-key", "k"), field("baggage", "xihan.idempotency-key")],
            "malformed-baggage",
        ),
    ]
}

fn bearing(fields: Fields) -> Order {
    let mut request = keyless("{}");
    for (name, value) in fields {
        request.headers_mut().append(name, value);
    }
    request
}

/// C8, X8, X11: what can't be read is never "no key", also where no key is needed.
#[tokio::test]
async fn c8_x8_x11_every_key_that_can_t_be_read_is_refused_and_nothing_runs() {
    for missing in [semel::MissingKey::Require, semel::MissingKey::Optional] {
        let door = Door::counting(once(), |layer| layer.missing_key(missing));
        for (fields, reason) in refused_by_default() {
            let shown = format!("{fields:?}");
            let answer = door.send(bearing(fields)).await;
            answer.assert_is(Code::KeyInvalid);
            assert_eq!(answer.json()["params"]["reason"], reason, "{shown}");
        }
        assert_eq!(door.runs.count(), 0);
        // No trace of them is left: the store is empty.
        let page = door.once.store().scan("", None, 10).await.unwrap();
        assert!(page.entries.is_empty());
    }
}

#[tokio::test]
async fn rules_of_ones_own_are_refused_by_their_own_names() {
    let formed =
        |format: KeyFormat| policy(|policy| policy.key_rule(KeyRule::http().with_format(format)));
    for (policy, key, reason) in [
        (formed(KeyFormat::Uuid), "k", "not-a-uuid"),
        (formed(KeyFormat::UuidV7), "9b2f0e6a-1c1e-4d3c-8a55-0123456789ab", "not-a-uuid-v7"),
        (formed(KeyFormat::Ulid), "k", "not-a-ulid"),
        (formed("pattern:^ord-[0-9]+$".parse().unwrap()), "k", "pattern-mismatch"),
    ] {
        let door = Door::counting(once(), |layer| layer.policy(policy));
        let answer = door.post(key, "{}").await;
        answer.assert_is(Code::KeyInvalid);
        assert_eq!((&answer.json()["params"]["reason"], door.runs.count()), (&json!(reason), 0));
    }
    let strict =
        settings(|http| http.sources(KeySources::default().with_syntax(HeaderSyntax::Strict)));
    let door = Door::counting(once(), |layer| layer.settings(strict));
    let answer = door.post("k", "{}").await;
    assert_eq!(answer.json()["params"]["reason"], "not-quoted");
    // A scope so long that no key fits beside it.
    let door = Door::counting(once(), |layer| layer);
    let mut request = order(&"k".repeat(255), "{}");
    request.extensions_mut().insert(semel::Scope::new("t".repeat(300), "alice").unwrap());
    let answer = door.send(request).await;
    answer.assert_is(Code::KeyInvalid);
    assert_eq!(answer.json()["params"]["reason"], "composed-too-long");
    assert_eq!(door.runs.count(), 0);
}

/// The header that clients of a service use may be another, or more than one.
#[tokio::test]
async fn the_places_of_the_key_can_be_others() {
    let names = ["x-idempotency-key", "idempotency-key"].map(HeaderName::from_static);
    let settings = settings(|http| http.sources(KeySources::new(names, None).unwrap()));
    let door = Door::counting(once(), |layer| layer.settings(settings));
    for name in ["x-idempotency-key", "idempotency-key"] {
        let answer = door.send(bearing(vec![field(name, "k")])).await;
        answer.assert_is_the_handlers(201, "order 1");
    }
    let missing = door.send(keyless("{}")).await;
    missing.assert_is(Code::KeyMissing);
    assert_eq!(missing.json()["params"]["header"], "X-Idempotency-Key");
    let both = vec![field("x-idempotency-key", "k"), field("idempotency-key", "l")];
    let disagree = door.send(bearing(both)).await;
    assert_eq!(disagree.json()["params"]["reason"], "sources-disagree");
}

// ===== Size =====

/// Sends a body in pieces of which nobody says how long they are together.
async fn in_pieces(limit: usize, declared: Option<usize>, sizes: &[usize]) -> (Answer, u32) {
    let work = Work::new(|asked| async move { Ok(created(asked.run)) });
    let runs = work.runs();
    let settings = settings(|http| http.max_request_body(limit));
    let service = IdempotencyLayer::new(once()).settings(settings).layer(work);
    let steps = sizes.iter().map(|size| Step::Data(Bytes::from(vec![b'x'; *size])));
    let mut request = Request::post("/orders").header("idempotency-key", "k").extension(alice());
    if let Some(length) = declared {
        request = request.header("content-length", length);
    }
    let request = request.body(Scripted::new(steps)).unwrap();
    let answer = Answer::of(service.oneshot(request).await.unwrap()).await.unwrap();
    (answer, runs.count())
}

#[tokio::test]
async fn exactly_the_limit_passes_and_one_byte_more_does_not() {
    for (declared, sizes, passes) in [
        (None, &[10][..], true),
        (None, &[5, 5], true),
        (None, &[1; 10], true),
        (None, &[0, 10, 0], true),
        (None, &[], true),
        (None, &[11], false),
        (None, &[5, 6], false),
        (None, &[1; 11], false),
        (None, &[10, 1], false),
        (Some(10), &[10], true),
        (Some(11), &[11], false),
        // Told by the declared length alone, before a byte is read.
        (Some(11), &[], false),
        // Nobody is taken at their word.
        (Some(1), &[11], false),
    ] {
        let (answer, runs) = in_pieces(10, declared, sizes).await;
        if passes {
            answer.assert_is_the_handlers(201, "order 1");
        } else {
            answer.assert_is(Code::BodyTooLarge);
            assert_eq!(answer.json()["params"]["limit"], 10);
        }
        assert_eq!(runs, u32::from(passes), "{declared:?} {sizes:?}");
    }
}

/// X2: the layer's limit is its own; it neither lifts nor lowers that of requests it leaves alone.
#[tokio::test]
async fn x2_requests_that_pass_through_are_not_limited() {
    let settings = settings(|http| http.max_request_body(4));
    let door = Door::with(
        once(),
        |layer| layer.settings(settings).missing_key(semel::MissingKey::Optional),
        |asked| async move { Ok(http::Response::new(Body::from(asked.body))) },
    );
    door.send(keyless("12345")).await.assert_is_the_handlers(200, "12345");
    let mut get = order("k", "12345");
    *get.method_mut() = http::Method::GET;
    door.send(get).await.assert_is_the_handlers(200, "12345");
    let headers: HeaderMap = door.post("k", "12345").await.headers;
    assert!(headers.contains_key("idempotency-error"));
}

/// P10: no log shows the key, the body, or whose they are.
#[tokio::test(start_paused = true)]
async fn p10_nothing_that_is_logged_shows_a_key_a_body_or_a_scope() {
    let (logs, _guard) = crate::support::logs::Logs::begin();
    let store = Ruled::new(|doing| match doing {
        Doing::Finish(_) => Comes::Before(NOT_APPLIED),
        _ => Comes::Through,
    });
    let door = Door::counting(Once::new(store), |layer| layer);
    let order = |key: &str, body: &'static str| {
        let mut order = order(key, body);
        let scope = semel::Scope::new("tenant-secret", "subject-secret").unwrap();
        order.extensions_mut().insert(scope);
        order
    };
    door.send(order("key-secret", "body-secret")).await;
    door.send(order("key-secret", "other-secret")).await;
    door.send(order("key-secret\"", "body-secret")).await;
    semel::timer::sleep(std::time::Duration::from_secs(7_200)).await;
    let text = logs.text();
    assert!(text.contains("could not be recorded"), "something was logged: {text}");
    assert!(!text.contains("secret"), "{text}");
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
