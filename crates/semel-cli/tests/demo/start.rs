//! Starts that are refused: one clear message, and the right exit code.

use crate::support::{Files, refused, until};

#[track_caller]
fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part:?} is missing in: {message}");
    }
    assert!(message.starts_with("semel: "), "{message}");
    assert!(!message.contains("panicked"), "{message}");
}

#[tokio::test]
async fn a_wrong_flag_is_named_with_its_value_and_what_it_takes() {
    for (flag, value, takes) in [
        ("--listen", "nowhere", "HOST:PORT"),
        ("--drain", "soon", "30s"),
        ("--preset", "best", "stripe"),
        ("--guarantee", "exactly_once", "at_most_once"),
        ("--guarantee", "transactional", "use the library"),
        ("--time-to-live", "24", "24h"),
        ("--time-to-live", "0s", "positive"),
        ("--in-progress-time-to-live", "-1s", "30s"),
        ("--max-execution", "1 h", "24h"),
        ("--in-flight", "queue", "reject"),
        ("--wait", "x", "30s"),
        ("--retry-after", "never", "off"),
        ("--failures", "some", "success_only"),
        ("--on-exception", "ignore", "doubt"),
        ("--in-doubt", "guess", "reject"),
        ("--store-down", "ajar", "closed"),
        ("--missing-key", "maybe", "optional"),
        ("--header-syntax", "loose", "strict"),
        ("--header-name", "not a header", "header"),
        ("--methods", "POST,", "POST"),
        ("--bind-operation", "both", "separate"),
        ("--key-format", "guid", "uuid"),
        ("--key-storage", "rot13", "digest"),
        ("--max-request-body", "1MB", "MiB"),
        ("--max-cached-response", "big", "KiB"),
        ("--oversized", "drop", "status"),
        ("--replay-marker", "not a header", "header"),
        ("--on-disconnect", "panic", "cancel"),
        ("--detect-expired", "yes", "true"),
        ("--max-waiters-per-key", "-5", "number"),
    ] {
        let (code, message) = refused(&[&format!("{flag}={value}")]).await;
        assert_eq!(code, 64, "{flag} {value}: {message}");
        assert_says(&message, &[flag, value, takes]);
    }
}

#[tokio::test]
async fn a_lease_longer_than_the_retention_is_refused() {
    let flags = ["--time-to-live=5s", "--in-progress-time-to-live=10s"];
    let (code, message) = refused(&flags).await;
    assert_eq!(code, 64);
    assert_says(&message, &["--in-progress-time-to-live", "10s", "--time-to-live", "5s"]);
}

#[tokio::test]
async fn an_unknown_flag_is_a_usage_error() {
    let (code, message) = refused(&["--listne", "127.0.0.1:0"]).await;
    assert_eq!(code, 64);
    assert_says(&message, &["--listne", "--listen"]);
}

#[tokio::test]
async fn a_port_that_is_taken_is_unavailable() {
    let files = Files::new();
    let server = files.start(&[]).await;
    let (code, message) = files.refused(&["--listen", &server.at.to_string()]).await;
    assert_eq!(code, 69);
    assert_says(&message, &["--listen", &server.at.to_string(), "in use"]);
}

#[tokio::test]
async fn files_that_are_something_else_are_refused() {
    for (flag, name) in [("--data", "orders.db"), ("--store", "records.db")] {
        let files = Files::new();
        std::fs::write(files.path(name), "name;amount\n".repeat(100)).unwrap();
        let (code, message) = files.refused(&[]).await;
        assert_eq!(code, if flag == "--data" { 74 } else { 69 }, "{message}");
        assert_says(&message, &[flag, name]);
    }
}

#[tokio::test]
async fn orders_and_records_are_not_put_into_one_file() {
    for store in ["sqlite:one.db", "sqlite://one.db"] {
        let (code, message) = refused(&["--store", store, "--data", "one.db"]).await;
        assert_eq!(code, 64);
        assert_says(&message, &["--data", "one.db", "--store"]);
    }
}

#[tokio::test]
async fn a_store_that_is_not_known_is_refused_by_its_url() {
    let (code, message) = refused(&["--store", "mysql://localhost"]).await;
    assert_eq!(code, 64, "{message}");
    assert_says(&message, &["--store", "mysql", "sqlite:"]);
}

#[tokio::test]
async fn the_banner_says_where_what_and_how_to_try_it() {
    let files = Files::new();
    let server = files.start(&[]).await;
    let log = until("the whole of the banner", async || {
        let log = files.log();
        log.contains("Ctrl-C").then_some(log)
    })
    .await;
    for part in [
        concat!("semel ", env!("CARGO_PKG_VERSION")),
        "records.db",
        "orders.db",
        "retryable",
        &format!("curl -X POST http://localhost:{}/orders", server.at.port()),
        "xihan.idempotency-key=order-20261031-0001",
        "dev-carol-key",
    ] {
        assert!(log.contains(part), "{part:?} is missing in: {log}");
    }
}

#[tokio::test]
async fn an_address_that_others_reach_comes_with_a_warning() {
    let files = Files::new();
    let _server = files.start(&["--listen", "0.0.0.0:0"]).await;
    until("the warning", async || files.log().contains("they are public").then_some(())).await;
}
