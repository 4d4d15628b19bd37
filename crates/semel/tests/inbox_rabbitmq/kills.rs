//! Two hundred events, most of them published more than once, while consumers are killed at any
//! moment.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use semel_testkit::{PostgresServer, RabbitServer, pass};

use super::broker::Broker;
use super::consumers::{Running, Start};
use super::queues::Queues;
use super::rows::{self, Rows};
use super::{TURN, rabbit};

const EVENTS: u32 = 200;
const CONSUMERS: usize = 3;
/// How many messages a consumer works on at once.
const AT_ONCE: u32 = 4;
const MOST_KILLS: u32 = 40;

/// What happened.
struct Run {
    kills: u32,
    /// What consumers said of messages, killed ones too.
    said: Vec<String>,
    published: usize,
}

fn seed() -> u64 {
    let named = std::env::var("SEMEL_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = named.unwrap_or_else(|| rand::rng().random());
    println!("SEMEL_TEST_SEED={seed}");
    seed
}

/// Publishes, consumes and kills until nothing is left in any queue.
async fn run(queue: &str, store: &str, more: &[&str]) -> Run {
    let mut dice = StdRng::seed_from_u64(seed());
    let rabbit = rabbit().await;
    let url = rabbit.url();
    let published = publish(&url, queue, &mut dice).await;
    let mut arguments: Vec<String> = ["consume", &url, store].map(str::to_owned).into();
    arguments.extend([format!("queue={queue}"), "attempts=1000".to_owned()]);
    arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
    let start = Start { arguments };
    let mut run = Run { kills: 0, said: Vec::new(), published };
    let queues = Queues::look(&url, queue).await;
    let mut consumers: Vec<Running> = (0..CONSUMERS).map(|_| start.go()).collect();
    while run.kills < MOST_KILLS && queues.seen("").await.ready > 0 {
        pass(Duration::from_millis(dice.random_range(20..200))).await;
        let victim = dice.random_range(0..CONSUMERS);
        let killed = std::mem::replace(&mut consumers[victim], start.go());
        run.said.extend(killed.kill());
        run.kills += 1;
    }
    run.said.extend(drain(&queues, &start, consumers).await);
    assert_eq!(queues.seen(".dead").await.ready, 0, "nothing was put aside");
    println!("{} messages of {EVENTS} events, {} kills", run.published, run.kills);
    assert!(run.kills >= 5, "some must have been killed at work");
    run
}

/// Lets consumers go on until nothing is left, neither in a queue nor in anybody's hands; gives what
/// they said.
async fn drain(queues: &Queues, start: &Start, mut consumers: Vec<Running>) -> Vec<String> {
    let mut said = Vec::new();
    loop {
        queues.until_drained().await;
        for consumer in consumers.drain(..) {
            said.extend(consumer.kill());
        }
        if queues.left().await == 0 {
            return said;
        }
        consumers.extend((0..CONSUMERS).map(|_| start.go()));
    }
}

async fn publish(url: &str, queue: &str, dice: &mut StdRng) -> usize {
    let broker = Broker::connect(url, queue, 1).await.unwrap();
    let mut copies: Vec<u32> = (0..EVENTS)
        .flat_map(|event| std::iter::repeat_n(event, dice.random_range(1..=3)))
        .collect();
    copies.shuffle(dice);
    for event in &copies {
        broker.publish(&format!("e-{event}"), b"alice 1999").await.unwrap();
    }
    copies.len()
}

fn each_exactly_once(rows: &Rows) {
    let expected: Rows = (0..EVENTS).map(|event| (format!("e-{event}"), 1)).collect();
    assert_eq!(*rows, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn in_one_transaction_of_sqlite_each_event_has_exactly_one_row() {
    let _turn = TURN.lock().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.db");
    let store = format!("sqlite:{}", file.display());
    run("kills-sqlite", &store, &["pause=25"]).await;
    each_exactly_once(&rows::of_sqlite(&file));
}

#[tokio::test(flavor = "multi_thread")]
async fn in_one_transaction_of_postgres_each_event_has_exactly_one_row() {
    let _turn = TURN.lock().await;
    let server = PostgresServer::launch().await.unwrap();
    run("kills-postgres", &server.url(), &["pause=300"]).await;
    each_exactly_once(&rows::of_postgres(&server).await);
}

/// Where rows and record commit one after the other, a kill between the two costs a second row.
/// Nothing else does: not a duplicate, not a redelivery, and none is lost.
#[tokio::test(flavor = "multi_thread")]
async fn in_two_commits_a_kill_between_them_is_the_only_way_to_a_second_row() {
    let _turn = TURN.lock().await;
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("inbox.db").display());
    let file = folder.path().join("shop.db");
    let rows_in = format!("rows={}", file.display());
    let run = run("kills-plain", &store, &[&rows_in, "pause=200", "lease=1"]).await;
    let rows = rows::of_sqlite(&file);
    assert_eq!(rows.len(), usize::try_from(EVENTS).unwrap(), "no event is lost");
    let doubled: u32 = rows.values().map(|count| count - 1).sum();
    println!("{doubled} second rows");
    assert!(doubled <= run.kills * AT_ONCE, "{doubled} second rows after {} kills", run.kills);
    let booked = run.said.iter().filter(|said| *said == "booked").count();
    assert!(booked <= rows.len(), "an event was recorded twice: {booked}");
}

/// The broker dies and comes back: what it had confirmed it delivers again, and that is harmless.
#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_killed_loses_nothing_and_nothing_is_done_twice() {
    let _turn = TURN.lock().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.db");
    let store = format!("sqlite:{}", file.display());
    let mut rabbit = RabbitServer::launch().await.unwrap();
    let (url, queue) = (rabbit.url(), "broker-dies");
    publish(&url, queue, &mut StdRng::seed_from_u64(seed())).await;
    let arguments = ["consume", &url, &store, "queue=broker-dies", "attempts=1000", "pause=25"];
    let start = Start { arguments: arguments.map(str::to_owned).into() };
    let mut said = 0;
    for _ in 0..2 {
        let consumers = [start.go(), start.go()];
        pass(Duration::from_millis(1_500)).await;
        rabbit.kill();
        // They end by themselves.
        said += consumers.into_iter().map(|consumer| consumer.ended().len()).sum::<usize>();
        rabbit.start().await.unwrap();
    }
    assert!(said > 0, "some work must have been done before");
    let queues = Queues::look(&url, queue).await;
    let rest = drain(&queues, &start, vec![start.go()]).await.len();
    println!("{said} deliveries before the last start, {rest} after it");
    assert!(rest > 0, "some must have been left for afterwards");
    each_exactly_once(&rows::of_sqlite(&file));
}
