//! Requests that are refused before anything runs: keys that can't be read, bodies that are too
//! large.

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use semel::{Code, KeyFormat, KeyRule};
use semel_http::{HeaderSyntax, IdempotencyLayer, KeySources};
use serde_json::json;
use tower::{Layer, ServiceExt};

use crate::support::bodies::{Scripted, Step};
use crate::support::door::created;
use crate::support::{Answer, Door, Order, Work, alice, keyless, once, order, policy, settings};

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
