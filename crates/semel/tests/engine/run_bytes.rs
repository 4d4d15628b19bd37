//! The function form of bytes, and what it makes of other forms.

use std::sync::Arc;

use bytes::Bytes;
use semel::{CallError, Code, Extent, Finished, Form, Guarantee, Once, Outcome, ProblemKind};

use super::run::refused;
use super::support::{call, faulty, fresh, operation, policy, recorded};

/// Runs a function of the byte form that must not run.
async fn again(once: &Once, key: &str) -> Result<Bytes, CallError<&'static str>> {
    once.call(key).operation("charge").run_bytes(async |_| Err("ran")).await
}

#[tokio::test(start_paused = true)]
async fn bytes_come_back_byte_for_byte() {
    let (_, once) = faulty();
    let all: Vec<u8> = (0..=255).collect();
    let payloads: [&[u8]; 5] = [b"", b"\0", b"\xff\xfe not text", &all, &[0xf6; 100_000]];
    for (n, payload) in payloads.into_iter().enumerate() {
        let (key, payload) = (format!("k{n}"), Bytes::copy_from_slice(payload));
        let work = async |_| Ok::<_, ()>(payload.clone());
        let first = once.call(&key).operation("charge").run_bytes(work).await;
        assert_eq!(first.unwrap(), payload);
        assert_eq!(again(&once, &key).await.unwrap(), payload);
    }
}

/// N8: each form replays its own, and of the function's other one it says that the answer can't be
/// had. The work runs in no case.
#[tokio::test(start_paused = true)]
async fn what_one_form_recorded_no_other_gives_out() {
    let (_, once) = faulty();
    let bytes = || once.call("bytes").operation("charge");
    // These bytes would be a value: the number 7.
    bytes().run_bytes(async |_| Ok::<_, ()>(Bytes::from_static(&[7]))).await.unwrap();
    once.call("value").operation("charge").run(async |_| Ok::<_, ()>(7_u8)).await.unwrap();
    record(&once, "error", Form::Error, Extent::Whole).await;
    record(&once, "by hand", Form::Bytes, Extent::Partial).await;
    for key in ["bytes", "error", "by hand"] {
        for kind in typed(&once, key).await {
            assert_eq!(kind, ProblemKind::ResponseUnavailable, "{key}");
        }
    }
    for key in ["value", "error", "by hand"] {
        for kind in in_bytes(&once, key).await {
            assert_eq!(kind, ProblemKind::ResponseUnavailable, "{key}");
        }
    }
}

/// R3: the key belongs to that door, however the function is asked.
#[tokio::test(start_paused = true)]
async fn r3_what_another_door_recorded_is_key_reused() {
    let (_, once) = faulty();
    let reused = ProblemKind::KeyReused {
        operation: operation("charge"),
        recorded: operation("charge (through another door)"),
    };
    for form in [Form::Http, Form::Grpc, Form::Mcp] {
        for extent in [Extent::Whole, Extent::Partial] {
            let key = format!("{form:?} {extent:?}");
            record(&once, &key, form, extent).await;
            for kind in typed(&once, &key).await.into_iter().chain(in_bytes(&once, &key).await) {
                assert_eq!(kind, reused, "{key}");
            }
        }
    }
    // Whose door had an operation of its own, it belongs to that one.
    let other = once.call("Http Whole").operation("orders.create");
    let ProblemKind::KeyReused { recorded, .. } =
        refused(other.run(async |_| Err::<u8, _>("ran")).await).kind().clone()
    else {
        panic!("it ran")
    };
    assert_eq!(recorded, operation("charge"));
}

/// Records an outcome of a form as its door would.
async fn record(once: &Once, key: &str, form: Form, extent: Extent) {
    let call = call(&once.default_policy(), key);
    let payload = Bytes::from_static(&[7]);
    recorded(&mut fresh(once, &call).await, Outcome { form, extent, payload }).await;
}

/// Every way to ask for a value, each of which must be refused.
async fn typed(once: &Once, key: &str) -> [ProblemKind; 3] {
    let call = || once.call(key).operation("charge");
    [
        refused(call().run(async |_| Err::<u8, _>("ran")).await).kind().clone(),
        refused(call().peek::<u8>().await).kind().clone(),
        refused(call().attach::<u8>().await).kind().clone(),
    ]
}

/// Every way to ask for bytes, each of which must be refused.
async fn in_bytes(once: &Once, key: &str) -> [ProblemKind; 3] {
    let call = || once.call(key).operation("charge");
    [
        refused(again(once, key).await).kind().clone(),
        refused(call().peek_bytes().await).kind().clone(),
        refused(call().attach_bytes().await).kind().clone(),
    ]
}

/// What was kept in part is no answer, of whatever form.
#[tokio::test(start_paused = true)]
async fn bytes_that_were_kept_in_part_are_unavailable() {
    let (_, once) = faulty();
    let in_part = call(&once.default_policy(), "k");
    let part = super::support::part(b"the head");
    let finished = fresh(&once, &in_part).await.record(part).await;
    assert!(matches!(finished, Finished::Recorded));
    assert_eq!(refused(again(&once, "k").await).code(), Code::ResponseUnavailable);
}

#[tokio::test(start_paused = true)]
async fn bytes_of_failed_work_are_not_kept() {
    let (_, once) = faulty();
    assert!(matches!(again(&once, "k").await, Err(CallError::Work("ran"))));
    let bundle = policy(|policy| policy.guarantee(Guarantee::Transactional));
    let refused = once.call("k").policy(Arc::clone(&bundle)).run_bytes(async |_| Err("ran")).await;
    assert!(matches!(refused, Err(CallError::NoTransaction)), "{refused:?}");
}
