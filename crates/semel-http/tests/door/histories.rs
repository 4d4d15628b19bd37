//! Any history of requests keeps the promise: one final run for a key, and one answer for all.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use futures_util::FutureExt;
use http::{HeaderValue, Response};
use proptest::prelude::*;
use semel::timer::sleep;
use tokio::task::JoinSet;

use crate::support::bodies::Scripted;
use crate::support::{Answer, Asked, BoxError, Door, Order, once, order, polled, until};

const KEYS: [&str; 3] = ["k", "l", "m"];
const BODIES: [&str; 2] = ["{}", "[]"];

/// How a run ends, if it comes to one.
#[derive(Debug, Clone, Copy)]
enum Ends {
    /// 201, after so many milliseconds.
    Final(u16),
    /// 201 in pieces whose length nobody knows.
    Stream,
    /// 503: the key is freed.
    Transient(u16),
    Raises,
    Panics,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    /// Sends and waits for the answer.
    Send {
        key: usize,
        body: usize,
        ends: Ends,
    },
    /// Sends and goes on.
    Spawn {
        key: usize,
        body: usize,
        ends: Ends,
    },
    /// Sends and hangs up after so many polls.
    HangUp {
        key: usize,
        body: usize,
        ends: Ends,
        polls: usize,
    },
    Pass(u16),
}

fn ends() -> impl Strategy<Value = Ends> {
    prop_oneof![
        4 => (0..4_000_u16).prop_map(Ends::Final),
        1 => Just(Ends::Stream),
        2 => (0..4_000_u16).prop_map(Ends::Transient),
        1 => Just(Ends::Raises),
        1 => Just(Ends::Panics),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let what = || (0..KEYS.len(), 0..BODIES.len(), ends());
    prop_oneof![
        2 => what().prop_map(|(key, body, ends)| Step::Send { key, body, ends }),
        4 => what().prop_map(|(key, body, ends)| Step::Spawn { key, body, ends }),
        3 => (what(), 0..12_usize)
            .prop_map(|((key, body, ends), polls)| Step::HangUp { key, body, ends, polls }),
        1 => (0..60_000_u16).prop_map(Step::Pass),
    ]
}

/// What is known of the runs under one key.
#[derive(Debug, Default)]
struct Seen {
    running: u32,
    finals: u32,
    body: Option<Vec<u8>>,
}

type Ledger = Arc<Mutex<HashMap<String, Seen>>>;

/// A run under a key, from its begin to its end.
struct Run {
    ledger: Ledger,
    key: String,
}

impl Run {
    fn begins(ledger: &Ledger, asked: &Asked) -> Self {
        let key = asked.head.headers["idempotency-key"].to_str().unwrap().to_owned();
        let mut entries = ledger.lock().unwrap();
        let seen = entries.entry(key.clone()).or_default();
        assert_eq!(seen.running, 0, "two runs of {key} at once");
        assert_eq!(seen.finals, 0, "{key} runs again after its final answer");
        seen.running += 1;
        seen.body = Some(asked.body.to_vec());
        drop(entries);
        Self { ledger: Arc::clone(ledger), key }
    }

    fn is_final(&self) {
        self.ledger.lock().unwrap().get_mut(&self.key).unwrap().finals += 1;
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.ledger.lock().unwrap().get_mut(&self.key).unwrap().running -= 1;
    }
}

async fn handle(run: Run, asked: Asked) -> Result<Response<Body>, BoxError> {
    let answer = |status: u16, body: Body| Ok(Response::builder().status(status).body(body)?);
    let says = format!("{} run {}", run.key, asked.run);
    match asked.head.extensions.get::<Ends>().unwrap() {
        Ends::Final(millis) => {
            sleep(Duration::from_millis((*millis).into())).await;
            run.is_final();
            answer(201, says.into())
        }
        Ends::Stream => {
            run.is_final();
            let body = Scripted::new([crate::support::bodies::Step::Data(says.into())]);
            answer(201, body.body())
        }
        Ends::Transient(millis) => {
            sleep(Duration::from_millis((*millis).into())).await;
            answer(503, says.into())
        }
        Ends::Raises => Err("raised".into()),
        // Without a word on stderr, of which there would be many.
        Ends::Panics => std::panic::resume_unwind(Box::new("a handler that panics")),
    }
}

fn asking(key: usize, body: usize, ends: Ends) -> Order {
    let mut order = order(KEYS[key], BODIES[body]);
    order.headers_mut().insert("x-key", HeaderValue::from_static(KEYS[key]));
    order.extensions_mut().insert(ends);
    order
}

/// An answer with the key that it was asked under.
type Told = (usize, Result<Answer, String>);

async fn live(door: &Door, steps: &[Step]) -> Vec<Told> {
    let mut told = Vec::new();
    let mut under_way = JoinSet::new();
    for step in steps {
        match *step {
            Step::Pass(millis) => sleep(Duration::from_millis(millis.into())).await,
            Step::HangUp { key, body, ends, polls } => {
                let call = polled(polls, door.call(asking(key, body, ends)));
                // A handler's panic goes on to its caller, here as below.
                drop(AssertUnwindSafe(call).catch_unwind().await);
            }
            Step::Spawn { key, body, ends } | Step::Send { key, body, ends } => {
                let (door, order) = (door.clone(), asking(key, body, ends));
                let call = async move {
                    (key, door.try_send(order).await.map_err(|error| error.to_string()))
                };
                if matches!(step, Step::Spawn { .. }) {
                    under_way.spawn(call);
                } else {
                    told.extend(tokio::spawn(call).await.ok());
                }
            }
        }
    }
    while let Some(ended) = under_way.join_next().await {
        told.extend(ended.ok());
    }
    told
}

fn keeps_the_promise(steps: &[Step]) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    let ledger = Ledger::default();
    let book = Arc::clone(&ledger);
    let door =
        Door::with(once(), |layer| layer, move |asked| handle(Run::begins(&book, &asked), asked));
    let told = runtime.block_on(async {
        let told = live(&door, steps).await;
        let drained = door.once.drain(Duration::from_secs(3_600)).await;
        assert_eq!(drained, semel::Drained::All);
        until(|| (door.once.held(), door.once.watched()) == (0, 0)).await;
        told
    });
    let mut answers: HashMap<usize, Vec<u8>> = HashMap::new();
    for (key, told) in &told {
        let answer = match told {
            Ok(answer) => answer,
            Err(error) => {
                prop_assert_eq!(error, "raised");
                continue;
            }
        };
        match (answer.status.as_u16(), answer.header("idempotency-error")) {
            (201, None) => {
                let first = answers.entry(*key).or_insert_with(|| answer.body.to_vec());
                prop_assert_eq!(&answer.body[..], &first[..], "two answers under one key");
            }
            (503, None) => prop_assert!(!answer.is_marked(), "a transient answer was recorded"),
            (409, Some("CACHING_CONFLICT_002" | "CACHING_CONFLICT_003"))
            | (422, Some("CACHING_VALIDATION_003")) => {}
            _ => return Err(TestCaseError::fail(format!("{answer:?}"))),
        }
    }
    for (key, seen) in &*ledger.lock().unwrap() {
        prop_assert!(seen.finals <= 1 && seen.running == 0, "{} {:?}", key, seen);
    }
    // Whatever happened, who asks once more under a final answer gets it.
    for (key, body) in answers {
        let seen = ledger.lock().unwrap()[KEYS[key]].body.clone().unwrap();
        let n = usize::from(seen == BODIES[1].as_bytes());
        let again = runtime.block_on(door.send(asking(key, n, Ends::Panics)));
        prop_assert_eq!(&again.body[..], &body[..]);
        prop_assert!(again.is_marked());
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_history_has_one_final_run_for_a_key_and_one_answer(
        steps in prop::collection::vec(step(), 1..25),
    ) {
        keeps_the_promise(&steps)?;
    }
}
