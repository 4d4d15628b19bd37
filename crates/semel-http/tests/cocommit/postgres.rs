//! On a PostgreSQL server, in the service's own database.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::StatusCode;
use semel::InFlight;
use semel_http::{HttpSettings, IdempotencyLayer, OnDisconnect};
use semel_postgres::{HintSource, PostgresStore, Transactional};
use semel_testkit::{Cut, Direction, FaultProxy, PgBouncer, PostgresServer, eventually};

use crate::support::{How, OnServer, Place, Shop, got, order};

crate::suite::all_cases!(OnServer);

const PATIENCE: Duration = Duration::from_secs(30);

fn as_it_is(layer: IdempotencyLayer) -> IdempotencyLayer {
    layer
}

// ===== what it costs =====

/// The statements of all sessions, in their order.
fn statements(log: &str) -> Vec<String> {
    let said = log.lines().filter_map(|line| {
        let (_, sql) = line.split_once("LOG:  ")?;
        let (how, sql) = sql.split_once(": ")?;
        (how == "statement" || how.starts_with("execute")).then(|| sql.to_owned())
    });
    said.collect()
}

#[tokio::test]
async fn a_first_call_adds_a_claim_and_a_record_to_its_transaction_and_a_replay_is_one_statement() {
    let server = PostgresServer::builder().setting("log_statement", "all").start().await.unwrap();
    let place = OnServer::on(server).await;
    let transactions = place.transactions().await;
    let shop = Shop::over(place, transactions, &[How::Books], as_it_is);
    // Makes the connection.
    shop.send("before").await;
    let before = statements(&shop.place.server.log()).len();
    shop.send("a").await;
    let first = statements(&shop.place.server.log()).split_off(before);
    let kinds: Vec<&str> = first.iter().map(|sql| kind(sql)).collect();
    assert_eq!(kinds, ["BEGIN", "swap", "INSERT", "INSERT", "swap", "COMMIT"], "{first:#?}");
    assert!(shop.send("a").await.is_replay());
    let replay = statements(&shop.place.server.log()).split_off(before + first.len());
    let kinds: Vec<&str> = replay.iter().map(|sql| kind(sql)).collect();
    assert_eq!(kinds, ["BEGIN", "swap", "ROLLBACK"], "{replay:#?}");
}

fn kind(sql: &str) -> &str {
    if sql.contains("semel_swap_in") { "swap" } else { sql.split(' ').next().unwrap_or(sql) }
}

/// Duplicates hold no connection while they wait: whoever has another key goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn duplicates_that_wait_leave_the_connections_to_others() {
    let place = OnServer::make().await;
    let store = PostgresStore::builder(&place.server.url()).connections(2).open().await.unwrap();
    let transactions = Arc::new(Transactional::new(&store));
    let shop = Shop::over(place, transactions, &[How::Waits, How::Books], as_it_is);
    let calls = (0..200).map(|_| tokio::spawn(got(shop.app.clone(), order("a"))));
    let calls: Vec<_> = calls.collect();
    shop.at_work(1).await;
    for other in ["b", "c", "d"] {
        assert_eq!(shop.send(other).await.status, StatusCode::OK);
    }
    shop.plan.gate.add_permits(1);
    for call in calls {
        assert_eq!(call.await.unwrap().status, StatusCode::OK);
    }
    shop.assert_done("a", 1).await;
}

// ===== other processes =====

/// Two engines that know nothing of each other, as in two processes.
async fn two_shops(hows: [&[How]; 2], wait: InFlight) -> (Shop<OnServer>, Shop<OnServer>) {
    let place = OnServer::make().await;
    let (one, other) = (place.transactions().await, place.transactions().await);
    let first = Shop::over(place.clone(), one, hows[0], as_it_is);
    let second = Shop::over(place, other, hows[1], |layer| layer.in_flight(wait));
    (first, second)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_duplicate_at_another_process_waits_for_the_row_and_replays() {
    let wait = InFlight::Wait(PATIENCE);
    let (first, second) = two_shops([&[How::Waits], &[How::Books]], wait).await;
    let one = tokio::spawn(got(first.app.clone(), order("a")));
    first.at_work(1).await;
    let others: Vec<_> =
        (0..20).map(|_| tokio::spawn(got(second.app.clone(), order("a")))).collect();
    waits_for_a_row(&first.place.server).await;
    first.plan.gate.add_permits(1);
    let answer = one.await.unwrap();
    for other in others {
        let other = other.await.unwrap();
        assert_eq!((other.is_replay(), &other.body), (true, &answer.body));
    }
    assert_eq!(second.runs(), 0);
    first.assert_done("a", 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_duplicate_at_another_process_runs_when_the_first_is_rolled_back() {
    let wait = InFlight::Wait(PATIENCE);
    let (first, second) = two_shops([&[How::Waits], &[How::Books]], wait).await;
    let one = tokio::spawn(got(first.app.clone(), order("a")));
    first.at_work(1).await;
    let other = tokio::spawn(got(second.app.clone(), order("a")));
    waits_for_a_row(&first.place.server).await;
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
               WHERE state = 'idle in transaction'";
    first.place.server.sql(end).await.unwrap();
    assert_eq!(other.await.unwrap().status, StatusCode::OK);
    first.plan.gate.add_permits(1);
    let late = one.await.unwrap();
    assert!(late.status.is_server_error(), "its rows are gone: {late:?}");
    assert_eq!(second.runs(), 1);
    first.assert_done("a", 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_duplicate_at_another_process_waits_no_longer_than_it_may() {
    for wait in [InFlight::Reject, InFlight::Wait(Duration::from_millis(300))] {
        let (first, second) = two_shops([&[How::Waits], &[How::Books]], wait).await;
        let one = tokio::spawn(got(first.app.clone(), order("a")));
        first.at_work(1).await;
        let busy = second.send("a").await;
        assert_eq!(busy.code(), Some("CACHING_CONFLICT_002"), "{wait:?}: {busy:?}");
        first.plan.gate.add_permits(1);
        assert_eq!(one.await.unwrap().status, StatusCode::OK);
        assert!(second.send("a").await.is_replay());
    }
}

async fn waits_for_a_row(server: &PostgresServer) {
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    eventually(PATIENCE, "a duplicate that waits at the server", || async {
        (server.sql(waits).await.ok()? != "0").then_some(())
    })
    .await
    .unwrap();
}

/// Two server connections for all, and each transaction gets whichever is free.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_works_through_a_pooler_in_transaction_mode() {
    let place = OnServer::make().await;
    let pooler = PgBouncer::start(&place.server).await.unwrap();
    let builder = PostgresStore::builder(&pooler.url()).hints(HintSource::Off);
    let transactions = Arc::new(Transactional::new(&builder.open().await.unwrap()));
    let hows = [How::Answers(500), How::Books];
    let shop = Shop::over(place, transactions, &hows, as_it_is);
    assert_eq!(shop.send("a").await.status, StatusCode::INTERNAL_SERVER_ERROR);
    shop.assert_done("a", 0).await;
    let keys = ["a", "b", "c", "d", "e"];
    let calls = (0..60).map(|n| tokio::spawn(got(shop.app.clone(), order(keys[n % keys.len()]))));
    let calls: Vec<_> = calls.collect();
    for call in calls {
        assert_eq!(call.await.unwrap().status, StatusCode::OK);
    }
    for key in keys {
        shop.assert_done(key, 1).await;
    }
}

// ===== faults =====

/// F-122. The connection is cut after a byte of what follows the handler's first row: its second
/// row, the record and the commit. What the client is told is true, and a retry books once in all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_cut_at_any_byte_leaves_rows_and_record_that_agree() {
    let place = OnServer::make().await;
    let server = SocketAddr::from((Ipv4Addr::LOCALHOST, place.server.port()));
    let proxy = FaultProxy::start(server).await.unwrap();
    let url = format!("postgres://postgres@{}/postgres?sslmode=disable", proxy.address());
    let store = PostgresStore::builder(&url).hints(HintSource::Off).open().await.unwrap();
    let transactions = Arc::new(Transactional::new(&store));
    let shop = Shop::over(place, transactions, &[How::Waits], as_it_is);
    let mut seen = (0, 0, 0);
    for direction in [Direction::ToServer, Direction::ToClient] {
        let key = format!("{direction:?}");
        let length = passed_by_the_rest_of(&shop, &key, &proxy, direction, None).await;
        // The commit's bytes are the last ones.
        let end = length.saturating_sub(30);
        for after in (0..end).step_by(12).chain(end..length) {
            let key = format!("{direction:?}-{after}");
            passed_by_the_rest_of(&shop, &key, &proxy, direction, Some(after)).await;
            let fired = !proxy.uncut(direction);
            let (booked, recorded) = (shop.booked(&key).await, shop.is_recorded(&key).await);
            assert_eq!(booked == 1, recorded, "{key}: rows and record must agree");
            seen.0 += u32::from(fired);
            seen.1 += u32::from(fired && recorded);
            seen.2 += u32::from(fired && !recorded);
            shop.plan.gate.add_permits(1);
            assert_eq!(shop.send(&key).await.status, StatusCode::OK, "{key}: a retry");
            shop.plan.gate.forget_permits(1);
            shop.assert_done(&key, 1).await;
        }
    }
    assert!(seen.0 > 60 && seen.1 > 5 && seen.2 > 20, "too few of each: {seen:?}");
}

/// Runs a call, whose connection is cut after so many bytes from its first row on; says how many
/// bytes passed. An answer of 200 is only given where it is true.
async fn passed_by_the_rest_of(
    shop: &Shop<OnServer>,
    key: &str,
    proxy: &FaultProxy,
    direction: Direction,
    cut: Option<u64>,
) -> u64 {
    let waits = shop.plan.waits.load(Ordering::SeqCst);
    let call = tokio::spawn(got(shop.app.clone(), order(key)));
    shop.at_work(waits + 1).await;
    let before = proxy.passed(direction);
    if let Some(after) = cut {
        proxy.cut_after(direction, after, Cut::Reset);
    }
    shop.plan.gate.add_permits(1);
    let got = call.await.unwrap();
    match got.status {
        StatusCode::OK => assert_eq!(shop.booked(key).await, 1, "{key}: {got:?}"),
        status => assert!(status.is_server_error(), "{key}: {got:?}"),
    }
    proxy.passed(direction) - before
}

fn server_of(shop: &mut Shop<OnServer>) -> &mut PostgresServer {
    Arc::get_mut(&mut shop.place.server).expect("nobody else has it")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_dies_under_a_call_leaves_nothing_of_it() {
    let mut shop = Shop::<OnServer>::open(&[How::Waits]).await;
    let call = tokio::spawn(got(shop.app.clone(), order("a")));
    shop.at_work(1).await;
    server_of(&mut shop).kill().await.unwrap();
    shop.plan.gate.add_permits(2);
    let failed = call.await.unwrap();
    assert!(failed.status.is_server_error(), "{failed:?}");
    let refused = shop.send("a").await;
    assert_eq!(refused.code(), Some("CACHING_UNAVAILABLE_001"), "{refused:?}");
    server_of(&mut shop).start().await.unwrap();
    shop.assert_done("a", 0).await;
    let app = &shop.app;
    let again = eventually(PATIENCE, "a call that is done", || async {
        let again = got(app.clone(), order("a")).await;
        (again.status == StatusCode::OK).then_some(again)
    });
    assert!(!again.await.unwrap().is_replay());
    shop.assert_done("a", 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_is_dropped_with_its_client_leaves_nothing_and_the_key_is_free_at_once() {
    let cancel = HttpSettings::builder()
        .on_disconnect(OnDisconnect::Cancel)
        .anonymous(semel_http::Anonymous::Shared)
        .build()
        .unwrap();
    let hows = [How::Waits, How::Books];
    let shop = Shop::<OnServer>::open_as(&hows, |layer| layer.settings(cancel)).await;
    let client = tokio::spawn(got(shop.app.clone(), order("a")));
    shop.at_work(1).await;
    client.abort();
    assert!(client.await.unwrap_err().is_cancelled());
    let again = shop.send("a").await;
    assert_eq!((again.status, again.is_replay()), (StatusCode::OK, false), "{again:?}");
    assert_eq!(shop.runs(), 2);
    shop.assert_done("a", 1).await;
}
