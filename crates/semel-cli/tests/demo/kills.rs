//! kill -9 at moments of no one's choosing, again and again, under load.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{Answer, Call, Client, Files, Http, Server, over_both, pause, until};

const CLIENTS: usize = 8;
const ROUNDS: u64 = 5;
const FLAGS: [&str; 4] = ["--in-progress-time-to-live", "2s", "--in-flight", "reject"];

/// What the clients know: the answer to each call, or that none came.
type Seen = BTreeMap<String, Option<Answer>>;

/// An order that is named as its key is.
fn order(key: &str) -> Call {
    Call::post("/orders", &format!(r#"{{"name":"{key}","amount":1}}"#)).key(key)
}

/// Sends one order after the other until the server is gone, and counts the answers.
async fn orders(client: Client, prefix: String, answers: Arc<AtomicUsize>) -> Seen {
    let mut seen = Seen::new();
    for number in 0.. {
        let key = format!("{prefix}-{number}");
        let answer = client.try_send(order(&key)).await.ok();
        let gone = answer.is_none();
        answers.fetch_add(usize::from(!gone), Ordering::Relaxed);
        seen.insert(key, answer);
        if gone {
            break;
        }
    }
    seen
}

/// A server under load that is killed some time after its first answers; a busy disk may take its
/// time for those.
async fn round(files: &Files, flags: &[&str], http: Http, life: Duration) -> Seen {
    let server = files.start(flags).await;
    let answers = Arc::new(AtomicUsize::new(0));
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        let client = server.client(http).await;
        let prefix = format!("{}-{number}", life.as_millis());
        clients.push(tokio::spawn(orders(client, prefix, Arc::clone(&answers))));
    }
    until("answers", async || (answers.load(Ordering::Relaxed) > 1).then_some(())).await;
    pause(life).await;
    server.kill().await;
    let mut seen = Seen::new();
    for client in clients {
        seen.extend(client.await.unwrap());
    }
    seen
}

async fn rounds(files: &Files, flags: &[&str], http: Http) -> Seen {
    let mut seen = Seen::new();
    for number in 0..ROUNDS {
        seen.extend(round(files, flags, http, Duration::from_millis(300 + 37 * number)).await);
    }
    seen
}

async fn assert_all_replayed(client: &Client, seen: &Seen) {
    for (key, answer) in seen {
        if let Some(first) = answer {
            first.assert_fresh(201);
            client.send(order(key)).await.assert_replays(first);
        }
    }
}

/// How many orders there are of each name.
async fn counted(server: &Server) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for name in server.orders().await {
        *counts.entry(name).or_default() += 1;
    }
    counts
}

over_both! {
    /// The order of writes: who saw an answer can always replay it.
    async fn whoever_saw_an_answer_gets_it_again_and_its_order_is_there_once(http) {
        let files = Files::new();
        let seen = rounds(&files, &FLAGS, http).await;
        let server = files.start(&FLAGS).await;
        assert_all_replayed(&server.client(http).await, &seen).await;
        let counts = counted(&server).await;
        for (key, _) in seen.iter().filter(|(_, answer)| answer.is_some()) {
            assert_eq!(counts.get(key), Some(&1), "{key}");
        }
    }

    async fn under_at_most_once_no_order_is_ever_there_twice(http) {
        let files = Files::new();
        let flags = [&FLAGS[..], &["--guarantee", "at_most_once"]].concat();
        let seen = rounds(&files, &flags, http).await;
        let server = files.start(&flags).await;
        let client = server.client(http).await;
        assert_all_replayed(&client, &seen).await;
        // Calls without an answer are repeated past their lease: they run for the
        // first time, or are in doubt.
        for (key, _) in seen.iter().filter(|(_, answer)| answer.is_none()) {
            let settled = until("the lease of the dead runs out", async || {
                let answer = client.send(order(key)).await;
                let busy = answer.header("idempotency-error") == Some("CACHING_CONFLICT_002");
                (!busy).then_some(answer)
            })
            .await;
            let doubt = settled.header("idempotency-error") == Some("CACHING_CONFLICT_004");
            assert!(doubt || settled.status == 201, "{key}: {settled:?}");
        }
        for (key, count) in counted(&server).await {
            assert_eq!(count, 1, "{key}");
        }
    }
}
