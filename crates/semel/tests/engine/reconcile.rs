//! Calls in doubt that the application is asked about.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use semel::core::protocol::Successor;
use semel::timer::sleep;
use semel::{
    Begun, Code, Doubtful, Finished, GivenUp, InDoubtPolicy, InFlight, Policy, Reconcile,
    Reconciled,
};

use super::begin::refused;
use super::support::{
    LEASE, bytes, call, faulty, fresh, millis, policy, recorded, replayed, secs, trips,
};

#[derive(Debug)]
struct Knows {
    says: Reconciled,
    asked: AtomicUsize,
    last: Mutex<Option<Doubtful>>,
}

impl Reconcile for Knows {
    fn reconcile<'a>(&'a self, doubtful: &'a Doubtful) -> BoxFuture<'a, Reconciled> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        *self.last.lock() = Some(doubtful.clone());
        Box::pin(async {
            sleep(millis(100)).await;
            self.says.clone()
        })
    }
}

fn asking(says: Reconciled) -> (Arc<Knows>, Arc<Policy>) {
    let knows = Arc::new(Knows { says, asked: AtomicUsize::new(0), last: Mutex::new(None) });
    let hook = Arc::clone(&knows);
    let policy = policy(move |policy| {
        policy.in_doubt(InDoubtPolicy::Reconcile(hook)).in_flight(InFlight::Wait(secs(30)))
    });
    (knows, policy)
}

#[tokio::test(start_paused = true)]
async fn what_the_application_knows_of_is_replayed_and_asked_once() {
    let (knows, policy) = asking(Reconciled::Done(bytes(b"found in the ledger")));
    let (store, once) = faulty();
    let call = call(&policy, "k");
    let mut late = fresh(&once, &call).await;
    let fence = late.permit().fence();
    let permit = late.permit();
    // Its renewals can't get through, as if its process were gone.
    for _ in 0..10 {
        let gone = semel::core::StoreErrorKind::NotApplied;
        store.next(semel::core::StoreOp::Swap, semel::core::FaultAction::FailBefore(gone));
    }
    sleep(LEASE).await;
    assert!(permit.remaining().is_zero());
    while store.left(semel::core::StoreOp::Swap) > 0 {
        drop(once.begin(&call).await);
    }
    let before = trips(&store);
    assert_eq!(replayed(&once, &call).await, b"found in the ledger");
    assert_eq!(trips(&store), (before.0 + 2, before.1 + 1), "look, settle, look");
    assert_eq!(replayed(&once, &call).await, b"found in the ledger");
    assert_eq!(knows.asked.load(Ordering::SeqCst), 1);
    let asked = knows.last.lock().clone().unwrap();
    assert_eq!((asked.key, asked.attempt), (call.key().clone(), 1));
    assert_eq!(asked.since.as_micros(), fence.get());
    assert_eq!(asked.operation.as_str(), "charge");
    // The owner was only late: it gets what everybody gets.
    let finished = late.record(bytes(b"late")).await;
    let Finished::Superseded(Successor::Done(outcome)) = finished else { panic!("{finished:?}") };
    assert_eq!(outcome.payload, "found in the ledger");
}

#[tokio::test(start_paused = true)]
async fn what_took_no_effect_runs_again_with_a_higher_fence() {
    let (_, policy) = asking(Reconciled::NoEffect);
    let (_, once) = faulty();
    let call = call(&policy, "k");
    let first = fresh(&once, &call).await;
    let (fence, late) = (first.permit().fence(), first);
    let marked = late.doubt(semel::core::Doubt::CutOff).await;
    assert_eq!(marked, GivenUp::Settled);
    let second = fresh(&once, &call).await;
    assert!(second.permit().fence() > fence);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_knows_stays_in_doubt_and_is_asked_again() {
    let (knows, policy) = asking(Reconciled::Unknown);
    let (_, once) = faulty();
    let call = call(&policy, "k");
    drop(fresh(&once, &call).await);
    sleep(LEASE).await;
    for times in 1..4 {
        assert_eq!(refused(once.begin(&call).await).code(), Code::InDoubt);
        assert_eq!(knows.asked.load(Ordering::SeqCst), times);
    }
}

/// All ask at once, and each of them may settle it: it is settled once.
#[tokio::test(start_paused = true)]
async fn of_many_who_ask_at_once_one_runs_and_all_get_its_answer() {
    for done in [false, true] {
        let answer = bytes(b"known");
        let (_, policy) =
            asking(if done { Reconciled::Done(answer) } else { Reconciled::NoEffect });
        let (_, once) = faulty();
        let call = call(&policy, "k");
        drop(fresh(&once, &call).await);
        sleep(LEASE).await;
        let runs = Arc::new(AtomicUsize::new(0));
        let callers = (0..20).map(|_| {
            let (once, call, runs) = (once.clone(), call.clone(), Arc::clone(&runs));
            tokio::spawn(async move {
                match once.begin(&call).await {
                    Begun::Fresh(mut claim) => {
                        runs.fetch_add(1, Ordering::SeqCst);
                        sleep(secs(5)).await;
                        recorded(&mut claim, bytes(b"known")).await;
                    }
                    Begun::Replay(replay) => assert_eq!(replay.outcome.payload, "known"),
                    other => panic!("{other:?}"),
                }
            })
        });
        for caller in callers.collect::<Vec<_>>() {
            caller.await.unwrap();
        }
        assert_eq!(runs.load(Ordering::SeqCst), usize::from(!done));
    }
}
