//! Answers that come in pieces, of a length that nobody knows, or of another than they say.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::{Response, header};
use http_body_util::BodyExt;
use semel::core::{Fault, FaultAction, Gate, StoreOp};
use semel::{Code, Drained, OnException, Once};
use semel_http::OnDisconnect;
use tokio::sync::mpsc::UnboundedSender;

use crate::support::bodies::{Scripted, Step, piped};
use crate::support::clocks::Passed;
use crate::support::{Answer, Door, let_all_run, memory, once, order, policy, polled, settings};

fn scripted(body: Scripted) -> Door {
    Door::with(
        once(),
        |layer| layer,
        move |_| {
            let body = body.clone().body();
            async move { Ok(Response::new(body)) }
        },
    )
}

#[tokio::test]
async fn a_stream_that_fits_is_replayed_whole_after_its_end() {
    let door = scripted(Scripted::of(&["one ", "", "two ", "three"]));
    door.post("k", "{}").await.assert_is_the_handlers(200, "one two three");
    let again = door.post("k", "{}").await;
    again.assert_is_the_handlers(200, "one two three");
    assert!(again.is_marked());
    assert_eq!(door.runs.count(), 1);
}

type Pipe = UnboundedSender<Result<Bytes, std::io::Error>>;

/// A handler whose answer the test writes while it is read.
fn written(kind: &'static str, on_disconnect: OnDisconnect) -> (Door, Handed) {
    let (hand, handed) = std::sync::mpsc::channel();
    let settings = settings(|http| http.on_disconnect(on_disconnect));
    let hand = std::sync::Mutex::new(hand);
    let door = Door::with(
        once(),
        |layer| layer.settings(settings),
        move |_| {
            let (pipe, body) = piped();
            hand.lock().unwrap().send(pipe).unwrap();
            async move { Ok(Response::builder().header(header::CONTENT_TYPE, kind).body(body).unwrap()) }
        },
    );
    (door, handed)
}

type Handed = std::sync::mpsc::Receiver<Pipe>;

#[tokio::test]
async fn pieces_are_passed_on_as_they_come_and_the_end_waits_for_its_record() {
    for kind in
        ["application/octet-stream", "text/event-stream", "Text/Event-Stream; charset=utf-8"]
    {
        let (door, handed) = written(kind, OnDisconnect::Finish);
        let mut body = door.call(order("k", "{}")).await.unwrap().into_body();
        let pipe = handed.try_recv().unwrap();
        for piece in ["data: 1\n\n", "data: 2\n\n"] {
            pipe.send(Ok(Bytes::from_static(piece.as_bytes()))).unwrap();
            let frame = body.frame().await.unwrap().unwrap();
            assert_eq!(frame.into_data().unwrap(), piece);
            // Done, without its body: a repeat does not run, nor does it wait for the end.
            door.post("k", "{}").await.assert_is(Code::ResponseUnavailable);
        }
        drop(pipe);
        assert!(body.frame().await.is_none());
        let again = door.post("k", "{}").await;
        again.assert_is_the_handlers(200, "data: 1\n\ndata: 2\n\n");
        assert_eq!(again.header("content-type"), Some(kind));
        assert_eq!(door.runs.count(), 1);
    }
}

/// A stream of events whose length is known: a server that was told it asks for no end.
#[tokio::test]
async fn events_of_known_length_are_recorded_with_their_last_piece() {
    let whole = || Body::from("data: 1\n\n");
    let in_pieces = || Scripted::of(&["data: ", "1\n\n"]).saying(9).body();
    for body in [whole as fn() -> Body, in_pieces] {
        let door = Door::with(
            once(),
            |layer| layer,
            move |_| async move {
                let kind = (header::CONTENT_TYPE, "text/event-stream");
                Ok(Response::builder().header(kind.0, kind.1).body(body()).unwrap())
            },
        );
        let mut first = door.call(order("k", "{}")).await.unwrap().into_body();
        let mut read = 0;
        while read < 9 {
            read += first.frame().await.unwrap().unwrap().into_data().unwrap().len();
        }
        drop(first);
        door.post("k", "{}").await.assert_is_the_handlers(200, "data: 1\n\n");
        assert_eq!(door.runs.count(), 1);
    }
}

/// Events are not waited for, even where it is known how many bytes they will have.
#[tokio::test]
async fn events_of_known_length_are_passed_on_as_they_come() {
    let (hand, handed) = std::sync::mpsc::channel();
    let hand = std::sync::Mutex::new(hand);
    let door = Door::with(
        once(),
        |layer| layer,
        move |_| {
            let (pipe, body) = piped();
            hand.lock().unwrap().send(pipe).unwrap();
            let head = Response::builder()
                .header(header::CONTENT_TYPE, "text/event-stream")
                .header(header::CONTENT_LENGTH, 18);
            async move { Ok(head.body(body).unwrap()) }
        },
    );
    let call = door.call(order("k", "{}"));
    let mut body = polled(50, call).await.expect("nothing is waited for").unwrap().into_body();
    let pipe = handed.try_recv().unwrap();
    for _ in 0..2 {
        pipe.send(Ok(Bytes::from_static(b"data: 1\n\n"))).unwrap();
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap().len(), 9);
    }
    // The last byte that it said is its end, though its sender is still there.
    door.post("k", "{}").await.assert_is_the_handlers(200, "data: 1\n\ndata: 1\n\n");
    assert_eq!(door.runs.count(), 1);
}

/// Who has seen the end of an answer can replay it: the end is held back until it is recorded,
/// with the last piece where that is known to be the last.
#[tokio::test]
async fn the_end_of_a_stream_is_held_back_until_it_is_recorded() {
    let events = || Scripted::of(&["data: 1"]);
    for (body, pieces_before) in
        [(events(), 1), (events().telling_its_end(), 0), (events().saying(7), 0)]
    {
        let store = Fault::new(memory());
        let door = Door::with(
            Once::new(Arc::new(store.clone())),
            |layer| layer,
            move |_| {
                let response =
                    Response::builder().header(header::CONTENT_TYPE, "text/event-stream");
                let response = response.body(body.clone().body()).unwrap();
                async move { Ok(response) }
            },
        );
        let gate = Gate::closed();
        // The claim, that it was done, and all of it.
        for action in [FaultAction::Pass, FaultAction::Pass, FaultAction::HoldBefore(gate.clone())]
        {
            store.next(StoreOp::Swap, action);
        }
        let mut first = door.call(order("k", "{}")).await.unwrap().into_body();
        for _ in 0..pieces_before {
            assert_eq!(first.frame().await.unwrap().unwrap().into_data().unwrap(), "data: 1");
        }
        assert!(polled(50, first.frame()).await.is_none(), "the end is not to be seen yet");
        gate.reached(1).await;
        gate.open();
        while let Some(frame) = first.frame().await {
            frame.unwrap();
        }
        assert!(door.post("k", "{}").await.is_marked());
    }
}

/// Never replayed as if it were whole, never run again.
#[tokio::test]
async fn a_stream_that_breaks_off_is_broken_for_its_reader_and_unavailable_to_all_others() {
    for says in [None, Some(9)] {
        for before in [&["par"][..], &["par", "tia"], &[]] {
            let mut body = Scripted::of(before).then(Step::Fail);
            if let Some(length) = says {
                body = body.saying(length);
            }
            let door = scripted(body);
            let mut first = door.call(order("k", "{}")).await.unwrap().into_body();
            let mut read = String::new();
            let error = loop {
                match first.frame().await {
                    Some(Ok(frame)) => {
                        read += std::str::from_utf8(&frame.into_data().unwrap()).unwrap();
                    }
                    Some(Err(error)) => break error,
                    None => panic!("it ended as if it were whole: {read}"),
                }
            };
            assert_eq!(read, before.concat());
            assert!(format!("{error:?}").contains("the source is gone"), "{error:?}");
            drop(first);
            let_all_run().await;
            for _ in 0..2 {
                door.post("k", "{}").await.assert_is(Code::ResponseUnavailable);
            }
            assert_eq!(door.runs.count(), 1);
        }
    }
}

/// What a body says of its length and what it has: the reader gets what it has, and what differs
/// is never replayed as the whole.
#[tokio::test]
async fn a_body_of_another_length_than_it_says_is_not_replayed() {
    for says in [3, 5, 9, 200] {
        let door = scripted(Scripted::of(&["four"]).saying(says));
        let first = door.call(order("k", "{}")).await.unwrap();
        // The server sees the same breach of its word as without the layer.
        assert_eq!(http_body::Body::size_hint(first.body()).exact(), Some(says));
        assert_eq!(Answer::of(first).await.unwrap().text(), "four");
        door.post("k", "{}").await.assert_is(Code::ResponseUnavailable);
        assert_eq!(door.runs.count(), 1);
    }
    // Many pieces after the one that breaks its word all pass.
    let door = scripted(Scripted::of(&["1", "2", "3", "4"]).saying(2));
    door.post("k", "{}").await.assert_is_the_handlers(200, "1234");
    door.post("k", "{}").await.assert_is(Code::ResponseUnavailable);
}

/// The handler answered: that its body panics frees no key, whatever the policy for exceptions.
#[tokio::test]
async fn a_body_that_panics_does_not_run_again() {
    for says in [None, Some(9)] {
        let policy = policy(|policy| policy.on_exception(OnException::Release));
        let door = Door::with(
            once(),
            |layer| layer.policy(policy),
            move |_| async move {
                let body = Scripted::of(&["par"]).then(Step::Panic);
                let body = says.into_iter().fold(body, Scripted::saying);
                Ok(Response::new(body.body()))
            },
        );
        let first = {
            let door = door.clone();
            tokio::spawn(async move { door.post("k", "{}").await })
        };
        let panic = first.await.unwrap_err().into_panic();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"a body that panics"));
        let_all_run().await;
        door.post("k", "{}").await.assert_is(Code::ResponseUnavailable);
        assert_eq!(door.runs.count(), 1);
    }
}

// ===== The reader goes away =====

/// As the handler runs on whose client hung up, so does its stream: the retry gets all of it.
#[tokio::test]
async fn a_stream_whose_reader_left_is_read_on_and_replayed() {
    for frames in 0..3 {
        let (door, handed) = written("text/plain", OnDisconnect::Finish);
        let mut body = door.call(order("k", "{}")).await.unwrap().into_body();
        let pipe = handed.try_recv().unwrap();
        for piece in ["one ", "two "] {
            pipe.send(Ok(Bytes::from_static(piece.as_bytes()))).unwrap();
        }
        for _ in 0..frames {
            body.frame().await.unwrap().unwrap();
        }
        drop(body);
        let_all_run().await;
        door.post("k", "{}").await.assert_is(Code::ResponseUnavailable);
        pipe.send(Ok(Bytes::from_static(b"three"))).unwrap();
        drop(pipe);
        let_all_run().await;
        door.post("k", "{}").await.assert_is_the_handlers(200, "one two three");
        assert_eq!(door.runs.count(), 1);
    }
}

/// The answer was there, and nobody read it.
#[tokio::test]
async fn a_stream_that_nobody_fetched_is_read_and_replayed() {
    let door = scripted(Scripted::of(&["one ", "two"]));
    drop(door.call(order("k", "{}")).await.unwrap());
    let_all_run().await;
    door.post("k", "{}").await.assert_is_the_handlers(200, "one two");
    assert_eq!(door.runs.count(), 1);
}

/// Reading on has its bounds: the limit of what is kept, a time, and a graceful shutdown waits.
#[tokio::test(start_paused = true)]
async fn reading_on_ends_at_the_limit_and_after_the_time_of_a_lease() {
    let (door, handed) = written("text/plain", OnDisconnect::Finish);
    drop(door.call(order("large", "{}")).await.unwrap());
    let pipe = handed.try_recv().unwrap();
    pipe.send(Ok(Bytes::from(vec![b'x'; 1 << 20]))).unwrap();
    pipe.closed().await;

    drop(door.call(order("slow", "{}")).await.unwrap());
    let pipe = handed.try_recv().unwrap();
    let_all_run().await;
    assert_eq!(door.once.drain(Duration::from_secs(59)).await, Drained::StillRunning(1));
    assert!(!pipe.is_closed());
    let more = Passed::since_now();
    pipe.closed().await;
    assert!(more.time() <= Duration::from_secs(2), "{:?} after 59 seconds", more.time());
    assert_eq!(door.once.drain(Duration::from_secs(1)).await, Drained::All);
    for key in ["large", "slow"] {
        door.post(key, "{}").await.assert_is(Code::ResponseUnavailable);
    }
    assert_eq!(door.runs.count(), 2);
}

/// The next event may be a day away, and a handler that is to be cancelled is to be cancelled.
#[tokio::test]
async fn events_and_cancelled_streams_are_not_read_on() {
    for (kind, on_disconnect) in
        [("text/event-stream", OnDisconnect::Finish), ("text/plain", OnDisconnect::Cancel)]
    {
        let (door, handed) = written(kind, on_disconnect);
        let body = door.call(order("k", "{}")).await.unwrap().into_body();
        let pipe = handed.try_recv().unwrap();
        drop(body);
        let_all_run().await;
        assert!(pipe.is_closed(), "somebody still reads");
        door.post("k", "{}").await.assert_is(Code::ResponseUnavailable);
        assert_eq!(door.runs.count(), 1);
    }
}

/// Nothing is read ahead of its reader, so that a slow one slows the handler down.
#[tokio::test]
async fn a_stream_is_not_read_ahead_of_its_reader() {
    let in_hand = crate::support::bodies::InHand::default();
    let shown = in_hand.clone();
    let door = Door::with(
        once(),
        |layer| layer,
        move |_| {
            let body = in_hand.stream(10, 100);
            async move { Ok(Response::new(body)) }
        },
    );
    let mut body = door.call(order("k", "{}")).await.unwrap().into_body();
    let_all_run().await;
    assert_eq!(shown.most(), 0);
    let first = body.frame().await.unwrap().unwrap();
    let_all_run().await;
    assert_eq!(shown.most(), 100);
    drop(first);
}
