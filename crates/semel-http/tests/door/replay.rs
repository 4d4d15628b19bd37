//! What a repeat gets: the first answer, and nothing that belonged to another exchange.

use axum::body::Body;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use semel_http::{Methods, OnDisconnect};
use tower::{Layer, ServiceBuilder, ServiceExt};

use crate::support::bodies::{Scripted, Step};
use crate::support::door::created;
use crate::support::{Door, alice, keyless, once, order, settings};

#[tokio::test]
async fn a_repeat_gets_status_headers_and_body_byte_for_byte_and_is_marked() {
    let door = Door::counting(once(), |layer| layer);
    let first = door.post("\"k-1\"", "{}").await;
    first.assert_is_the_handlers(201, "order 1");
    assert!(!first.is_marked() && !first.is_replayed);
    // The quoted and the bare form are the same key (C8).
    for key in ["k-1", "\"k-1\"", "  k-1"] {
        let again = door.post(key, "{}").await;
        assert_eq!(again.essence(), first.essence());
        assert_eq!(again.header("content-type"), Some("text/plain"));
        assert!(again.is_marked() && again.is_replayed);
    }
    assert_eq!(door.runs.count(), 1);
}

#[tokio::test]
async fn i5_the_same_request_under_another_key_is_another_order() {
    let door = Door::counting(once(), |layer| layer);
    door.post("k-1", "{}").await.assert_is_the_handlers(201, "order 1");
    door.post("k-2", "{}").await.assert_is_the_handlers(201, "order 2");
}

#[tokio::test]
async fn every_byte_and_every_final_status_comes_back() {
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(100_000).collect();
    for status in
        [200, 201, 202, 203, 205, 206, 226, 301, 303, 307, 308, 400, 404, 409, 410, 418, 499]
    {
        let body = Bytes::from(bytes.clone());
        let door = Door::with(
            once(),
            |layer| layer,
            move |_| {
                let body = body.clone();
                async move { Ok(Response::builder().status(status).body(Body::from(body)).unwrap()) }
            },
        );
        let first = door.post("k", "{}").await;
        let again = door.post("k", "{}").await;
        assert_eq!(first.essence(), again.essence());
        assert_eq!((again.status.as_u16(), &again.body[..]), (status, &bytes[..]));
        assert_eq!(door.runs.count(), 1, "{status}");
    }
}

#[tokio::test]
async fn answers_without_content_come_back_without_content() {
    for status in [200, 201, 204, 304] {
        // Bodies that say that they are empty, and one that does not say.
        for stream in [false, true] {
            // Nobody reads on where the reader is gone: what is replayed was recorded before.
            let settings = settings(|http| http.on_disconnect(OnDisconnect::Cancel));
            let door = Door::with(
                once(),
                |layer| layer.settings(settings),
                move |_| async move {
                    let body = if stream { Scripted::of(&[]).body() } else { Body::empty() };
                    Ok(Response::builder()
                        .status(status)
                        .header("etag", "\"1\"")
                        .body(body)
                        .unwrap())
                },
            );
            // A server drops the body of such a status unread.
            let first = door.call(order("k", "{}")).await.unwrap();
            if stream && status < 204 {
                crate::support::Answer::of(first).await.unwrap();
            } else {
                drop(first);
            }
            let again = door.post("k", "{}").await;
            again.assert_is_the_handlers(status, "");
            assert_eq!(again.header("etag"), Some("\"1\""));
            assert_eq!(door.runs.count(), 1);
        }
    }
}

/// X7 (two values collapsed to one) and X8 (a value beyond UTF-8 switched protection off).
#[tokio::test]
async fn x7_x8_values_that_are_many_or_no_text_survive() {
    let door = Door::with(
        once(),
        |layer| layer,
        |_| async {
            let mut response = Response::new(Body::from("x"));
            let headers = response.headers_mut();
            for link in ["</a>; rel=first", "</b>; rel=last", "</a>; rel=first"] {
                headers.append("link", HeaderValue::from_static(link));
            }
            headers.append("link", HeaderValue::from_bytes(b"\xff\xfe caf\xe9").unwrap());
            headers.append("etag", HeaderValue::from_static(""));
            Ok(response)
        },
    );
    let first = door.post("k", "{}").await;
    let again = door.post("k", "{}").await;
    let links = |headers: &HeaderMap| -> Vec<Vec<u8>> {
        headers.get_all("link").iter().map(|value| value.as_bytes().to_vec()).collect()
    };
    assert_eq!(links(&first.headers), links(&again.headers));
    assert_eq!(links(&again.headers).len(), 4);
    assert_eq!(again.header("etag"), Some(""));
    assert_eq!(door.runs.count(), 1);
}

/// C9, N3: cookies, credentials, limits, traces, dates and connections are the first caller's.
#[tokio::test]
async fn c9_n3_what_belongs_to_one_exchange_is_not_replayed() {
    let own = [
        ("set-cookie", "session=1"),
        ("set-cookie", "session=2"),
        ("www-authenticate", "Basic"),
        ("date", "Mon, 30 Nov 2026 12:00:00 GMT"),
        ("content-length", "1"),
        ("connection", "keep-alive, ETag"),
        ("keep-alive", "timeout=5"),
        ("x-ratelimit-remaining", "3"),
        ("traceparent", "00-1-1-01"),
        ("cache-control", "no-store"),
        // On the list, but named by Connection: it is of this connection only.
        ("etag", "\"1\""),
    ];
    let kept = [
        ("content-type", "application/x"),
        ("content-language", "zh"),
        ("content-encoding", "identity"),
        ("content-location", "/orders/1"),
        ("location", "/orders/1"),
        ("last-modified", "Mon, 30 Nov 2026 12:00:00 GMT"),
        ("link", "</a>"),
        ("retry-after", "120"),
    ];
    let door = Door::with(
        once(),
        |layer| layer,
        move |_| async move {
            let mut response = Response::new(Body::from("x"));
            for (name, value) in own.into_iter().chain(kept) {
                response.headers_mut().append(name, HeaderValue::from_static(value));
            }
            Ok(response)
        },
    );
    let first = door.post("k", "{}").await;
    assert_eq!(first.headers.len(), own.len() + kept.len(), "a first answer is left as it is");
    let mut again = door.post("k", "{}").await;
    assert_eq!(again.headers.remove("idempotent-replayed").unwrap(), "true");
    let expected: HeaderMap = kept
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .into_iter()
        .collect();
    assert_eq!(again.headers, expected);
}

#[tokio::test]
async fn the_list_of_replayed_headers_can_be_another() {
    let settings = settings(|http| http.replayed_headers(vec![HeaderName::from_static("x-order")]));
    let door = Door::with(
        once(),
        |layer| layer.settings(settings),
        |_| async {
            let response = Response::builder().header("x-order", "1").header("etag", "\"1\"");
            Ok(response.body(Body::empty()).unwrap())
        },
    );
    door.post("k", "{}").await;
    let again = door.post("k", "{}").await;
    assert_eq!(again.header("x-order"), Some("1"));
    assert_eq!(again.header("etag"), None);
}

#[tokio::test]
async fn trailers_come_back_but_for_those_that_are_never_replayed() {
    let mut trailers = HeaderMap::new();
    trailers.append("x-checksum", HeaderValue::from_static("1"));
    trailers.append("x-checksum", HeaderValue::from_bytes(b"\xff").unwrap());
    let kept = trailers.clone();
    trailers.append("set-cookie", HeaderValue::from_static("a=1"));
    for says in [None, Some(4)] {
        let trailers = trailers.clone();
        let door = Door::with(
            once(),
            |layer| layer,
            move |_| {
                let mut body = Scripted::of(&["da", "ta"]).then(Step::Trailers(trailers.clone()));
                if let Some(length) = says {
                    body = body.saying(length);
                }
                async move { Ok(Response::new(body.body())) }
            },
        );
        let first = door.post("k", "{}").await;
        assert_eq!(first.trailers.as_ref().map(HeaderMap::len), Some(3));
        let again = door.post("k", "{}").await;
        again.assert_is_the_handlers(200, "data");
        assert_eq!(again.trailers.as_ref(), Some(&kept));
        assert_eq!(again.header("trailer"), Some("x-checksum"));
        assert_eq!(door.runs.count(), 1);
    }
}

/// A client that could forge the mark would make a first answer look like a replay.
#[tokio::test]
async fn the_mark_is_absent_on_first_answers_even_if_the_handler_forges_it() {
    let door = Door::with(
        once(),
        |layer| layer,
        |_| async {
            let mut response = created(1);
            response.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
            response.extensions_mut().insert(semel_http::Replayed);
            Ok(response)
        },
    );
    let first = door.post("k", "{}").await;
    assert!(!first.is_marked() && !first.is_replayed);
    let again = door.post("k", "{}").await;
    assert!(again.is_marked() && again.is_replayed);
    assert_eq!(again.headers.get_all("idempotent-replayed").iter().count(), 1);
}

#[tokio::test]
async fn the_mark_has_another_name_or_none_where_that_is_set() {
    for marker in [Some("x-seen-before"), None] {
        let settings = settings(|http| http.replay_marker(marker.map(HeaderName::from_static)));
        let door = Door::counting(once(), |layer| layer.settings(settings));
        let first = door.post("k", "{}").await;
        let again = door.post("k", "{}").await;
        assert!(again.is_replayed, "the extension is there all the same");
        assert_eq!(again.header("idempotent-replayed"), None);
        assert_eq!(again.header("x-seen-before"), marker.map(|_| "true"));
        assert_eq!(first.header("x-seen-before"), None);
    }
}

#[tokio::test]
async fn methods_that_are_not_protected_pass_untouched() {
    let door = Door::counting(once(), |layer| layer);
    for method in [Method::GET, Method::HEAD, Method::OPTIONS, Method::DELETE] {
        for _ in 0..2 {
            let mut request = order("k", "{}");
            *request.method_mut() = method.clone();
            // No scope, a broken key: nothing of it is looked at.
            request.extensions_mut().clear();
            request.headers_mut().append("idempotency-key", HeaderValue::from_static(""));
            let answer = door.send(request).await;
            assert_eq!(answer.status, StatusCode::CREATED);
            assert!(!answer.is_marked());
        }
    }
    assert_eq!(door.runs.count(), 8);
}

#[tokio::test]
async fn post_patch_and_put_are_protected() {
    for method in [Method::POST, Method::PATCH, Method::PUT] {
        let door = Door::counting(once(), |layer| layer);
        for _ in 0..2 {
            let mut request = order("k", "{}");
            *request.method_mut() = method.clone();
            door.send(request).await.assert_is_the_handlers(201, "order 1");
        }
        let mut without = keyless("{}");
        *without.method_mut() = method.clone();
        door.send(without).await.assert_is(semel::Code::KeyMissing);
    }
}

/// I9: the second DELETE is answered as the first was, not with "gone".
#[tokio::test]
async fn i9_a_protected_delete_replays_its_first_answer() {
    let delete = || {
        Request::delete("/orders/7")
            .header("idempotency-key", "k")
            .extension(alice())
            .body(Full::default())
            .unwrap()
    };
    let settings = settings(|http| http.methods(Methods::Only(vec![Method::DELETE])));
    let door = Door::with(
        once(),
        |layer| layer.settings(settings),
        |asked| async move {
            let status = if asked.run == 1 { 204 } else { 404 };
            Ok(Response::builder().status(status).body(Body::empty()).unwrap())
        },
    );
    for _ in 0..3 {
        door.send(delete()).await.assert_is_the_handlers(204, "");
    }
}

/// S10: a layer further out fails, and the retry is not told its failure but the handler's answer.
#[tokio::test]
async fn s10_what_the_handler_answered_is_recorded_not_what_outer_layers_made_of_it() {
    let door = Door::counting(once(), |layer| layer);
    let declines = ServiceBuilder::new()
        .map_response(|mut response: Response<_>| {
            *response.status_mut() = StatusCode::PAYMENT_REQUIRED;
            response
        })
        .service(door.service.clone());
    let declined = declines.oneshot(order("k", "{}")).await.unwrap();
    assert_eq!(declined.status(), StatusCode::PAYMENT_REQUIRED);
    drop(declined);
    door.post("k", "{}").await.assert_is_the_handlers(201, "order 1");
    assert_eq!(door.runs.count(), 1);
}

/// The layer asks for no more than the traits of tower and http: no axum, data that is no
/// `Bytes`, an error that is no `std::error::Error`.
#[tokio::test]
async fn a_plain_service_with_types_of_its_own_is_enough() {
    #[derive(Debug, Clone, PartialEq)]
    struct Odd;
    struct Own(Option<Vec<u8>>);
    impl http_body::Body for Own {
        type Data = std::io::Cursor<Vec<u8>>;
        type Error = Odd;
        fn poll_frame(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
        ) -> std::task::Poll<Option<Result<http_body::Frame<Self::Data>, Odd>>> {
            let data = self.0.take().map(std::io::Cursor::new);
            std::task::Poll::Ready(data.map(http_body::Frame::data).map(Ok))
        }
    }
    let inner = tower::service_fn(|request: Request<semel_http::RequestBody<Own>>| async move {
        let body = http_body_util::BodyExt::collect(request.into_body()).await?.to_bytes();
        Ok::<_, Odd>(Response::new(Own(Some(body.to_vec()))))
    });
    let service = semel_http::IdempotencyLayer::new(once()).layer(inner);
    for replayed in [false, true] {
        let request = Request::post("/orders")
            .header("idempotency-key", "k")
            .extension(alice())
            .body(Own(Some(b"echo".to_vec())))
            .unwrap();
        let response = service.clone().oneshot(request).await.unwrap();
        let answer = crate::support::Answer::of(response).await.unwrap();
        assert_eq!((answer.text(), answer.is_replayed), ("echo", replayed));
    }
}
