//! R4, R6, R10, D6: looking for a call's answer without ever running it.

use semel::core::StoreOp;
use semel::core::protocol::{Status, Successor};
use semel::core::{Doubt, Expect, Next, Store, Swap};
use semel::timer::sleep;
use semel::{Attached, Begun, Call, Code, Fingerprint, GivenUp, PartDigest, Scope};

use super::support::{
    LEASE, bytes, call, faulty, fresh, impatient, operation, patient, recorded, secs, until,
};

fn attached_bytes(attached: Attached) -> Vec<u8> {
    match attached {
        Attached::Replay(replay) => replay.outcome.payload.to_vec(),
        other => panic!("no answer: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn in_every_state_it_tells_what_is_there() {
    let (store, once) = faulty();
    let call = call(&impatient(), "k");
    assert!(matches!(once.attach(&call).await, Attached::Nothing), "never begun");
    let mut claim = fresh(&once, &call).await;
    assert!(matches!(once.attach(&call).await, Attached::Busy(_)), "running");
    recorded(&mut claim, bytes(b"done")).await;
    assert_eq!(attached_bytes(once.attach(&call).await), b"done");
    sleep(secs(86_401)).await;
    assert!(matches!(once.attach(&call).await, Attached::Nothing), "forgotten");
    assert_eq!(fresh(&once, &call).await.release().await, GivenUp::Settled);
    assert!(matches!(once.attach(&call).await, Attached::Nothing), "released");
    assert_eq!(fresh(&once, &call).await.doubt(Doubt::CutOff).await, GivenUp::Settled);
    let Attached::Refused(problem) = once.attach(&call).await else { panic!() };
    assert_eq!(problem.code(), Code::InDoubt);
    let swaps = store.calls(StoreOp::Swap);
    drop(once.attach(&call).await);
    assert_eq!(store.calls(StoreOp::Swap), swaps, "nothing is written");
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_is_gone_leaves_doubt() {
    let (_, once) = faulty();
    let call = call(&patient(secs(100)), "k");
    drop(fresh(&once, &call).await);
    let Attached::Refused(problem) = once.attach(&call).await else { panic!() };
    assert_eq!(problem.code(), Code::InDoubt, "after its lease has ended");
}

/// Many attach to a call that runs: one run, and who goes away does not cut it off.
#[tokio::test(start_paused = true)]
async fn many_attach_to_one_run() {
    let (_, once) = faulty();
    let call = call(&patient(secs(100)), "k");
    let mut claim = fresh(&once, &call).await;
    let attach = || {
        let (once, call) = (once.clone(), call.clone());
        tokio::spawn(async move { once.attach(&call).await })
    };
    let (stay, go): (Vec<_>, Vec<_>) = (0..50).map(|_| (attach(), attach())).unzip();
    sleep(secs(1)).await;
    go.iter().for_each(tokio::task::JoinHandle::abort);
    sleep(LEASE).await;
    assert_eq!((once.watched(), once.held()), (1, 1));
    recorded(&mut claim, bytes(b"done")).await;
    for attached in stay {
        assert_eq!(attached_bytes(attached.await.unwrap()), b"done");
    }
    until("nobody waits", || once.watched() == 0).await;
}

/// The call that was waited for is released meanwhile: there is nothing to attach to.
#[tokio::test(start_paused = true)]
async fn a_call_that_fails_meanwhile_leaves_nothing() {
    let (_, once) = faulty();
    let call = call(&patient(secs(100)), "k");
    let claim = fresh(&once, &call).await;
    let (attaches, attached) = (once.clone(), call.clone());
    let waiter = tokio::spawn(async move { attaches.attach(&attached).await });
    sleep(secs(1)).await;
    assert_eq!(claim.release().await, GivenUp::Settled);
    assert!(matches!(waiter.await.unwrap(), Attached::Nothing));
}

/// A4, own finding there: the same key with another payload is not attached to, nor is another
/// operation's, in flight or done, directly or by way of a lost claim.
#[tokio::test(start_paused = true)]
async fn the_answer_to_another_request_is_never_given_out() {
    let (store, once) = faulty();
    let of = |name, input: &[u8]| {
        let digest = Fingerprint::builder().digest("input", PartDigest::of(input)).build();
        let call = Call::new(&impatient(), &Scope::anonymous(), "k", operation(name)).unwrap();
        call.with_fingerprint(digest)
    };
    let (ours, theirs) = (of("charge", b"1"), of("charge", b"2"));
    let mut late = fresh(&once, &ours).await;
    let key = ours.key().clone();
    let removed = store.swap(&key, Expect::Any, Next::Delete).await.unwrap();
    assert!(matches!(removed, Swap::Won(_)));
    let mut claim = fresh(&once, &theirs).await;
    for done in [false, true] {
        let semel::Finished::Superseded(successor) = late.record(bytes(b"1")).await else {
            panic!("done: {done}")
        };
        assert_eq!(successor, Successor::Other);
        for attached in [once.attach(&ours).await, once.attach_to(&ours, successor).await] {
            let Attached::Refused(problem) = attached else { panic!("{attached:?}") };
            assert_eq!(problem.code(), Code::PayloadMismatch);
        }
        let Attached::Refused(problem) = once.attach(&of("refund", b"2")).await else { panic!() };
        assert_eq!(problem.code(), Code::KeyReused);
        if !done {
            recorded(&mut claim, bytes(b"2")).await;
        }
    }
    assert_eq!(attached_bytes(once.attach(&theirs).await), b"2");
}

#[tokio::test(start_paused = true)]
async fn a_look_waits_for_nothing_and_tells_every_state() {
    let (store, once) = faulty();
    let call = call(&patient(secs(100)), "k");
    let peek = async || once.peek(call.key()).await.unwrap();
    assert_eq!(peek().await, Status::Absent);
    let mut claim = fresh(&once, &call).await;
    let Status::InFlight { lease_left } = peek().await else { panic!() };
    assert_eq!(lease_left.as_duration(), LEASE);
    recorded(&mut claim, bytes(b"done")).await;
    assert_eq!(peek().await, Status::Done(bytes(b"done")));
    assert_eq!(store.calls(StoreOp::Read), 3);
    let Begun::Replay(_) = once.begin(&call).await else { panic!() };
}
