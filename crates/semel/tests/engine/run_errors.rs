//! The function form: errors that stand.

use std::sync::atomic::{AtomicU32, Ordering};

use semel::timer::sleep;
use semel::{CallError, Code, Finality, Guarantee, Once};
use serde::{Deserialize, Serialize, Serializer};

use super::run::refused;
use super::support::{LEASE, faulty, impatient, policy, secs, trips};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum PayError {
    Declined { reason: String, limits: Vec<Option<u64>> },
    Gone,
    Timeout,
}

fn judge(error: &PayError) -> Finality {
    match error {
        PayError::Declined { .. } | PayError::Gone => Finality::Final,
        PayError::Timeout => Finality::Transient,
    }
}

fn declined() -> PayError {
    PayError::Declined { reason: "é".to_owned(), limits: vec![Some(0), None, Some(u64::MAX)] }
}

async fn pay(once: &Once, runs: &AtomicU32, end: Result<u64, PayError>) -> Ended {
    let work = async |_| {
        runs.fetch_add(1, Ordering::SeqCst);
        end
    };
    once.call("k").failures(judge).run(work).await
}

type Ended = Result<u64, CallError<PayError>>;

fn failed(ended: Ended) -> PayError {
    match ended {
        Err(CallError::Work(error)) => error,
        other => panic!("it did not fail: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_stands_comes_back_equal_and_the_work_does_not_run_again() {
    for error in [declined(), PayError::Gone] {
        let ((store, once), runs) = (faulty(), AtomicU32::new(0));
        for round in 0..3 {
            // What the work would answer now makes no difference.
            let end = if round == 0 { Err(error.clone()) } else { Ok(round) };
            assert_eq!(failed(pay(&once, &runs, end).await), error);
            assert_eq!(trips(&store), (2 + round, 0));
        }
        assert_eq!((runs.load(Ordering::SeqCst), once.held()), (1, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_does_not_stand_frees_the_key_or_is_in_doubt() {
    let ((_, once), runs) = (faulty(), AtomicU32::new(0));
    for _ in 0..2 {
        assert_eq!(failed(pay(&once, &runs, Err(PayError::Timeout)).await), PayError::Timeout);
    }
    assert_eq!(pay(&once, &runs, Ok(7)).await.unwrap(), 7);
    assert_eq!(pay(&once, &runs, Err(declined())).await.unwrap(), 7);
    assert_eq!(runs.load(Ordering::SeqCst), 3);
    let bundle = policy(|policy| policy.guarantee(Guarantee::AtMostOnce));
    for (key, error, code) in
        [("final", declined(), None), ("late", PayError::Timeout, Some(Code::InDoubt))]
    {
        let call = || once.call(key).policy(std::sync::Arc::clone(&bundle)).failures(judge);
        assert_eq!(failed(call().run(async |_| Err(error.clone())).await), error);
        let again = call().run(async |_| Ok(1_u64)).await;
        match code {
            None => assert_eq!(failed(again), error),
            Some(code) => assert_eq!(refused(again).code(), code),
        }
    }
}

/// Who asks for no errors, or for other ones, is told that there is an answer and it can't be had.
#[tokio::test(start_paused = true)]
async fn an_error_that_stands_is_unavailable_to_who_can_not_read_it() {
    let ((_, once), runs) = (faulty(), AtomicU32::new(0));
    failed(pay(&once, &runs, Err(declined())).await);
    let code = Code::ResponseUnavailable;
    assert_eq!(refused(once.call("k").run(async |_| Err::<u64, _>("ran")).await).code(), code);
    assert_eq!(refused(once.call("k").run_bytes(async |_| Err("ran")).await).code(), code);
    let other = once.call("k").failures(|_: &u8| Finality::Final);
    assert_eq!(refused(other.run(async |_| Err::<u64, _>(1)).await).code(), code);
    assert_eq!(refused(once.call("k").peek::<u64>().await).code(), code);
    // And the reverse: a value that was recorded without a rule is a value.
    once.call("v").run(async |_| Ok::<_, ()>(5_u64)).await.unwrap();
    assert_eq!(
        once.call("v").failures(judge).run(async |_| Err::<u64, _>(declined())).await.unwrap(),
        5
    );
}

#[tokio::test(start_paused = true)]
async fn bytes_and_errors_that_stand_go_together() {
    let (_, once) = faulty();
    for _ in 0..2 {
        let result = once.call("k").failures(judge).run_bytes(async |_| Err(declined())).await;
        assert!(
            matches!(&result, Err(CallError::Work(error)) if *error == declined()),
            "{result:?}"
        );
        let result = once.call("v").failures(judge).run_bytes(async |_| Ok("v".into())).await;
        assert_eq!(&result.unwrap()[..], b"v");
    }
}

/// An error that can't be written: that there is an answer is recorded, and the caller is told.
#[tokio::test(start_paused = true)]
async fn an_error_that_can_not_be_written_stands_all_the_same() {
    #[derive(Debug, Deserialize)]
    struct Unwritable;
    impl Serialize for Unwritable {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no bytes for it"))
        }
    }
    let (_, once) = faulty();
    let call = || once.call("k").failures(|_: &Unwritable| Finality::Final);
    let first = call().run(async |_| Err::<u8, _>(Unwritable)).await;
    let Err(CallError::Codec(error)) = first else { panic!("{first:?}") };
    assert_eq!(error.to_string(), "the error can't be written as bytes");
    assert_eq!(refused(call().run(async |_| Ok(1_u8)).await).code(), Code::ResponseUnavailable);
}

/// The work was done, whatever its rule comes to: it must not run again.
#[tokio::test(start_paused = true)]
async fn an_error_over_which_the_rule_panics_stands() {
    let (_, once) = faulty();
    for _ in 0..2 {
        let judged = once.call("k").failures(|_: &PayError| panic!("on purpose"));
        assert_eq!(failed(judged.run(async |_| Err(PayError::Timeout)).await), PayError::Timeout);
    }
    assert_eq!(failed(pay(&once, &AtomicU32::new(0), Ok(1)).await), PayError::Timeout);
}

/// A late owner whose error stands is given the one answer, like everybody else.
#[tokio::test(start_paused = true)]
async fn a_late_error_that_stands_gives_way_to_the_recorded_answer() {
    let (_, once) = faulty();
    let unrenewed = policy(|policy| policy.max_execution(LEASE));
    let (late, next) = tokio::join!(
        once.call("k").policy(unrenewed).failures(judge).run(async |_| {
            sleep(LEASE + secs(30)).await;
            Err::<u64, _>(declined())
        }),
        async {
            sleep(LEASE + secs(1)).await;
            once.call("k").policy(impatient()).run(async |_| Ok::<_, ()>(7_u64)).await
        }
    );
    assert_eq!((late.unwrap(), next.unwrap()), (7, 7));
}
