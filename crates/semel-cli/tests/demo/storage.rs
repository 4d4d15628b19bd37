//! Stores: in memory, digested keys, and one that can't be reached.

use rusqlite::Connection;

use crate::support::{Call, Files, Http, keyboard, over_both};

const SECRET: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// Everything that the store has on disk.
fn on_disk(files: &Files) -> Vec<u8> {
    let read = |name| std::fs::read(files.path(name)).unwrap_or_default();
    [read("records.db"), read("records.db-wal")].concat()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Takes the write lock of the records, as a process that hangs in a transaction does.
pub(crate) fn locked(files: &Files) -> Connection {
    let lock = Connection::open(files.path("records.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    lock
}

over_both! {
    async fn a_store_in_memory_replays_until_its_process_ends(http) {
        let files = Files::new();
        let server = files.start(&["--store", "memory:"]).await;
        let client = server.client(http).await;
        let first = client.send(keyboard("k")).await;
        client.send(keyboard("k")).await.assert_replays(&first);
        server.kill().await;
        let server = files.start(&["--store", "memory:"]).await;
        server.client(http).await.send(keyboard("k")).await.assert_fresh(201);
        assert!(!files.path("records.db").exists());
    }

    async fn a_digested_key_is_nowhere_on_disk_and_replays_all_the_same(http) {
        let (name, flags) = ("client-key-4711", ["--key-storage", "digest", "--key-secret", SECRET]);
        let files = Files::new();
        let server = files.start(&flags).await;
        let first = server.client(http).await.send(keyboard(name)).await;
        server.kill().await;
        let server = files.start(&flags).await;
        server.client(http).await.send(keyboard(name)).await.assert_replays(&first);
        assert!(!contains(&on_disk(&files), name));
        assert!(!files.log().contains(SECRET));

        // The same look finds a key that is stored as it is.
        let plain = Files::new();
        let server = plain.start(&[]).await;
        server.client(http).await.send(keyboard(name)).await.assert_fresh(201);
        assert!(contains(&on_disk(&plain), name));
    }

    async fn while_the_store_is_out_of_reach_nothing_runs(http) {
        let (files, server) = Files::new_server(&[]).await;
        let client = server.client(http).await;
        let first = client.send(keyboard("before")).await;
        let lock = locked(&files);
        let refused = client.send(keyboard("k")).await;
        refused.assert_refusal(503, "CACHING_UNAVAILABLE_001", "caching.store.unavailable");
        assert_eq!(refused.json()["sameKey"], true);
        assert_eq!(server.executions("POST /orders").await, 1);
        drop(lock);
        client.send(keyboard("k")).await.assert_fresh(201);
        client.send(keyboard("before")).await.assert_replays(&first);
    }

    async fn where_asked_for_calls_run_unprotected_and_say_so(http) {
        let (files, server) = Files::new_server(&["--store-down", "open"]).await;
        let client = server.client(http).await;
        let _lock = locked(&files);
        let answer = client.send(keyboard("k")).await;
        answer.assert_fresh(201);
        assert_eq!(answer.header("idempotency-unprotected"), Some("true"));
        assert_eq!(server.executions("POST /orders").await, 1);
    }
}

#[tokio::test]
async fn a_digest_without_its_secret_is_refused() {
    let (code, message) = crate::support::refused(&["--key-storage", "digest"]).await;
    assert_eq!(code, 64);
    assert!(message.contains("--key-storage") && message.contains("SEMEL_KEY_SECRET"), "{message}");

    let flags = ["--key-storage", "digest", "--key-secret", "sesame"];
    let (code, message) = crate::support::refused(&flags).await;
    assert_eq!(code, 64);
    assert!(message.contains("64 hexadecimal") && !message.contains("sesame"), "{message}");
}

/// The meter needs no key of its own, and no call of it is ever recorded.
#[tokio::test]
async fn the_meter_is_open_to_everybody() {
    let (_files, server) = Files::new_server(&[]).await;
    let client = server.client(Http::One).await;
    let meter = client.send(Call::get("/executions").without("authorization")).await;
    meter.assert_fresh(200);
    assert_eq!(meter.json()["POST /orders"], 0);
}
