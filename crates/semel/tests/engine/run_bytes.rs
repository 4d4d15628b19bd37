//! The function form of bytes, and what it makes of other forms.

use std::sync::Arc;

use bytes::Bytes;
use semel::{CallError, Code, Extent, Finished, Form, Guarantee, Once, Outcome};

use super::run::refused;
use super::support::{call, faulty, fresh, policy, recorded};

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

/// N8: each form replays its own, and of another one it says that the answer can't be had. The
/// work runs in no case.
#[tokio::test(start_paused = true)]
async fn what_one_form_recorded_no_other_gives_out() {
    let (_, once) = faulty();
    let bytes = || once.call("bytes").operation("charge");
    // These bytes would be a value: the number 7.
    bytes().run_bytes(async |_| Ok::<_, ()>(Bytes::from_static(&[7]))).await.unwrap();
    once.call("value").operation("charge").run(async |_| Ok::<_, ()>(7_u8)).await.unwrap();
    for form in [Form::Http, Form::Error] {
        let http = call(&once.default_policy(), &format!("{form:?}"));
        let payload = Bytes::from_static(&[7]);
        recorded(&mut fresh(&once, &http).await, Outcome { form, extent: Extent::Whole, payload })
            .await;
    }
    let unavailable = Code::ResponseUnavailable;
    for key in ["bytes", "Http", "Error"] {
        let typed = once.call(key).operation("charge").run(async |_| Err::<u8, _>("ran")).await;
        assert_eq!(refused(typed).code(), unavailable, "{key}");
        let peeked = once.call(key).operation("charge").peek::<u8>().await;
        assert_eq!(refused(peeked).code(), unavailable, "{key}");
    }
    for key in ["value", "Http", "Error"] {
        assert_eq!(refused(again(&once, key).await).code(), unavailable, "{key}");
        let peeked = once.call(key).operation("charge").peek_bytes().await;
        assert_eq!(refused(peeked).code(), unavailable, "{key}");
    }
    // Whose door had an operation of its own, it belongs to that one.
    let other = once.call("Http").operation("orders.create");
    assert_eq!(refused(other.run(async |_| Err::<u8, _>("ran")).await).code(), Code::KeyReused);
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
