//! Many want the same locks.

use std::sync::Arc;

use semel::{AcquiredWithin, TryAcquired};
use semel_testkit::PostgresServer;

use super::{millis, process, secs};

/// What a server writes to its log when something went wrong.
fn troubles(log: &str) -> Vec<&str> {
    let is_trouble = |line: &&str| {
        ["ERROR:", "FATAL:", "PANIC:", "WARNING:"].iter().any(|word| line.contains(word))
    };
    log.lines().filter(is_trouble).collect()
}

/// SH-7: eight processes fight over three locks, by trying and by waiting; the log of the database
/// stays clean.
#[tokio::test(flavor = "multi_thread")]
async fn sh7_contention_leaves_no_error_in_the_log_of_the_database() {
    let server = Arc::new(PostgresServer::launch().await.unwrap());
    let mut tasks = Vec::new();
    for number in 0..8_usize {
        let locks = process(&server.url(), &format!("process {number}")).await;
        tasks.push(tokio::spawn(async move {
            let (mut got, mut held) = (0, 0);
            for round in 0..60_usize {
                let resource = format!("r{}", (number + round) % 3);
                if round % 2 == 0 {
                    match locks.try_acquire(&resource, secs(30)).await.unwrap() {
                        TryAcquired::Held(_) => held += 1,
                        TryAcquired::Acquired(guard) => {
                            got += 1;
                            semel::timer::sleep(millis(2)).await;
                            guard.release().await.unwrap();
                        }
                    }
                } else {
                    let waited = locks.acquire_within(&resource, secs(30), secs(60)).await.unwrap();
                    let AcquiredWithin::Acquired(guard) = waited else { panic!("timed out") };
                    got += 1;
                    guard.release().await.unwrap();
                }
            }
            (got, held, locks)
        }));
    }
    // A process that ends while the server has a hint for it shows in the log too. None does here
    // before that is read.
    let (mut got, mut held, mut processes) = (0, 0, Vec::new());
    for task in tasks {
        let (more, others, locks) = task.await.unwrap();
        (got, held) = (got + more, held + others);
        processes.push(locks);
    }
    assert!(held > 20 && got > 240, "the void rule: {got} were got and {held} were held");
    assert_eq!(troubles(&server.log()), Vec::<&str>::new());
    drop(processes);
    // The control: an error does get there.
    server.sql("SELECT no_such_column").await.unwrap_err();
    let seen = semel_testkit::eventually(secs(20), "an error in the log", || async {
        (!troubles(&server.log()).is_empty()).then_some(())
    });
    seen.await.unwrap();
}
