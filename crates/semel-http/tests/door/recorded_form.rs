//! Recorded bytes: old ones are read, newer or broken ones are never guessed at.

use std::sync::Arc;

use bytes::Bytes;
use http::{Response, request};
use semel::{Begun, Call, Code, Extent, Finished, Form, Once, Operation, Outcome};
use semel_http::{RecordedAnswer, SharedOperations};

use crate::support::{Answer, Door, alice, once, order, settings};

/// `201`, `content-type: text/plain` and the body `hello`, as the first version writes it. What
/// is written once must be read for good (N8).
const GOLDEN: &[u8] =
    b"\x01\x1d\x00\x00\x00\x82\x18\xc9\x81\x82\x6ccontent-type\x4atext/plainhello";

async fn replay_of(payload: &[u8], form: Form, extent: Extent) -> (Answer, u32) {
    let once = once();
    record(&once, Outcome { form, extent, payload: Bytes::copy_from_slice(payload) }).await;
    let door = Door::counting(once, |layer| layer);
    let answer = door.send(order("k", "{}")).await;
    (answer, door.runs.count())
}

async fn record(once: &Once, outcome: Outcome) {
    let operation = Operation::new("POST /orders").unwrap();
    let call = Call::new(&once.default_policy(), &alice(), "k", operation).unwrap();
    let Begun::Fresh(mut claim) = once.begin(&call).await else { panic!("the key is free") };
    assert!(matches!(claim.record(outcome).await, Finished::Recorded));
}

#[tokio::test]
async fn n8_the_first_version_of_the_form_is_read() {
    let head = u32::try_from(GOLDEN.len() - 5 - "hello".len()).unwrap();
    assert_eq!(GOLDEN[1..5], head.to_le_bytes(), "the head's length");
    let (answer, runs) = replay_of(GOLDEN, Form::Http, Extent::Whole).await;
    answer.assert_is_the_handlers(201, "hello");
    assert_eq!(answer.header("content-type"), Some("text/plain"));
    assert_eq!(runs, 0);
}

/// For tools that show records.
#[test]
fn the_status_of_a_recorded_answer_can_be_shown_and_of_nothing_else() {
    let status = |form, extent, payload: &'static [u8]| {
        let payload = Bytes::from_static(payload);
        semel_http::status_of(&Outcome { form, extent, payload }).map(|status| status.as_u16())
    };
    assert_eq!(status(Form::Http, Extent::Whole, GOLDEN), Some(201));
    assert_eq!(status(Form::Http, Extent::Partial, &GOLDEN[..GOLDEN.len() - 5]), Some(201));
    for form in [Form::Value, Form::Error, Form::Bytes] {
        assert_eq!(status(form, Extent::Whole, GOLDEN), None, "{form:?}");
    }
    for payload in [&b""[..], b"\x01", b"\x02\x1d\0\0\0", &GOLDEN[..20]] {
        assert_eq!(status(Form::Http, Extent::Whole, payload), None, "{payload:?}");
    }
}

#[tokio::test]
async fn n8_the_first_version_of_the_form_is_written() {
    let door = Door::with(
        once(),
        |layer| layer,
        |_| async {
            let response = Response::builder().status(201).header("content-type", "text/plain");
            Ok(response.body(axum::body::Body::from("hello")).unwrap())
        },
    );
    door.post("k", "{}").await;
    let key = semel::Key::idempotency(&alice(), "k").unwrap();
    let status = door.once.peek(&key).await.unwrap();
    let semel::core::protocol::Status::Done(outcome) = status else { panic!("{status:?}") };
    assert_eq!((outcome.form, outcome.extent), (Form::Http, Extent::Whole));
    assert_eq!(outcome.payload, GOLDEN);
}

/// X9, and R2: what can't be read is a distinct answer, never a panic, a short body or a run.
#[tokio::test]
async fn x9_r2_a_head_that_is_cut_short_is_told_as_unavailable() {
    for end in 0..GOLDEN.len() - "hello".len() {
        let (answer, runs) = replay_of(&GOLDEN[..end], Form::Http, Extent::Whole).await;
        answer.assert_is(Code::ResponseUnavailable);
        assert_eq!(runs, 0);
    }
}

#[tokio::test]
async fn forms_that_are_newer_or_nobodys_are_told_as_unavailable() {
    let mut newer = GOLDEN.to_vec();
    newer[0] = 2;
    let mut odd_status = GOLDEN.to_vec();
    odd_status[7] = 20;
    let mut odd_name = GOLDEN.to_vec();
    odd_name[11] = b' ';
    let mut odd_value = GOLDEN.to_vec();
    odd_value[24] = b'\n';
    let mut long = GOLDEN.to_vec();
    long[4] = 0xff;
    for payload in [&newer[..], &odd_status, &odd_name, &odd_value, &long] {
        let (answer, runs) = replay_of(payload, Form::Http, Extent::Whole).await;
        answer.assert_is(Code::ResponseUnavailable);
        assert_eq!(runs, 0);
    }
    // Somebody settled it by hand.
    let (answer, runs) = replay_of(b"", Form::Bytes, Extent::Partial).await;
    answer.assert_is(Code::ResponseUnavailable);
    assert_eq!(runs, 0);
}

/// R3. Its bytes would be an answer: the form counts, and not what can be read.
#[tokio::test]
async fn r3_what_another_door_recorded_is_key_reused() {
    for form in [Form::Value, Form::Error, Form::Bytes, Form::Grpc, Form::Mcp] {
        let (answer, runs) = replay_of(GOLDEN, form, Extent::Whole).await;
        answer.assert_is(Code::KeyReused);
        let params = &answer.json()["params"];
        assert_eq!(params["operation"], "POST /orders", "{form:?}");
        assert_eq!(params["recorded"], "POST /orders (through another door)", "{form:?}");
        assert_eq!(runs, 0);
    }
}

/// An operation that a function does too, and that can say a function's bytes.
#[derive(Debug)]
struct Told;

impl SharedOperations for Told {
    fn input(&self, _: &Operation, _: &request::Parts, body: &Bytes) -> Option<Bytes> {
        // As a function's input: a short text in CBOR.
        let length = u8::try_from(body.len()).ok()?;
        Some([&[0x60 + length][..], body].concat().into())
    }

    fn translate(&self, _: &Operation, outcome: &Outcome) -> Option<RecordedAnswer> {
        let said = Response::new(outcome.payload.clone());
        (outcome.form == Form::Bytes).then(|| RecordedAnswer::new(said, None))
    }
}

#[tokio::test]
async fn a_functions_answer_is_given_where_the_operation_says_how() {
    let once = once();
    let function = async |key| {
        let call = once.call(key).scope(alice()).operation("POST /orders").input(&"pen");
        call.run_bytes(async |_| Ok::<_, ()>(Bytes::from_static(b"hello"))).await
    };
    function("k").await.unwrap();
    let settings = settings(|http| http.shared(Some(Arc::new(Told))));
    let door = Door::counting(once.clone(), |layer| layer.settings(settings));
    let answer = door.post("k", "pen").await;
    assert!(answer.is_marked());
    answer.assert_is_the_handlers(200, "hello");
    door.post("k", "ink").await.assert_is(Code::PayloadMismatch);
    assert_eq!(door.runs.count(), 0);
}

/// A later version may add fields: this one reads past them.
#[tokio::test]
async fn a_head_with_more_fields_is_read() {
    let mut more = GOLDEN.to_vec();
    // No trailers, and a fourth field that is a number.
    more[5] = 0x84;
    let body = more.len() - "hello".len();
    more.splice(body..body, [0xf6, 0x07]);
    more[1] += 2;
    let (answer, _) = replay_of(&more, Form::Http, Extent::Whole).await;
    answer.assert_is_the_handlers(201, "hello");
}
