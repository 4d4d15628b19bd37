//! Clients that hang up, at every point at which they can.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use semel::core::{Fault, FaultAction, Gate, StoreOp};
use semel::timer::sleep;
use semel::{Code, Drained, InFlight, Once};
use semel_http::{IdempotencyLayer, OnDisconnect};
use tower::{Layer, ServiceExt};

use crate::support::bodies::{Scripted, Step};
use crate::support::door::created;
use crate::support::store::{Comes, Doing, NOT_APPLIED, Ruled};
use crate::support::{
    Answer, Door, Work, alice, let_all_run, memory, once, order, policy, polled, settings,
};

/// Every await of the way, and some: the handler's, the store's, the body's.
const POLLS: usize = 24;

/// A handler with several awaits, before and after its effect.
fn slow(once: Once, on_disconnect: OnDisconnect) -> Door {
    let settings = settings(|http| http.on_disconnect(on_disconnect));
    Door::with(
        once,
        |layer| layer.settings(settings),
        |asked| async move {
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            Ok(created(asked.run))
        },
    )
}

/// Disconnect class (fiber's, fullstackhero#1333, caura#1629, khive#2091, Y1): the client hangs
/// up after the k-th poll; the handler runs on, is recorded, and the retry gets its answer.
#[tokio::test(start_paused = true)]
async fn whenever_the_client_hangs_up_the_work_runs_once_and_the_retry_gets_its_answer() {
    for polls in 0..POLLS {
        let door = slow(once(), OnDisconnect::Finish);
        let gone = polled(polls, door.call(order("k", "{}"))).await;
        let answered = gone.is_some();
        drop(gone);
        // The retry comes at once, while the first may still run.
        let retry = door.post("k", "{}").await;
        retry.assert_is_the_handlers(201, "order 1");
        assert_eq!(door.runs.count(), 1, "hung up after {polls} polls");
        assert!(!answered || retry.is_marked());
        let_all_run().await;
        assert_eq!((door.once.held(), door.once.tasks().len()), (0, 0), "nothing is left behind");
    }
}

/// The same with a retry that hangs up too, and a third.
#[tokio::test(start_paused = true)]
async fn however_many_hang_up_the_work_runs_once() {
    for polls in 1..POLLS {
        let door = slow(once(), OnDisconnect::Finish);
        for _ in 0..3 {
            drop(polled(polls, door.call(order("k", "{}"))).await);
        }
        door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
        assert_eq!(door.runs.count(), 1, "hung up after {polls} polls");
    }
}

/// X3: an upload that is aborted midway leaves nothing behind, wherever it is cut.
#[tokio::test]
async fn x3_an_upload_that_is_cut_off_claims_nothing() {
    let work = Work::new(|asked| async move { Ok(created(asked.run)) });
    let runs = work.runs();
    let once = once();
    let service = IdempotencyLayer::new(once.clone()).layer(work);
    for pieces in 0..5 {
        let body = Scripted::new((0..pieces).map(|_| Step::Data(Bytes::from_static(b"{"))));
        let request = Request::post("/orders").header("idempotency-key", "k").extension(alice());
        let request = request.body(body.then(Step::Fail)).unwrap();
        let response = service.clone().oneshot(request).await.unwrap();
        let answer = Answer::of(response).await.unwrap();
        assert_eq!(answer.status.as_u16(), 400);
        assert_eq!(answer.json()["type"], "about:blank");
        assert_eq!(answer.json()["sameKey"], true);
    }
    assert_eq!((runs.count(), once.held(), once.tasks().len()), (0, 0, 0));
    let request = Request::post("/orders").header("idempotency-key", "k").extension(alice());
    let whole = request.body(Scripted::of(&["{}"])).unwrap();
    let answer = Answer::of(service.oneshot(whole).await.unwrap()).await.unwrap();
    answer.assert_is_the_handlers(201, "order 1");
}

/// A client that goes away while it sends.
#[tokio::test]
async fn x3_an_upload_whose_client_is_gone_claims_nothing() {
    let work = Work::new(|asked| async move { Ok(created(asked.run)) });
    let runs = work.runs();
    let once = once();
    let service = IdempotencyLayer::new(once.clone()).layer(work);
    let halting = stream::iter([Ok::<_, std::io::Error>(Frame::data(Bytes::from_static(b"{")))]);
    let halting = futures_util::StreamExt::chain(halting, stream::pending());
    let request = Request::post("/orders").header("idempotency-key", "k").extension(alice());
    let request = request.body(StreamBody::new(halting)).unwrap();
    assert!(polled(10, service.oneshot(request)).await.is_none());
    assert_eq!((runs.count(), once.held(), once.tasks().len()), (0, 0, 0));
}

// ===== Cancel =====

/// What a cut-off handler did is not known: its key stays held until the lease ends, and only
/// then may another run.
#[tokio::test(start_paused = true)]
async fn a_handler_that_is_to_be_cancelled_is_dropped_and_its_key_stays_held_for_a_lease() {
    struct Tells(tokio::sync::mpsc::UnboundedSender<()>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.send(()).ok();
        }
    }
    let (tell, mut dropped) = tokio::sync::mpsc::unbounded_channel();
    let settings = settings(|http| http.on_disconnect(OnDisconnect::Cancel));
    let reject = policy(|policy| policy.in_flight(InFlight::Reject));
    let door = Door::with(
        once(),
        |layer| layer.policy(reject).settings(settings),
        move |asked| {
            let tells = Tells(tell.clone());
            async move {
                let _tells = tells;
                if asked.run == 1 {
                    sleep(Duration::from_secs(600)).await;
                }
                Ok(created(asked.run))
            }
        },
    );
    let call = door.call(order("k", "{}"));
    assert!(polled(5, call).await.is_none());
    dropped.recv().await.unwrap();
    assert_eq!(door.runs.count(), 1);
    sleep(Duration::from_secs(59)).await;
    door.post("k", "{}").await.assert_is(Code::InProgress);
    sleep(Duration::from_secs(2)).await;
    door.post("k", "{}").await.assert_is_the_handlers(201, "order 2");
}

/// A handler that has not begun had no effect: the key is free at once.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_before_its_handler_begins_leaves_the_key_free() {
    for polls in 0..POLLS {
        let reject = policy(|policy| policy.in_flight(InFlight::Reject));
        let settings = settings(|http| http.on_disconnect(OnDisconnect::Cancel));
        let door = Door::with(
            once(),
            |layer| layer.policy(reject).settings(settings),
            |asked| async move {
                sleep(Duration::from_secs(1)).await;
                Ok(created(asked.run))
            },
        );
        let answered = polled(polls, door.call(order("k", "{}"))).await.is_some();
        let_all_run().await;
        let begun = door.runs.count() == 1;
        let retry = door.post("k", "{}").await;
        if begun && !answered {
            retry.assert_is(Code::InProgress);
        } else {
            retry.assert_is_the_handlers(201, "order 1");
        }
        assert_eq!(door.runs.count(), 1, "hung up after {polls} polls");
    }
}

/// The same while the store still writes the claim: then it is given back.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_while_it_is_claimed_leaves_the_key_free() {
    for on_disconnect in [OnDisconnect::Cancel, OnDisconnect::Finish] {
        let (store, gate) = (Fault::new(memory()), Gate::closed());
        store.next(StoreOp::Swap, FaultAction::HoldAfter(gate.clone()));
        let door = slow(Once::new(Arc::new(store)), on_disconnect);
        let call = door.call(order("k", "{}"));
        assert!(polled(10, call).await.is_none());
        gate.reached(1).await;
        gate.open();
        let_all_run().await;
        let runs = u32::from(on_disconnect == OnDisconnect::Finish);
        assert_eq!((door.runs.count(), door.once.held()), (runs, 0));
        door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
    }
}

/// Unprotected work is cancelled like any other.
#[tokio::test(start_paused = true)]
async fn work_without_a_store_is_cancelled_too() {
    let store = Ruled::new(|doing| match doing {
        Doing::Claim => Comes::Before(NOT_APPLIED),
        _ => Comes::Through,
    });
    for (on_disconnect, ends) in [(OnDisconnect::Cancel, false), (OnDisconnect::Finish, true)] {
        let open = policy(|policy| policy.store_down(semel::StoreDown::Open));
        let settings = settings(|http| http.on_disconnect(on_disconnect));
        let ended = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let end = Arc::clone(&ended);
        let change = |layer: IdempotencyLayer| layer.policy(open).settings(settings);
        let door = Door::with(Once::new(store.clone()), change, move |_| {
            let end = Arc::clone(&end);
            async move {
                sleep(Duration::from_secs(1)).await;
                end.store(true, std::sync::atomic::Ordering::SeqCst);
                Ok(Response::new(Body::empty()))
            }
        });
        assert!(polled(5, door.call(order("k", "{}"))).await.is_none());
        sleep(Duration::from_secs(5)).await;
        assert_eq!(ended.load(std::sync::atomic::Ordering::SeqCst), ends);
    }
}

// ===== Shutdown =====

/// A graceful shutdown waits for detached handlers and for their records.
#[tokio::test(start_paused = true)]
async fn draining_waits_for_detached_work_and_its_record() {
    let store = memory();
    let door = Door::with(
        Once::new(Arc::new(store.clone())),
        |layer| layer,
        |asked| async move {
            sleep(Duration::from_secs(10)).await;
            Ok(created(asked.run))
        },
    );
    assert!(polled(5, door.call(order("k", "{}"))).await.is_none());
    assert_eq!(door.once.drain(Duration::from_secs(9)).await, Drained::StillRunning(1));
    assert_eq!(door.once.drain(Duration::from_secs(9)).await, Drained::All);
    // The next process finds the answer.
    let next = Door::counting(Once::new(Arc::new(store)), |layer| layer);
    assert!(next.post("k", "{}").await.is_marked());
    assert_eq!((door.runs.count(), next.runs.count()), (1, 0));
}

/// The runtime is torn down under work that nobody waits for any more: nothing panics, nothing is
/// counted as running, and its key is not free.
#[test]
fn a_runtime_that_goes_away_under_the_work_leaves_its_key_held() {
    let layer = |layer: IdempotencyLayer| layer.in_flight(InFlight::Reject);
    let door = Door::with(once(), layer, |_| std::future::pending());
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let inner = runtime();
    inner.block_on(async {
        let mut call = Box::pin(door.call(order("k", "{}")));
        assert!(crate::support::poll_once(call.as_mut()).is_pending());
        drop(call);
        let_all_run().await;
        assert_eq!(door.once.tasks().len(), 1, "it goes on");
    });
    drop(inner);
    assert_eq!((door.runs.count(), door.once.tasks().len()), (1, 0));
    runtime().block_on(async { door.post("k", "{}").await.assert_is(Code::InProgress) });
}

/// The work runs where its answer is waited for, and goes along wherever that is.
#[test]
fn work_goes_on_in_another_runtime_with_whoever_waits_for_it() {
    let (go, wait) = tokio::sync::oneshot::channel();
    let wait = Arc::new(std::sync::Mutex::new(Some(wait)));
    let door = Door::with(
        once(),
        |layer| layer,
        move |asked| {
            let wait = wait.lock().unwrap().take();
            async move {
                wait.unwrap().await.unwrap();
                Ok(created(asked.run))
            }
        },
    );
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut call = Box::pin(door.call(order("k", "{}")));
    runtime().block_on(async {
        assert!(crate::support::poll_once(call.as_mut()).is_pending());
    });
    go.send(()).unwrap();
    let answer = runtime().block_on(async { Answer::of(call.await.unwrap()).await.unwrap() });
    assert_eq!((answer.status.as_u16(), door.runs.count()), (201, 1));
}
