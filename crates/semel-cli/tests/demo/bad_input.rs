//! Keys and requests that break the grammar: each gets its code, and no handler runs.

use crate::support::{Call, Files, Http, Raw, keyboard, over_both};

/// What a call without a usable key sends in its place.
struct Bad {
    what: &'static str,
    headers: Vec<(&'static str, String)>,
}

fn bad(what: &'static str, headers: &[(&'static str, &str)]) -> Bad {
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    Bad { what, headers }
}

fn header(what: &'static str, value: &str) -> Bad {
    bad(what, &[("idempotency-key", value)])
}

fn baggage(what: &'static str, value: &str) -> Bad {
    bad(what, &[("baggage", value)])
}

fn bad_keys() -> Vec<Bad> {
    let long = "k".repeat(256);
    let members: Vec<_> = (0..65).map(|number| format!("m{number}=1")).collect();
    vec![
        header("empty", ""),
        header("an empty string", "\"\""),
        header("a blank string", "\"  \""),
        header("white space inside", "\"a b\""),
        header("no end", "\"abc"),
        header("a list", "\"a\", \"b\""),
        header("a bare list", "a, b"),
        header("a control character", "\"a\tb\""),
        header("beyond ASCII", "\"schlüssel\""),
        header("256 characters", &format!("\"{long}\"")),
        header("far too long", &"k".repeat(6000)),
        bad("two headers", &[("idempotency-key", "\"a\""), ("idempotency-key", "\"b\"")]),
        bad("the same header twice", &[("idempotency-key", "\"a\""), ("idempotency-key", "\"a\"")]),
        bad("two keys", &[("idempotency-key", "\"a\""), ("baggage", "xihan.idempotency-key=b")]),
        baggage("an empty member", "xihan.idempotency-key="),
        baggage("a member without a value", "xihan.idempotency-key"),
        baggage("a member twice", "xihan.idempotency-key=a,xihan.idempotency-key=b"),
        baggage("a bad escape", "xihan.idempotency-key=%GG"),
        baggage("an escaped blank", "xihan.idempotency-key=%20"),
        baggage("no UTF-8", "xihan.idempotency-key=%FF"),
        baggage("256 characters in baggage", &format!("xihan.idempotency-key={long}")),
        baggage("65 members", &format!("{},xihan.idempotency-key=a", members.join(","))),
        baggage("8193 bytes", &format!("xihan.idempotency-key=a,b={}", "c".repeat(8167))),
    ]
}

over_both! {
    /// X11: an unreadable key is refused, it never runs unprotected.
    async fn a_key_that_breaks_the_grammar_is_refused_and_nothing_runs(http) {
        let (files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        for Bad { what, headers } in bad_keys() {
            let call = keyboard("unused").without("idempotency-key");
            let call = headers.iter().fold(call, |call, (name, value)| call.add(name, value));
            let answer = client.send(call).await;
            assert_eq!(answer.status, 400, "{what}: {answer:?}");
            let params = answer.assert_refusal(400, "CACHING_VALIDATION_001", "caching.key.invalid");
            let reason = params["reason"].as_str().unwrap_or_default();
            assert!(!reason.is_empty(), "{what}: {params}");
            assert_eq!(answer.json()["sameKey"], false, "{what}");
        }
        assert_eq!(server.executions("POST /orders").await, 0);
        assert!(!files.log().contains("panicked"), "{}", files.log());
    }

    async fn the_limits_themselves_are_accepted(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let bare = || keyboard("unused").without("idempotency-key");
        let members: Vec<_> = (0..63).map(|number| format!("m{number}=1")).collect();
        for (what, call) in [
            ("255 characters", keyboard(&"k".repeat(255))),
            ("64 members", bare().add("baggage", &format!("{},xihan.idempotency-key=a", members.join(",")))),
            ("8192 bytes", bare().add("baggage", &format!("xihan.idempotency-key=b,c={}", "d".repeat(8166)))),
        ] {
            let answer = client.send(call).await;
            assert_eq!(answer.status, 201, "{what}: {answer:?}");
        }
    }

    async fn a_body_over_the_limit_is_refused_before_anything_runs(http) {
        let (_files, server) = Files::new_server(&["--max-request-body", "4KiB"]).await;
        let client = server.client(http).await;
        let padded = |bytes: usize| {
            let json = r#"{"name":"Keyboard","amount":2}"#;
            keyboard("k").body(format!("{json}{}", " ".repeat(bytes - json.len())))
        };
        let answer = client.send(padded(4097)).await;
        let params = answer.assert_refusal(
            413, "CACHING_VALIDATION_005", "caching.idempotency.body_too_large",
        );
        assert_eq!(params["limit"], 4096);
        assert_eq!(server.executions("POST /orders").await, 0);
        // It was refused before it took its key.
        client.send(padded(4096)).await.assert_fresh(201);
    }

    /// N2: what is one body to the client is one body, however it was cut.
    async fn a_body_of_one_megabyte_is_the_same_again(http) {
        let (_files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let call = || keyboard("k").body("x".repeat(1 << 20));
        let first = client.send(call()).await;
        first.assert_fresh(400);
        client.send(call()).await.assert_replays(&first);
        let other = format!("{}y", "x".repeat((1 << 20) - 1));
        client.send(call().body(other)).await.assert_refusal(
            422, "CACHING_VALIDATION_003", "caching.idempotency.payload_mismatch",
        );
    }
}

/// The server answers 4xx or hangs up, and goes on serving everybody else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_are_no_http_do_no_harm() {
    let (files, server) = Files::new_server(&[]).await;
    let key = "Idempotency-Key: \"k\"\r\nAuthorization: ApiKey dev-alice-key\r\n";
    let hostile: [String; 8] = [
        "\r\n\r\n\r\n\r\n".to_owned(),
        "nonsense\r\n\r\n".to_owned(),
        "POST /orders HTTP/9.9\r\n\r\n".to_owned(),
        "POST /orders HTTP/1.1\r\nContent-Length: x\r\n\r\n".to_owned(),
        format!("POST /orders HTTP/1.1\r\n{key}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx"),
        format!("POST /orders HTTP/1.1\r\n{key}Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
        format!("POST /orders HTTP/1.1\r\n{key}Transfer-Encoding: chunked\r\n\r\n5\r\nab"),
        format!("POST /orders HTTP/1.1\r\nBad Header: 1\r\n{key}\r\n"),
    ];
    for request in hostile {
        let mut raw = Raw::connect(server.at).await;
        raw.write(request.as_bytes()).await;
        raw.finish().await;
        let answer = raw.read_all().await;
        let head = String::from_utf8_lossy(&answer[..answer.len().min(12)]).into_owned();
        assert!(answer.is_empty() || head.starts_with("HTTP/1.1 4"), "{request:?}: {head}");
    }
    assert_eq!(server.executions("POST /orders").await, 0);
    server.client(Http::One).await.send(Call::get("/executions")).await.assert_fresh(200);
    assert!(!files.log().contains("panicked"), "{}", files.log());
}

/// N2: any chunking gives the same digest.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_body_in_other_chunks_is_the_same_request() {
    let (_files, server) = Files::new_server(&[]).await;
    let first = server.client(Http::One).await.send(keyboard("k")).await;
    first.assert_fresh(201);
    let mut chunked = String::from(
        "POST /orders HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Idempotency-Key: \"k\"\r\nAuthorization: ApiKey dev-alice-key\r\n\
         Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    for character in r#"{"name":"Keyboard","amount":2}"#.chars() {
        chunked.push_str(&format!("1\r\n{character}\r\n"));
    }
    chunked.push_str("0\r\n\r\n");
    let mut raw = Raw::connect(server.at).await;
    raw.write(chunked.as_bytes()).await;
    let answer = String::from_utf8(raw.read_all().await).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert!(answer.to_lowercase().contains("idempotent-replayed: true"), "{answer}");
    assert!(answer.ends_with(std::str::from_utf8(&first.body).unwrap()), "{answer}");
}
