//! Record and rows in one transaction, whatever happens to it.

mod support;

use std::sync::Arc;
use std::time::Duration;

use semel_core::cocommit::{Began, Recorded};
use semel_core::{Store, StoreErrorKind, Touch};
use semel_postgres::{PostgresStore, Transactional};
use semel_testkit::{PostgresServer, within};
use support::cocommit::*;
use support::*;

// ===== as it should be =====

#[tokio::test]
async fn a_call_books_once_and_every_repeat_replays_its_answer() {
    let shop = shop().await;
    let mut client = shop.client().await;
    let work = fresh(shop.transactional.begin(&mut client, &call("a")).await.expect("a begin"));
    let answer = book(work.transaction(), "a").await;
    // Nobody sees any of it before the commit.
    assert_eq!((booked(&shop.server, "a").await, look(&shop.store, "a").await), (0, None));
    let recorded = work.commit(outcome(answer.clone())).await.expect("a commit");
    assert_eq!(recorded, Recorded::Whole);
    for _ in 0..3 {
        let began = shop.transactional.begin(&mut client, &call("a")).await.expect("a begin");
        assert_eq!(replayed(began), answer);
        let began = shop.transactional.begin_owned(&call("a")).await.expect("a begin");
        assert_eq!(replayed(began), answer);
    }
    assert_eq!(booked(&shop.server, "a").await, 1);
    let other = shop.transactional.begin(&mut client, &call_of("a", "cancel")).await;
    assert!(matches!(other, Ok(Began::KeyReused { .. })), "{other:?}");
}

#[tokio::test]
async fn work_on_a_connection_of_the_stores_commits_the_same_way() {
    let shop = shop().await;
    let work = fresh(shop.transactional.begin_owned(&call("a")).await.expect("a begin"));
    let answer = book(work.client().expect("a connection"), "a").await;
    work.commit(outcome(answer.clone())).await.expect("a commit");
    assert_eq!(booked(&shop.server, "a").await, 1);
    let began = shop.transactional.begin_owned(&call("a")).await.expect("a begin");
    assert_eq!(replayed(began), answer);
}

/// What a door for web services needs: work that a request carries to its handler, and futures
/// that may run on any thread.
#[tokio::test]
async fn owned_work_can_travel_with_a_request() {
    fn travels<T: Send + Sync + 'static>(value: T) -> T {
        value
    }
    fn sends<T: Send>(future: T) -> T {
        future
    }
    let shop = shop().await;
    let at = call("a");
    let began = sends(shop.transactional.begin_owned(&at)).await.expect("a begin");
    let work = Arc::new(travels(fresh(began)));
    let handler = tokio::spawn({
        let work = Arc::clone(&work);
        async move { book(work.client().expect("a connection"), "a").await }
    });
    let answer = handler.await.expect("no panic");
    let work = Arc::into_inner(work).expect("the handler has given it back");
    sends(work.commit(outcome(answer))).await.expect("a commit");
    assert_eq!(booked(&shop.server, "a").await, 1);
}

/// F-127: the transaction may have been open for long when the call begins in it.
#[tokio::test]
async fn deadlines_count_from_the_claim_and_not_from_the_start_of_the_transaction() {
    let shop = shop().await;
    let mut client = shop.client().await;
    let transaction = client.transaction().await.expect("a transaction");
    transaction.execute("SELECT pg_sleep(0.3)", &[]).await.expect("a while");
    let before = shop.store.read(&key("elsewhere"), Touch::No).await.expect("a read").now;
    let began = shop.transactional.begin_on(transaction, &call("a")).await;
    let work = fresh(began.expect("a begin"));
    assert!(work.fence().get() > before.as_micros(), "the claim is younger than its transaction");
    work.commit(outcome("done")).await.expect("a commit");
    let kept = look(&shop.store, "a").await.expect("it is there").keep_left;
    assert!(kept.as_duration() > Duration::from_secs(3_599), "an hour from its end: {kept:?}");
}

/// The cost that is promised: two statements beside the caller's own, one for a replay.
#[tokio::test]
async fn a_first_call_adds_two_statements_and_a_replay_is_one() {
    let shop = shop_on(PostgresServer::builder().setting("log_statement", "all")).await;
    let mut client = shop.client().await;
    let pid: i32 = client.query_one("SELECT pg_backend_pid()", &[]).await.expect("a row").get(0);
    let sent = |log: String| -> Vec<String> {
        let ours = format!("[{pid}]");
        let lines = log.lines().filter(|line| line.contains(&ours) && !line.contains("DETAIL"));
        lines.map(str::to_owned).collect()
    };
    let before = sent(shop.server.log()).len();
    let work = fresh(shop.transactional.begin(&mut client, &call("a")).await.expect("a begin"));
    work.commit(outcome("nothing")).await.expect("a commit");
    let first = sent(shop.server.log()).split_off(before);
    assert_eq!(first.len(), 4, "BEGIN, claim, outcome, COMMIT: {first:#?}");
    let began = shop.transactional.begin(&mut client, &call("a")).await.expect("a begin");
    assert_eq!(replayed(began), "nothing");
    let replay = sent(shop.server.log()).split_off(before + 4);
    assert_eq!(replay.len(), 3, "BEGIN, claim, ROLLBACK: {replay:#?}");
}

#[tokio::test]
async fn an_answer_over_the_limit_commits_its_rows_without_the_payload() {
    let shop = shop().await;
    let small = PostgresStore::builder(&shop.server.url()).max_value_bytes(1_000).open().await;
    let transactional = Transactional::new(&small.expect("a store"));
    let mut client = shop.client().await;
    let work = fresh(transactional.begin(&mut client, &call("a")).await.expect("a begin"));
    book(work.transaction(), "a").await;
    let recorded = work.commit(outcome(vec![0; 5_000])).await.expect("a commit");
    assert_eq!((recorded, booked(&shop.server, "a").await), (Recorded::InPart, 1));
    match transactional.begin(&mut client, &call("a")).await.expect("a begin") {
        Began::Replay(outcome) => assert_eq!(outcome.extent, semel_core::Extent::Partial),
        began => panic!("it ran: {began:?}"),
    }
}

// ===== duplicates at the same time =====

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_200_concurrent_duplicates_one_books_and_all_have_its_answer() {
    let shop = shop().await;
    let patient = shop.transactional.clone().wait(Duration::from_secs(60));
    let duplicates = (0..200).map(|_| {
        let (url, transactional) = (shop.server.url(), patient.clone());
        tokio::spawn(async move {
            let mut client = client_of(&url).await;
            match transactional.begin(&mut client, &call("a")).await.expect("a begin") {
                Began::Fresh(work) => {
                    let answer = book(work.transaction(), "a").await;
                    // The others get time to pile up.
                    semel_testkit::pass(Duration::from_millis(300)).await;
                    work.commit(outcome(answer.clone())).await.expect("a commit");
                    (1, answer)
                }
                began => (0, replayed(began)),
            }
        })
    });
    let duplicates: Vec<_> = duplicates.collect();
    let mut all = Vec::new();
    for duplicate in duplicates {
        all.push(duplicate.await.expect("no panic"));
    }
    assert_eq!(all.iter().map(|(fresh, _)| fresh).sum::<u32>(), 1, "one must have run");
    assert!(all.iter().all(|(_, answer)| *answer == all[0].1), "all must have its answer");
    assert_eq!(booked(&shop.server, "a").await, 1);
    let rows = "SELECT count(*) FROM semel.semel_entry";
    assert_eq!(shop.server.sql(rows).await.expect("an answer"), "1");
}

/// Of many that fail one after the other, the first that succeeds is the one.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn duplicates_of_calls_that_roll_back_take_their_turns() {
    let shop = shop().await;
    let patient = shop.transactional.clone().wait(Duration::from_secs(60));
    let duplicates = (0..30).map(|number| {
        let (url, transactional) = (shop.server.url(), patient.clone());
        tokio::spawn(async move {
            let mut client = client_of(&url).await;
            let began = transactional.begin(&mut client, &call("a")).await.expect("a begin");
            let Began::Fresh(work) = began else {
                replayed(began);
                return 0;
            };
            let answer = book(work.transaction(), "a").await;
            if number % 5 == 0 {
                work.commit(outcome(answer)).await.expect("a commit");
                return 1;
            }
            // By word, and by dropping it, with the whole connection.
            if number % 2 == 0 {
                work.rollback().await.expect("a rollback");
            }
            0
        })
    });
    let duplicates: Vec<_> = duplicates.collect();
    let mut committed = 0;
    for duplicate in duplicates {
        committed += duplicate.await.expect("no panic");
    }
    assert_eq!((committed, booked(&shop.server, "a").await), (1, 1));
}

#[tokio::test]
async fn a_duplicate_that_waits_in_vain_says_so_and_its_transaction_goes_on() {
    let shop = shop().await;
    let (mut first, mut second) = (shop.client().await, shop.client().await);
    let work = fresh(shop.transactional.begin(&mut first, &call("a")).await.expect("a begin"));
    second.batch_execute("SET lock_timeout = '77s'").await.expect("a setting");
    let transaction = second.transaction().await.expect("a transaction");
    let hasty = shop.transactional.clone().wait(Duration::from_millis(100));
    let began = within(SECOND * 5, "an answer", hasty.claim_in(&transaction, &call("a"))).await;
    let began = began.expect("in time").expect("a begin");
    assert!(matches!(began, Began::Uncommitted), "{began:?}");
    // Its settings are its own again, and it can write.
    let setting = transaction.query_one("SHOW lock_timeout", &[]).await.expect("a row");
    assert_eq!(setting.get::<_, &str>(0), "77s");
    book(&transaction, "b").await;
    transaction.commit().await.expect("a commit");
    work.rollback().await.expect("a rollback");
    assert_eq!((booked(&shop.server, "a").await, booked(&shop.server, "b").await), (0, 1));
}

/// Two calls with two keys each, in opposite order: one is undone, and nothing of it stays.
#[tokio::test]
async fn transactions_that_wait_for_each_other_end_in_one_of_them_being_undone() {
    let shop = shop().await;
    let patient = shop.transactional.clone().wait(Duration::from_secs(30));
    let (mut first, mut second) = (shop.client().await, shop.client().await);
    let one = first.transaction().await.expect("a transaction");
    let other = second.transaction().await.expect("a transaction");
    let _a = fresh(patient.claim_in(&one, &call("a")).await.expect("a claim"));
    let _b = fresh(patient.claim_in(&other, &call("b")).await.expect("a claim"));
    let (at_b, at_a) = (call("b"), call("a"));
    let both = futures_util::future::join(
        async {
            let began = patient.claim_in(&one, &at_b).await;
            one.rollback().await.expect("a rollback");
            began
        },
        async {
            let began = patient.claim_in(&other, &at_a).await;
            other.rollback().await.expect("a rollback");
            began
        },
    );
    let (one, other) = within(PATIENCE, "an end", both).await.expect("in time");
    let undone: Vec<_> = [one, other].into_iter().filter_map(Result::err).collect();
    assert_eq!(undone.len(), 1, "{undone:?}");
    assert_eq!(undone[0].kind(), StoreErrorKind::NotApplied, "{undone:?}");
    assert_eq!((look(&shop.store, "a").await, look(&shop.store, "b").await), (None, None));
}

// ===== other guarantees under the same key =====

#[tokio::test]
async fn a_call_that_is_held_outside_a_transaction_is_not_run_beside_it() {
    let shop = shop().await;
    let mut client = shop.client().await;
    let held = call("a");
    let semel_core::cocommit::Step::Swap { expect, next, .. } =
        held.step(&semel_core::protocol::Seen::presumed_free())
    else {
        panic!("it is free");
    };
    win(&shop.store, "a", expect, next).await;
    let began = shop.transactional.begin(&mut client, &call("a")).await.expect("a begin");
    assert!(matches!(began, Began::InFlight { .. }), "{began:?}");
    drop(began);
    // Once its lease has ended it is taken over, and its late owner changes nothing.
    let end = "UPDATE semel.semel_entry SET lease_at = 1";
    shop.server.sql(end).await.expect("an update");
    let work = fresh(shop.transactional.begin(&mut client, &call("a")).await.expect("a begin"));
    assert_eq!(work.claimed().claim().attempt, 2);
    work.rollback().await.expect("a rollback");
    assert!(look(&shop.store, "a").await.is_some(), "rolled back, the old claim is there again");
    let work = fresh(shop.transactional.begin(&mut client, &call("a")).await.expect("a begin"));
    work.commit(outcome("taken over")).await.expect("a commit");
}

#[tokio::test]
async fn a_swap_of_the_store_waits_for_the_transaction_and_no_longer_than_it_may() {
    let shop = shop().await;
    let store = hasty(&shop.server.url()).open().await.expect("a store");
    let mut client = shop.client().await;
    let work = fresh(shop.transactional.begin(&mut client, &call("a")).await.expect("a begin"));
    assert_eq!(kind(claim(&store, "a").await), StoreErrorKind::NotApplied);
    work.commit(outcome("done")).await.expect("a commit");
    assert!(matches!(claim(&store, "a").await, Ok(semel_core::Swap::Lost(_))));
}
