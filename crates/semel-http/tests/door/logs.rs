//! What is logged, and what never is.

use std::time::Duration;

use semel::{OnException, Once};

use crate::support::door::created;
use crate::support::logs::Logs;
use crate::support::store::{Comes, Doing, NOT_APPLIED, Ruled};
use crate::support::{Door, alice, once, order, policy};

/// P10: no log shows the key, the body, or whose they are.
#[tokio::test(start_paused = true)]
async fn p10_nothing_that_is_logged_shows_a_key_a_body_or_a_scope() {
    let (logs, _guard) = Logs::begin();
    let store = Ruled::new(|doing| match doing {
        Doing::Finish(_) => Comes::Before(NOT_APPLIED),
        _ => Comes::Through,
    });
    let door = Door::counting(Once::new(store), |layer| layer);
    let order = |key: &str, body: &'static str| {
        let mut order = order(key, body);
        let scope = semel::Scope::new("tenant-secret", "subject-secret").unwrap();
        order.extensions_mut().insert(scope);
        order
    };
    door.send(order("key-secret", "body-secret")).await;
    door.send(order("key-secret", "other-secret")).await;
    door.send(order("key-secret\"", "body-secret")).await;
    semel::timer::sleep(Duration::from_secs(7_200)).await;
    let text = logs.text();
    assert!(text.contains("could not be recorded"), "something was logged: {text}");
    assert!(!text.contains("secret"), "{text}");
}

/// P10: what the handler logs can be followed: by a digest of the key, and the attempt.
#[tokio::test(start_paused = true)]
async fn p10_what_the_handler_logs_stands_in_the_span_of_its_call() {
    let (logs, _guard) = Logs::begin();
    let doubt = policy(|policy| policy.on_exception(OnException::Doubt));
    let door = Door::with(
        once(),
        |layer| layer.policy(doubt),
        |asked| async move {
            tracing::info!("the handler is at work");
            if asked.run == 1 { Err("raised".into()) } else { Ok(created(asked.run)) }
        },
    );
    door.try_send(order("k", "{}")).await.unwrap_err();
    door.send(order("k", "{}")).await;
    let digest = semel::Key::idempotency(&alice(), "k").unwrap().digest();
    let text = logs.text();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("is at work")).collect();
    assert_eq!(lines.len(), 2, "{text}");
    for (line, attempt) in lines.iter().zip(["attempt=1", "attempt=2"]) {
        for part in ["idempotent_call", &format!("key={digest}"), "operation=POST /orders", attempt]
        {
            assert!(line.contains(part), "{part} in {line}");
        }
    }
}
