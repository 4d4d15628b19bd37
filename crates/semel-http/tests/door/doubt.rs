//! An owner that is gone, and what the policy for doubt makes of its call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::Response;
use semel::timer::sleep;
use semel::{
    Begun, Call, Code, Doubtful, InDoubtPolicy, InFlight, Operation, Policy, Reconcile, Reconciled,
};
use semel_http::{HttpSettings, outcome_of};

use crate::support::{Door, alice, once, policy};

/// A call whose owner died, and whose lease is over.
async fn abandoned(in_doubt: InDoubtPolicy) -> Door {
    let policy = policy(|policy| policy.in_doubt(in_doubt).in_flight(InFlight::Reject));
    let door = Door::counting(once(), |layer| layer.policy(Arc::clone(&policy)));
    leave(&door, &policy).await;
    door
}

async fn leave(door: &Door, policy: &Arc<Policy>) {
    let operation = Operation::new("POST /orders").unwrap();
    let call = Call::new(policy, &alice(), "k", operation).unwrap();
    let Begun::Fresh(claim) = door.once.begin(&call).await else { panic!("it is free") };
    drop(claim);
    sleep(Duration::from_secs(60)).await;
}

/// P4: what follows the end of a lease is a choice.
#[tokio::test(start_paused = true)]
async fn p4_the_next_caller_takes_over_by_default() {
    let door = abandoned(InDoubtPolicy::Rerun).await;
    door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
}

#[tokio::test(start_paused = true)]
async fn p4_or_nobody_does() {
    let door = abandoned(InDoubtPolicy::Reject).await;
    for _ in 0..3 {
        door.post("k", "{}").await.assert_is(Code::InDoubt);
    }
    assert_eq!(door.runs.count(), 0);
}

/// Knows what it is told to know, and whom it was asked about.
#[derive(Debug, Default)]
struct Knows {
    answers: Mutex<Vec<Reconciled>>,
    asked: Mutex<Vec<String>>,
}

impl Reconcile for Knows {
    fn reconcile<'a>(&'a self, doubtful: &'a Doubtful) -> BoxFuture<'a, Reconciled> {
        self.asked.lock().unwrap().push(doubtful.operation.as_str().to_owned());
        let answer = self.answers.lock().unwrap().pop().unwrap_or(Reconciled::Unknown);
        async { answer }.boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn p4_or_the_application_is_asked() {
    let response = Response::builder()
        .status(201)
        .header("location", "/orders/7")
        .header("set-cookie", "a=1")
        .body(Bytes::from_static(b"order 7"))
        .unwrap();
    let done = Reconciled::Done(outcome_of(&HttpSettings::default(), &response));
    let knows = Arc::new(Knows::default());
    *knows.answers.lock().unwrap() = vec![done, Reconciled::Unknown];
    let door = abandoned(InDoubtPolicy::Reconcile(knows.clone())).await;
    // First it does not know, then it does.
    door.post("k", "{}").await.assert_is(Code::InDoubt);
    for _ in 0..2 {
        let answer = door.post("k", "{}").await;
        answer.assert_is_the_handlers(201, "order 7");
        assert_eq!(answer.header("location"), Some("/orders/7"));
        assert_eq!(answer.header("set-cookie"), None);
        assert!(answer.is_marked());
    }
    assert_eq!(*knows.asked.lock().unwrap(), ["POST /orders", "POST /orders"]);
    assert_eq!(door.runs.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn p4_who_is_asked_may_know_that_there_was_no_effect() {
    let knows = Knows { answers: Mutex::new(vec![Reconciled::NoEffect]), ..Knows::default() };
    let door = abandoned(InDoubtPolicy::Reconcile(Arc::new(knows))).await;
    door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
}

/// A hook that panics tells nothing: nothing runs, and the panic goes on to the caller.
#[tokio::test(start_paused = true)]
async fn a_hook_that_panics_leaves_the_call_in_doubt() {
    #[derive(Debug)]
    struct Panics;
    impl Reconcile for Panics {
        fn reconcile<'a>(&'a self, _: &'a Doubtful) -> BoxFuture<'a, Reconciled> {
            panic!("a hook that panics")
        }
    }
    let door = abandoned(InDoubtPolicy::Reconcile(Arc::new(Panics))).await;
    for _ in 0..2 {
        let door = door.clone();
        let asks = tokio::spawn(async move { door.post("k", "{}").await });
        let panic = asks.await.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"a hook that panics"));
    }
    assert_eq!(door.runs.count(), 0);
}
