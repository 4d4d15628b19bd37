//! Looking at a function call, and waiting for it.

use semel::timer::sleep;
use semel::{CallBuilder, CallError, CallStatus, Code, Finality, InFlight, Once};

use super::run::refused;
use super::support::stopwatch::Stopwatch;
use super::support::{LEASE, faulty, fresh, policy, polled, secs, trips, until};

fn charge(once: &Once) -> CallBuilder<'_> {
    once.call("k").operation("charge").input(&7)
}

/// R6: absent, in flight, in doubt, done; and nothing is written by who looks.
#[tokio::test(start_paused = true)]
async fn a_call_is_looked_at_in_every_state() {
    let (store, once) = faulty();
    let peek = async || charge(&once).peek::<u8>().await.unwrap();
    let attach = async || charge(&once).attach::<u8>().await.unwrap();
    assert_eq!((peek().await, attach().await), (CallStatus::Absent, CallStatus::Absent));
    let call = super::support::call(&once.default_policy(), "k");
    let claim = fresh(&once, &call).await;
    let in_flight = CallStatus::InFlight { retry_after: Some(secs(5)) };
    assert_eq!(peek().await, in_flight);
    let began = Stopwatch::started();
    assert_eq!(attach().await, in_flight);
    assert_eq!(began.elapsed().as_secs(), 5, "as long as the policy waits");
    drop(claim);
    sleep(LEASE).await;
    let (peeked, attached) = (peek().await, attach().await);
    assert!(matches!(peeked, CallStatus::InDoubt { .. }), "{peeked:?}");
    assert_eq!(attached, peeked);
    let writes = trips(&store).0;
    assert_eq!(charge(&once).run(async |_| Ok::<_, ()>(9_u8)).await.unwrap(), 9);
    assert_eq!((peek().await, attach().await), (CallStatus::Done(9), CallStatus::Done(9)));
    assert_eq!(trips(&store).0, writes + 3, "a claim on nothing, one on what is there, a record");
}

/// R10: they wait for one run, and who goes away ends nothing.
#[tokio::test(start_paused = true)]
async fn many_wait_for_a_call_and_none_of_them_runs_or_ends_it() {
    let (_, once) = faulty();
    let runner = once.clone();
    let run = tokio::spawn(async move {
        let work = async |_| {
            sleep(secs(30)).await;
            Ok::<_, ()>("done".to_owned())
        };
        charge(&runner).run(work).await
    });
    until("it runs", || once.held() == 1).await;
    let patient = policy(|policy| policy.in_flight(InFlight::Wait(secs(100))));
    let attached: Vec<_> = (0..50)
        .map(|_| {
            let (once, policy) = (once.clone(), std::sync::Arc::clone(&patient));
            tokio::spawn(async move { charge(&once).policy(policy).attach::<String>().await })
        })
        .collect();
    let gone = charge(&once).policy(patient).attach::<String>();
    assert!(polled(3, gone).await.is_none(), "it left while it waited");
    for attached in attached {
        assert_eq!(attached.await.unwrap().unwrap(), CallStatus::Done("done".to_owned()));
    }
    assert_eq!(run.await.unwrap().unwrap(), "done");
}

/// Nobody is given the answer to another request.
#[tokio::test(start_paused = true)]
async fn who_looks_for_another_request_is_refused() {
    let (_, once) = faulty();
    charge(&once).run(async |_| Ok::<_, ()>(1_u8)).await.unwrap();
    let code = |result: Result<CallStatus<u8>, _>| refused(result).code();
    let call = || once.call("k");
    assert_eq!(code(call().peek().await), Code::KeyReused);
    assert_eq!(code(call().operation("refund").peek().await), Code::KeyReused);
    assert_eq!(code(call().operation("refund").attach().await), Code::KeyReused);
    let other = || call().operation("charge").input(&8);
    assert_eq!(code(other().peek().await), Code::PayloadMismatch);
    assert_eq!(code(other().attach().await), Code::PayloadMismatch);
    assert_eq!(code(once.call("").peek().await), Code::KeyInvalid);
    // Who compares no input is shown it.
    let blind = call().operation("charge").peek().await;
    assert_eq!(blind.unwrap(), CallStatus::Done(1));
    let text = charge(&once).attach::<String>().await;
    assert_eq!(refused(text).code(), Code::ResponseUnavailable);
}

/// Bytes and errors that stand, as they are.
#[tokio::test(start_paused = true)]
async fn bytes_and_errors_that_stand_are_looked_at_too() {
    let (_, once) = faulty();
    once.call("b").run_bytes(async |_| Ok::<_, ()>("b".into())).await.unwrap();
    for status in [once.call("b").peek_bytes().await, once.call("b").attach_bytes().await] {
        assert_eq!(status.unwrap(), CallStatus::Done("b".into()));
    }
    let failing = || once.call("e").failures(|_: &String| Finality::Final);
    let failed = failing().run(async |_| Err::<u8, _>("declined".to_owned())).await;
    assert!(matches!(failed, Err(CallError::Work(_))));
    let bytes = failing().attach_bytes().await;
    assert!(matches!(&bytes, Err(CallError::Work(error)) if error == "declined"), "{bytes:?}");
    for status in [failing().peek::<u8>().await, failing().attach::<u8>().await] {
        assert!(
            matches!(&status, Err(CallError::Work(error)) if error == "declined"),
            "{status:?}"
        );
    }
}
