//! What a guarantee and a late owner come to.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use semel::core::protocol::Status;
use semel::timer::SystemClock;
use semel::{
    Attached, Begun, Call, CallError, Code, Extent, Finished, Form, Guarantee, MemoryLimits,
    MemoryStore, Once, Operation, Outcome, PartDigest, Policy, ProblemKind, Scope,
};

fn once_of(guarantee: Guarantee) -> Once {
    let policy = Policy::builder().guarantee(guarantee).build().unwrap();
    let store = Arc::new(MemoryStore::new(SystemClock::new()));
    Once::builder(store).policy(Arc::new(policy)).build()
}

fn call(once: &Once, input: &[u8]) -> Call {
    let operation = Operation::new("charge").unwrap();
    let call = Call::new(&once.default_policy(), &Scope::anonymous(), "k", operation).unwrap();
    let digest = PartDigest::of(input);
    call.with_fingerprint(semel::Fingerprint::builder().digest("input", digest).build())
}

fn whole(bytes: Vec<u8>) -> Outcome {
    Outcome { form: Form::Bytes, extent: Extent::Whole, payload: Bytes::from(bytes) }
}

#[tokio::test]
async fn failed_work_runs_again_but_not_where_it_may_have_one_effect_at_most() {
    for (guarantee, runs_expected) in
        [(Guarantee::Retryable, 2), (Guarantee::Cooperative, 2), (Guarantee::AtMostOnce, 1)]
    {
        let (once, runs) = (once_of(guarantee), AtomicU32::new(0));
        let work = async || {
            once.call("k")
                .run(async |_| {
                    runs.fetch_add(1, Ordering::SeqCst);
                    Err::<u8, _>("declined")
                })
                .await
        };
        assert!(matches!(work().await, Err(CallError::Work("declined"))));
        let again = work().await;
        assert_eq!(runs.load(Ordering::SeqCst), runs_expected, "{guarantee}");
        if guarantee == Guarantee::AtMostOnce {
            let Err(CallError::Refused(problem)) = again else { panic!("{again:?}") };
            assert_eq!(problem.code(), Code::InDoubt);
        }
    }
}

#[tokio::test]
async fn the_answer_to_another_request_is_not_given_to_who_attaches() {
    let once = once_of(Guarantee::Retryable);
    let (ours, theirs) = (call(&once, b"ours"), call(&once, b"theirs"));
    let Begun::Fresh(mut claim) = once.begin(&theirs).await else { panic!() };
    assert!(matches!(claim.record(whole(b"theirs".to_vec())).await, Finished::Recorded));
    let Attached::Refused(problem) = once.attach(&ours).await else { panic!() };
    let differs = vec!["input".into()];
    assert_eq!(problem.kind(), &ProblemKind::PayloadMismatch { differs });
    assert!(matches!(once.attach(&theirs).await, Attached::Replay(_)));
}

#[tokio::test]
async fn what_a_store_refuses_whole_is_recorded_in_part() {
    let limits = MemoryLimits { value_bytes: 1_000, ..MemoryLimits::default() };
    let store = MemoryStore::with_limits(SystemClock::new(), limits);
    let once = Once::new(Arc::new(store));
    for (less, kept) in [(b"the head".to_vec(), 8), (vec![7; 2_000], 0)] {
        let operation = Operation::new("o").unwrap();
        let key = format!("k-{kept}");
        let call = Call::new(&once.default_policy(), &Scope::anonymous(), &key, operation).unwrap();
        let Begun::Fresh(mut claim) = once.begin(&call).await else { panic!() };
        let finished = claim.record_or(whole(vec![1; 2_000]), || whole(less)).await;
        assert!(matches!(finished, Finished::RecordedInPart), "{finished:?}");
        let Status::Done(outcome) = once.peek(call.key()).await.unwrap() else { panic!() };
        assert_eq!((outcome.extent, outcome.payload.len()), (Extent::Partial, kept));
    }
}
