//! Poison, the dead-letter queue, and the way back out of it.

use super::broker::Broker;
use super::consumers::Start;
use super::queues::{PATIENCE, Queues};
use super::rows;
use super::{TURN, rabbit};

/// A payment for an account that is not there is poison. Once the account is opened it is sent
/// again, and is booked; those that were booked meanwhile are not booked again.
#[tokio::test(flavor = "multi_thread")]
async fn what_comes_out_of_the_dead_letter_queue_is_handled() {
    let _turn = TURN.lock().await;
    let rabbit = rabbit().await;
    let (url, queue) = (rabbit.url(), "redrive");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.db");
    let broker = Broker::connect(&url, queue, 1).await.unwrap();
    for (event, payment) in [("1", "alice 1999"), ("2", "bob 5"), ("3", "nonsense"), ("2", "bob 5")]
    {
        broker.publish(event, payment.as_bytes()).await.unwrap();
    }
    let store = format!("sqlite:{}", file.display());
    let start = Start {
        arguments: ["consume", &url, &store, "queue=redrive", "attempts=2"]
            .map(str::to_owned)
            .into(),
    };
    let consumer = start.go();
    let queues = Queues::look(&url, queue).await;
    // Both copies of the payment to bob.
    queues.until_dead(3).await;
    assert_eq!(rows::of_sqlite(&file), [("1".to_owned(), 1)].into());

    let db = semel_sqlite::rusqlite::Connection::open(&file).unwrap();
    db.busy_timeout(PATIENCE).unwrap();
    db.execute("INSERT INTO accounts VALUES ('bob')", ()).unwrap();
    assert_eq!(broker.redrive().await.unwrap(), 3);
    queues.until_dead(1).await;
    queues.until_drained().await;
    let said = consumer.kill();
    assert_eq!(queues.left().await, 0);
    let expected = [("1".to_owned(), 1), ("2".to_owned(), 1)].into();
    assert_eq!(rows::of_sqlite(&file), expected, "{said:?}");
    let tried_too_often = said.iter().filter(|said| *said == "tried too often").count();
    assert_eq!(tried_too_often, 4, "three messages, and the malformed one twice: {said:?}");
}
