//! Servers that die, halt, hang up, and come back.

mod support;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use semel_core::{Expect, Next, Store, StoreErrorKind, Swap};
use semel_postgres::PostgresStore;
use semel_testkit::{PostgresServer, eventually, within};
use support::*;

const TERMINATE_ALL: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                             WHERE application_name = 'semel'";

/// What came of many claims, made until told to stop.
#[derive(Default)]
struct Claimed {
    won: HashSet<String>,
    unknown: HashSet<String>,
    not_applied: HashSet<String>,
}

/// Claims one key after the other, whatever happens to the server.
async fn claim_on(store: PostgresStore, name: String, stop: Arc<AtomicBool>) -> Claimed {
    let mut claimed = Claimed::default();
    for number in 0.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let at = format!("{name}:{number}");
        match claim(&store, &at).await {
            Ok(Swap::Won(_)) => claimed.won.insert(at),
            Ok(Swap::Lost(there)) => panic!("{at} is nobody else's: {there:?}"),
            Err(error) if error.kind() == StoreErrorKind::Unknown => claimed.unknown.insert(at),
            Err(error) => {
                assert_eq!(error.kind(), StoreErrorKind::NotApplied, "{error}");
                tokio::task::yield_now().await;
                claimed.not_applied.insert(at)
            }
        };
    }
    claimed
}

impl Claimed {
    /// What was acknowledged is there; what was not applied is not; the rest is either.
    async fn check(&self, store: &PostgresStore) {
        for at in &self.won {
            assert!(look(store, at).await.is_some(), "{at} was acknowledged and is lost");
        }
        for at in self.not_applied.iter().take(200) {
            assert_eq!(look(store, at).await, None, "{at} was said not to be applied");
        }
    }
}

/// Runs `fault` while eight tasks claim, and checks what they were told.
async fn claims_through<F: AsyncFnOnce(&mut PostgresServer)>(
    server: &mut PostgresServer,
    fault: F,
) {
    let store = hasty(&server.url()).open().await.expect("a store");
    let stop = Arc::<AtomicBool>::default();
    let tasks = (0..8).map(|task| {
        tokio::spawn(claim_on(store.clone(), format!("task:{task}"), Arc::clone(&stop)))
    });
    let tasks: Vec<_> = tasks.collect();
    eventually(PATIENCE, "some claims", || async { look(&store, "task:7:20").await })
        .await
        .expect("they must get going");
    fault(server).await;
    recovered(&store).await;
    stop.store(true, Ordering::SeqCst);
    let mut won = 0;
    for task in tasks {
        let claimed = task.await.expect("no task may panic");
        won += claimed.won.len();
        claimed.check(&store).await;
    }
    assert!(won > 160, "{won} claims are too few to prove anything");
    // Whatever was cut off is not still under way.
    let open = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'";
    assert_eq!(server.sql(open).await.expect("an answer"), "0", "no transaction may stay open");
}

/// F-122, F-133.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_outlives_kill_9_of_the_server() {
    let mut server = server().await;
    claims_through(&mut server, async |server| {
        for _ in 0..3 {
            server.kill().await.expect("its end");
            server.start().await.expect("its start");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_orderly_restart_costs_errors_and_no_claim() {
    let mut server = server().await;
    claims_through(&mut server, async |server| server.restart().await.expect("a restart")).await;
}

/// F-122.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_terminated_cost_errors_and_no_claim() {
    let mut server = server().await;
    claims_through(&mut server, async |server| {
        for _ in 0..20 {
            server.sql(TERMINATE_ALL).await.expect("an answer");
        }
    })
    .await;
}

#[tokio::test]
async fn connections_that_were_terminated_while_idle_are_not_noticed() {
    let server = server().await;
    let store = open(&server).await;
    for round in 0..5 {
        win(&store, &format!("before:{round}"), Expect::Absent, put("v")).await;
        assert_ne!(server.sql(TERMINATE_ALL).await.expect("an answer"), "0");
        let ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'semel'";
        eventually(PATIENCE, "their end", || async {
            (server.sql(ours).await.ok()? == "0").then_some(())
        })
        .await
        .expect("they must end");
        // The client's side of it, which nothing can be asked about.
        semel_testkit::pass(std::time::Duration::from_millis(50)).await;
        // A new connection is made.
        win(&store, &format!("after:{round}"), Expect::Absent, put("v")).await;
    }
}

/// DL-9: something between has forgotten all connections, and says nothing. One call finds out; the
/// next one has a connection that works, and not another of the dead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_one_silent_connection_the_next_call_has_one_that_works() {
    let server = server().await;
    let address = std::net::SocketAddr::from(([127, 0, 0, 1], server.port()));
    let proxy = semel_testkit::FaultProxy::start(address).await.expect("a proxy");
    let through = server.url().replace(&address.to_string(), &proxy.address().to_string());
    let store = PostgresStore::builder(&through).call_timeout(5 * SECOND).connections(4);
    let store = store.open().await.expect("a store");
    for round in 0..2 {
        let claims = (0..8).map(|number| {
            let (store, at) = (store.clone(), format!("{round}:{number}"));
            tokio::spawn(async move { claim(&store, &at).await.expect("a claim") })
        });
        for claim in claims.collect::<Vec<_>>() {
            assert!(matches!(claim.await.expect("a task"), Swap::Won(_)));
        }
        semel_testkit::pass(2 * SECOND).await;
        proxy.sever(semel_testkit::Cut::Silence);
        let accepted = proxy.accepted();
        let silent = tokio::spawn({
            let (store, at) = (store.clone(), format!("{round}:silent"));
            async move { claim(&store, &at).await }
        });
        // It is silent for so long that the idle ones are not trusted either.
        semel_testkit::pass(2 * SECOND).await;
        let at = format!("{round}:next");
        let next = within(2 * SECOND, "a claim", claim(&store, &at)).await.expect("in time");
        assert!(matches!(next, Ok(Swap::Won(_))), "{next:?}");
        assert!(proxy.accepted() > accepted);
        assert_eq!(kind(silent.await.expect("a task")), StoreErrorKind::Unknown);
    }
}

/// F-64: a server that answers nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_halted_server_gives_unknown_within_the_limit_and_is_used_again_afterwards() {
    let mut server = server().await;
    let store = hasty(&server.url()).open().await.expect("a store");
    win(&store, "before", Expect::Absent, put("claimed")).await;
    server.pause().expect("it must halt");
    let limit = 3 * SECOND;
    let halted = within(limit, "an answer", claim(&store, "during")).await.expect("in time");
    assert_eq!(kind(halted), StoreErrorKind::Unknown, "it was sent and not answered");
    let at = key("before");
    let read = within(limit, "an answer", store.read(&at, semel_core::Touch::No)).await;
    let read = read.expect("in time");
    assert_eq!(kind(read), StoreErrorKind::NotApplied, "a read changes nothing");
    server.resume().expect("it must go on");
    recovered(&store).await;
    assert!(look(&store, "before").await.is_some());
    // It was in the server's socket: it was or will be applied, or the server saw us go.
    let version = match look(&store, "during").await {
        None => Expect::Absent,
        Some(entry) => Expect::Version(entry.version),
    };
    match store.swap(&key("during"), version, put("settled")).await.expect("a swap") {
        Swap::Won(_) => {}
        Swap::Lost(there) => assert_eq!(there.entry.expect("it is there").value, "claimed"),
    }
}

/// F-131: fail-over to a host that this URL leads to as well.
#[tokio::test]
async fn a_server_that_became_a_standby_is_not_used_until_it_is_promoted() {
    let mut server = server().await;
    let store = open(&server).await;
    win(&store, "before", Expect::Absent, put("claimed")).await;
    server.stop().await.expect("its end");
    std::fs::write(server.data().join("standby.signal"), "").expect("a signal");
    server.start().await.expect("its start");
    for _ in 0..3 {
        let error = claim(&store, "during").await.expect_err("a standby takes no claim");
        assert_eq!(error.kind(), StoreErrorKind::NotApplied, "{error}");
        let read = store.read(&key("before"), semel_core::Touch::No).await;
        assert_eq!(kind(read), StoreErrorKind::NotApplied, "nor is it read: it may be stale");
    }
    server.sql("SELECT pg_promote()").await.expect("it becomes a primary");
    recovered(&store).await;
    assert!(look(&store, "before").await.is_some(), "what was acknowledged is there");
    assert_eq!(look(&store, "during").await, None, "what was refused is not");
}

/// F-123: the commit is here, and the standby that was to have it never said so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_its_standby_did_not_acknowledge_is_not_reported_as_won() {
    let server = server().await;
    let store = hasty(&server.url()).open().await.expect("a store");
    win(&store, "before", Expect::Absent, put("claimed")).await;
    miss_a_standby(&server).await;
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { claim(&store, "during").await }
    });
    cancel_commits(&server).await;
    let error = waiting.await.expect("no panic").expect_err("it must not count as won");
    assert_eq!(error.kind(), StoreErrorKind::Unknown, "{error}");
    // Nor may anybody conclude from what is here now: a fail-over would lose it.
    let read = store.read(&key("during"), semel_core::Touch::No).await;
    assert_eq!(kind(read), StoreErrorKind::NotApplied);
    miss_no_standby(&server).await;
    recovered(&store).await;
    assert_eq!(look(&store, "during").await.expect("it is there").value, "claimed");
}

/// A release that a crash undoes only delays: the lease goes on, and the next version is higher.
#[tokio::test]
async fn releases_and_renewals_that_a_crash_undid_harm_nothing() {
    let mut server = server().await;
    let store = open(&server).await;
    let claimed = win(&store, "a", Expect::Absent, put("v")).await;
    let released = win(&store, "a", Expect::Version(claimed.version), Next::Delete).await;
    server.kill().await.expect("its end");
    server.start().await.expect("its start");
    recovered(&store).await;
    if let Some(entry) = look(&store, "a").await {
        assert_eq!(entry.version, claimed.version, "either the claim or nothing");
    }
    let again = win(&store, "a", Expect::Any, put("w")).await;
    assert!(again.version > released.version, "{again:?} must be above {released:?}");
}
