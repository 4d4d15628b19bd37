//! On the wire: HTTP/1.1 byte by byte, and HTTP/2.

use std::time::Duration;

use axum::body::Body;
use http::{HeaderMap, HeaderValue, Response, header};
use semel::Code;

use crate::support::bodies::{Scripted, Step, piped};
use crate::support::door::created;
use crate::support::server::{Raw, h1_post, h2_client, h2_order, serve};
use crate::support::{Answer, Door, once, until};

/// The lines of a head, in lower case, and what follows it.
fn parsed(message: &str) -> (Vec<String>, &str) {
    let (head, body) = message.split_once("\r\n\r\n").unwrap();
    (head.to_ascii_lowercase().lines().map(str::to_owned).collect(), body)
}

fn lines<'a>(head: &'a [String], name: &str) -> Vec<&'a str> {
    head.iter().filter_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).collect()
}

async fn exchange(at: std::net::SocketAddr, key: &str, more: &str) -> String {
    let mut raw = Raw::connect(at).await;
    raw.write(&h1_post(key, &format!("Connection: close\r\n{more}"), "{}")).await;
    raw.rest().await
}

/// N3: a recorded `Transfer-Encoding` was sent again, before a body that was not chunked.
#[tokio::test]
async fn n3_the_framing_of_a_replay_is_its_own() {
    let door = Door::with(
        once(),
        |layer| layer,
        |_| async {
            let response = Response::builder()
                .header(header::TRANSFER_ENCODING, "chunked")
                .header(header::CONNECTION, "x-hop")
                .header("x-hop", "1")
                .header(header::DATE, "Thu, 01 Jan 1970 00:00:00 GMT")
                .header(header::ETAG, "\"1\"");
            Ok(response.body(Scripted::of(&["one ", "two"]).body()).unwrap())
        },
    );
    let at = serve(door.service.clone()).await;
    let (head, body) = {
        let first = exchange(at, "k", "").await;
        let (h, b) = parsed(&first);
        (h, b.to_owned())
    };
    assert_eq!(lines(&head, "transfer-encoding"), ["chunked"]);
    assert_eq!(body, "4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n");
    assert_eq!(lines(&head, "date"), ["thu, 01 jan 1970 00:00:00 gmt"]);

    let again = exchange(at, "k", "").await;
    let (head, body) = parsed(&again);
    assert_eq!(head[0], "http/1.1 200 ok");
    assert_eq!(body, "one two");
    assert_eq!(lines(&head, "content-length"), ["7"]);
    assert_eq!(lines(&head, "transfer-encoding"), [""; 0]);
    assert_eq!(lines(&head, "x-hop"), [""; 0]);
    let dates = lines(&head, "date");
    assert!(dates.len() == 1 && !dates[0].contains("1970"), "{dates:?}");
    assert_eq!(lines(&head, "etag"), ["\"1\""]);
    assert_eq!(lines(&head, "idempotent-replayed"), ["true"]);
    assert_eq!(door.runs.count(), 1);
}

/// F-17: requests that are sent without waiting for answers get them in their order: a refusal that
/// takes no time does not overtake the work before it.
#[tokio::test]
async fn f17_pipelined_requests_are_answered_in_their_order() {
    let door = Door::with(
        once(),
        |layer| layer,
        |_| async {
            semel::timer::sleep(Duration::from_millis(200)).await;
            Ok(Response::new(Body::from("made")))
        },
    );
    let at = serve(door.service.clone()).await;
    let mut raw = Raw::connect(at).await;
    let work = h1_post("k", "", "{}");
    let refused = h1_post("k", "Idempotency-Key: another\r\n", "{}");
    let repeat = h1_post("k", "Connection: close\r\n", "{}");
    raw.write(&format!("{work}{refused}{repeat}")).await;
    let all = raw.rest().await;
    // A body ends without a line's end, so a status does not begin a line.
    let answers: Vec<_> = all.split("HTTP/1.1 ").skip(1).collect();
    let statuses: Vec<_> = answers.iter().map(|answer| &answer[..3]).collect();
    assert_eq!(statuses, ["200", "400", "200"]);
    assert!(answers[0].ends_with("\r\n\r\nmade") && !answers[0].contains("replayed"));
    assert!(answers[1].contains("CACHING_VALIDATION_001"));
    assert!(answers[2].ends_with("\r\n\r\nmade") && answers[2].contains("idempotent-replayed"));
    assert_eq!(door.runs.count(), 1);
}

/// The connection stays usable behind a replay, so its framing was right.
#[tokio::test]
async fn n3_many_replays_fit_on_one_connection() {
    let bodies = [0, 1, 100, 20_000];
    let door = Door::with(
        once(),
        |layer| layer,
        move |asked| async move {
            let n: usize = std::str::from_utf8(&asked.body)?.parse()?;
            Ok(Response::new(Body::from("x".repeat(n))))
        },
    );
    let at = serve(door.service.clone()).await;
    let mut raw = Raw::connect(at).await;
    for _ in 0..2 {
        for n in bodies {
            raw.write(&h1_post(&format!("k-{n}"), "", &n.to_string())).await;
            let mut read = raw.read_to("\r\n\r\n").await;
            let (head, body) = parsed(&read);
            assert_eq!(lines(&head, "content-length"), [n.to_string()]);
            if body.len() < n {
                read += &raw.read_to(&"x".repeat(n - body.len())).await;
            }
            assert!(read.ends_with(&"x".repeat(n)));
        }
    }
    assert_eq!(door.runs.count(), 4);
}

#[tokio::test]
async fn an_answer_without_content_has_none_on_the_wire_either_time() {
    let door = Door::with(
        once(),
        |layer| layer,
        |_| async { Ok(Response::builder().status(204).body(Scripted::of(&[]).body()).unwrap()) },
    );
    let at = serve(door.service.clone()).await;
    for _ in 0..2 {
        let answer = exchange(at, "k", "").await;
        let (head, body) = parsed(&answer);
        assert_eq!((head[0].as_str(), body), ("http/1.1 204 no content", ""));
        assert_eq!(lines(&head, "content-length"), [""; 0]);
        assert_eq!(lines(&head, "transfer-encoding"), [""; 0]);
    }
    assert_eq!(door.runs.count(), 1);
}

fn sum() -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert("x-sum", HeaderValue::from_static("7"));
    trailers
}

fn with_trailers() -> Door {
    Door::with(
        once(),
        |layer| layer,
        |_| async {
            let body = Scripted::of(&["da", "ta"]).then(Step::Trailers(sum())).body();
            Ok(Response::builder().header(header::TRAILER, "x-sum").body(body).unwrap())
        },
    )
}

#[tokio::test]
async fn trailers_are_replayed_over_http_1() {
    let door = with_trailers();
    let at = serve(door.service.clone()).await;
    for replayed in [false, true] {
        let answer = exchange(at, "k", "TE: trailers\r\n").await;
        let (head, body) = parsed(&answer);
        assert_eq!(lines(&head, "trailer"), ["x-sum"]);
        assert_eq!(lines(&head, "idempotent-replayed").len(), usize::from(replayed));
        assert!(body.ends_with("0\r\nx-sum: 7\r\n\r\n"), "{body}");
    }
    assert_eq!(door.runs.count(), 1);
}

#[tokio::test]
async fn trailers_are_replayed_over_http_2() {
    let door = with_trailers();
    let mut client = h2_client(serve(door.service.clone()).await).await;
    for replayed in [false, true] {
        let response = client.send_request(h2_order("k", "{}")).await.unwrap();
        let answer = Answer::of(response).await.unwrap();
        answer.assert_is_the_handlers(200, "data");
        assert_eq!(answer.trailers, Some(sum()));
        assert_eq!(answer.is_marked(), replayed);
    }
    assert_eq!(door.runs.count(), 1);
}

/// N3 over HTTP/2: headers of one connection would make the answer malformed there.
#[tokio::test]
async fn n3_a_first_answer_over_http_1_is_replayed_over_http_2() {
    let door = Door::with(
        once(),
        |layer| layer,
        |asked| async move {
            let mut response = created(asked.run);
            response.headers_mut().insert("connection", HeaderValue::from_static("keep-alive"));
            response.headers_mut().insert("keep-alive", HeaderValue::from_static("timeout=5"));
            Ok(response)
        },
    );
    let at = serve(door.service.clone()).await;
    assert!(exchange(at, "k", "").await.ends_with("order 1"));
    let mut client = h2_client(at).await;
    let answer = Answer::of(client.send_request(h2_order("k", "{}")).await.unwrap()).await.unwrap();
    answer.assert_is_the_handlers(201, "order 1");
    assert!(answer.is_marked());
    assert_eq!(answer.header("keep-alive"), None);
}

#[tokio::test]
async fn d1_many_streams_of_one_connection_with_one_key_run_once() {
    let door = Door::with(
        once(),
        |layer| layer,
        |asked| async move {
            semel::timer::sleep(Duration::from_millis(20)).await;
            Ok(created(asked.run))
        },
    );
    let client = h2_client(serve(door.service.clone()).await).await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let mut client = client.clone();
        calls.spawn(async move {
            Answer::of(client.send_request(h2_order("k", "{}")).await.unwrap()).await.unwrap()
        });
    }
    for answer in calls.join_all().await {
        answer.assert_is_the_handlers(201, "order 1");
    }
    assert_eq!(door.runs.count(), 1);
}

// ===== Limits =====

#[tokio::test]
async fn a_body_over_the_limit_is_refused_by_its_declared_length_and_by_counting() {
    let settings = crate::support::settings(|http| http.max_request_body(1_000));
    let door = Door::counting(once(), |layer| layer.settings(settings));
    let at = serve(door.service.clone()).await;
    // Declared: the answer comes though not a byte of the body was sent.
    let mut raw = Raw::connect(at).await;
    raw.write(
        "POST /orders HTTP/1.1\r\nHost: shop\r\nIdempotency-Key: k\r\nContent-Length: 1001\r\n\r\n",
    )
    .await;
    let answer = raw.read_to("\"sameKey\":false}").await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    // Counted: chunks without an end.
    let mut raw = Raw::connect(at).await;
    raw.write("POST /orders HTTP/1.1\r\nHost: shop\r\nIdempotency-Key: k\r\n").await;
    raw.write("Transfer-Encoding: chunked\r\n\r\n").await;
    for _ in 0..3 {
        raw.write(&format!("190\r\n{}\r\n", "x".repeat(400))).await;
    }
    let answer = raw.read_to("\"sameKey\":false}").await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert_eq!(door.runs.count(), 0);
    // Exactly the limit.
    let mut raw = Raw::connect(at).await;
    raw.write(&h1_post("k", "Connection: close\r\n", &"x".repeat(1_000))).await;
    assert!(raw.rest().await.starts_with("HTTP/1.1 201"));
}

// ===== Clients that go away =====

/// The disconnect class over a socket: the client sends all of its request and hangs up.
#[tokio::test]
async fn a_client_that_hangs_up_over_http_1_finds_its_answer_when_it_comes_back() {
    let door = Door::with(
        once(),
        |layer| layer,
        |asked| async move {
            semel::timer::sleep(Duration::from_millis(50)).await;
            Ok(created(asked.run))
        },
    );
    let at = serve(door.service.clone()).await;
    let mut raw = Raw::connect(at).await;
    raw.write(&h1_post("k", "", "{}")).await;
    until(|| door.runs.count() == 1).await;
    drop(raw);
    let again = exchange(at, "k", "").await;
    assert!(again.ends_with("order 1"), "{again}");
    assert!(again.contains("idempotent-replayed: true"));
    assert_eq!(door.runs.count(), 1);
}

#[tokio::test]
async fn a_stream_that_is_reset_over_http_2_is_read_on_and_replayed() {
    let (hand, handed) = std::sync::mpsc::channel();
    let hand = std::sync::Mutex::new(hand);
    let door = Door::with(
        once(),
        |layer| layer,
        move |_| {
            let (pipe, body) = piped();
            hand.lock().unwrap().send(pipe).unwrap();
            async move { Ok(Response::new(body)) }
        },
    );
    let mut client = h2_client(serve(door.service.clone()).await).await;
    let response = client.send_request(h2_order("k", "{}")).await.unwrap();
    let pipe = handed.try_recv().unwrap();
    pipe.send(Ok("one ".into())).unwrap();
    let mut body = response.into_body();
    http_body_util::BodyExt::frame(&mut body).await.unwrap().unwrap();
    drop(body);
    pipe.send(Ok("two".into())).unwrap();
    drop(pipe);
    loop {
        let response = client.send_request(h2_order("k", "{}")).await.unwrap();
        let answer = Answer::of(response).await.unwrap();
        if answer.is_marked() {
            answer.assert_is_the_handlers(200, "one two");
            break;
        }
        // Until its end was read.
        answer.assert_is(Code::ResponseUnavailable);
        tokio::task::yield_now().await;
    }
    assert_eq!(door.runs.count(), 1);
}

/// X3 over a socket: the upload is cut in half.
#[tokio::test]
async fn x3_an_upload_that_is_cut_in_half_runs_nothing_and_leaves_the_key_free() {
    let door = Door::counting(once(), |layer| layer);
    let at = serve(door.service.clone()).await;
    let mut raw = Raw::connect(at).await;
    let whole = h1_post("k", "", "{\"amount\":3}");
    raw.write(&whole[..whole.len() - 4]).await;
    drop(raw);
    let mut raw = Raw::connect(at).await;
    raw.write("POST /orders HTTP/1.1\r\nHost: shop\r\nIdempotency-Key: k\r\n").await;
    raw.write("Transfer-Encoding: chunked\r\n\r\nthis is no chunk\r\n").await;
    let refused = raw.rest().await;
    assert!(refused.starts_with("HTTP/1.1 400"), "{refused}");
    assert_eq!(door.runs.count(), 0);
    assert!(exchange(at, "k", "").await.ends_with("order 1"));
}

/// What broke off is broken for its reader, on the wire too: no end of chunks, no full length.
#[tokio::test]
async fn an_answer_that_breaks_off_is_seen_to_be_broken() {
    for says in [None, Some(9)] {
        let door = Door::with(
            once(),
            |layer| layer,
            move |_| async move {
                let body = Scripted::of(&["part"]).then(Step::Fail);
                let body = says.into_iter().fold(body, Scripted::saying);
                Ok(Response::new(body.body()))
            },
        );
        let at = serve(door.service.clone()).await;
        let first = exchange(at, "k", "").await;
        assert!(!first.ends_with("0\r\n\r\n"), "{first}");
        if says.is_some() && !first.is_empty() {
            assert!(first.contains("content-length: 9"), "{first}");
        }
        let again = exchange(at, "k", "").await;
        assert!(again.contains("idempotency-error: CACHING_CONFLICT_003"), "{again}");
        assert_eq!(door.runs.count(), 1);
    }
}
