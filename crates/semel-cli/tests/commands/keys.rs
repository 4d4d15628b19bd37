//! `semel key`.

use crate::support::{Bench, until};

async fn once(bench: &Bench, key: &str, script: &str) -> i32 {
    bench.run(["once", key, "--", "sh", "-c", script]).await.code
}

#[tokio::test]
async fn keys_are_listed_for_people_and_for_programs() {
    let bench = Bench::new();
    assert_eq!(bench.run(["key", "ls"]).await.err, "semel: there are no keys\n");
    once(&bench, "migrate:2026-11-30", "echo hello; exit 3").await;
    once(&bench, "other", "true").await;
    let table = bench.run(["key", "ls"]).await.out;
    assert!(
        table.starts_with("KEY") && table.contains("done, exit code 3, 6 bytes printed"),
        "{table}"
    );
    assert_eq!(table.lines().count(), 3);
    let line = bench.run(["key", "ls", "--json", "migrate:"]).await.out;
    let told: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&told["state"], &told["exit_code"]), (&"done".into(), &3.into()));
}

#[tokio::test]
async fn a_key_is_shown_by_the_name_that_once_took_or_by_its_own() {
    let bench = Bench::new();
    once(&bench, "migrate:1", "exit 3").await;
    let shown = bench.run(["key", "show", "migrate:1"]).await;
    for part in ["idem:-:-:migrate%3A1", "done, exit code 3", "semel once", "kept until"] {
        assert!(shown.out.contains(part), "{part} is missing: {}", shown.out);
    }
    assert_eq!(bench.run(["key", "show", "idem:-:-:migrate%3A1"]).await, shown);
    assert!(!shown.out.contains('\x1b'), "colours where no terminal is");
    let none = bench.run(["key", "show", "nothing"]).await;
    assert_eq!((none.code, none.out.as_str()), (1, ""));
}

/// What a consumer has handled stands beside the calls, under a key of another sort.
#[tokio::test]
async fn messages_are_listed_shown_and_forgotten_by_their_own_keys() {
    use semel::inbox::{Consumer, Delivery, Envelope, Inbox, MessageId};
    let bench = Bench::new();
    once(&bench, "a", "true").await;
    let store = semel::open(&format!("sqlite:{}", bench.file("semel.db").display())).await.unwrap();
    let inbox = Inbox::new(semel::Once::new(store), Consumer::new("billing").unwrap()).unwrap();
    let envelope = Envelope::new(MessageId::new("/shop", "e-1").unwrap());
    let handle = async || inbox.receive(&envelope).run(async |_| Ok::<_, ()>(())).await;
    assert!(matches!(handle().await, Ok(Delivery::Handled)));
    let table = bench.run(["key", "ls", "inbox:"]).await.out;
    assert!(table.contains("inbox:billing:/shop:e-1") && !table.contains("idem:"), "{table}");
    assert_eq!(bench.run(["key", "ls"]).await.out.lines().count(), 2, "calls alone");
    let shown = bench.run(["key", "show", "inbox:billing:/shop:e-1"]).await;
    assert!(shown.code == 0 && shown.out.contains("done"), "{}", shown.out);
    assert!(matches!(handle().await, Ok(Delivery::Duplicate)));
    assert_eq!(bench.run(["key", "forget", "inbox:billing:/shop:e-1"]).await.code, 0);
    assert!(matches!(handle().await, Ok(Delivery::Handled)));
}

/// Records the answer of an HTTP handler, as the layer does.
async fn answered(bench: &Bench, key: &str, status: u16, extent: semel::Extent) {
    let once = semel::Once::new(semel::open(bench.store()).await.unwrap());
    let operation = semel::Operation::new("POST /orders").unwrap();
    let scope = semel::Scope::anonymous();
    let call = semel::Call::new(&once.default_policy(), &scope, key, operation).unwrap();
    let semel::Begun::Fresh(mut claim) = once.begin(&call).await else { panic!("it is free") };
    let response = http::Response::builder().status(status).body(Default::default()).unwrap();
    let outcome = semel_http::outcome_of(&semel_http::HttpSettings::default(), &response);
    let finished = claim.record(semel::Outcome { extent, ..outcome }).await;
    assert!(matches!(finished, semel::Finished::Recorded));
}

#[tokio::test]
async fn a_recorded_http_answer_is_shown_with_its_status() {
    let bench = Bench::new();
    answered(&bench, "order-1", 201, semel::Extent::Whole).await;
    answered(&bench, "order-2", 404, semel::Extent::Partial).await;
    answered(&bench, "order-3", 299, semel::Extent::Whole).await;
    let shown = bench.run(["key", "show", "order-1"]).await.out;
    assert!(shown.contains("state      done, 201 Created\n"), "{shown}");
    let json = bench.run(["key", "show", "order-1", "--json"]).await.out;
    let told: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(told["http_status"], 201);
    let listed = bench.run(["key", "ls"]).await.out;
    for state in ["done, 201 Created", "done, 404 Not Found, not kept whole", "done, 299 "] {
        assert!(listed.contains(state), "{state} is missing: {listed}");
    }
}

#[tokio::test]
async fn a_forgotten_key_runs_again() {
    let bench = Bench::new();
    once(&bench, "k", "echo ran >> runs").await;
    assert_eq!(bench.run(["key", "forget", "k"]).await.code, 0);
    once(&bench, "k", "echo ran >> runs").await;
    assert_eq!(bench.read("runs"), "ran\nran\n");
    assert_eq!(bench.run(["key", "forget", "nothing"]).await.code, 1);
}

#[tokio::test]
async fn what_runs_or_is_done_is_not_in_doubt_and_what_runs_is_forgotten_only_by_force() {
    let bench = Bench::new();
    let script = "touch up; while ! test -e go; do sleep 0.02; done";
    let running = bench.start(["once", "k", "--", "sh", "-c", script]);
    until("the command", async || bench.file("up").exists().then_some(())).await;
    let resolved = bench.run(["key", "resolve", "k", "--free"]).await;
    assert_eq!(resolved.code, 1);
    assert!(resolved.err.contains("not in doubt: it runs"), "{}", resolved.err);
    assert_eq!(bench.run(["key", "forget", "k"]).await.code, 1);
    assert_eq!(bench.run(["key", "forget", "k", "--force"]).await.code, 0);
    std::fs::write(bench.file("go"), "").unwrap();
    let done = running.done().await;
    assert_eq!(done.code, 0);
    assert!(done.err.contains("settled or forgotten by somebody"), "{}", done.err);
    assert_eq!(bench.run(["key", "show", "k"]).await.code, 1);
    once(&bench, "k", "true").await;
    let resolved = bench.run(["key", "resolve", "k", "--done", "0"]).await;
    assert!(resolved.code == 1 && resolved.err.contains("it is done"), "{}", resolved.err);
    assert_eq!(bench.run(["key", "resolve", "k"]).await.code, 64);
    assert_eq!(bench.run(["key", "resolve", "k", "--done", "0", "--free"]).await.code, 64);
}
