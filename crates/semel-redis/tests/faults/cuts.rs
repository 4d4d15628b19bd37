//! The connection is cut after every byte of an exchange, in both directions.

use semel_core::{Expect, Key, Next, Store, StoreErrorKind, Swap, Touch};
use semel_redis::RedisStore;
use semel_testkit::{Cut, Direction, FaultProxy, RedisServer};

use crate::support::{hasty, key, lasting, lost, open, patient, recovered, value, won};

struct Bench {
    _server: RedisServer,
    proxy: FaultProxy,
    /// Through the proxy.
    store: RedisStore,
    /// Past it.
    direct: RedisStore,
}

impl Bench {
    async fn new() -> Self {
        let server = RedisServer::start().await.expect("a server");
        let proxy = FaultProxy::start(server.address()).await.expect("a proxy");
        let store =
            open(hasty(&server.url_at(proxy.address())).patience(crate::support::LIMIT)).await;
        let direct = open(patient(&server.url())).await;
        Self { _server: server, proxy, store, direct }
    }

    /// How many bytes an exchange has in each direction.
    async fn length(&self, next: Next) -> (u64, u64) {
        recovered(&self.store).await;
        let passed = || {
            let passed = |direction| self.proxy.passed(direction);
            (passed(Direction::ToServer), passed(Direction::ToClient))
        };
        let before = passed();
        won(self.store.swap(&key("cut:0000:0"), Expect::Any, next).await);
        let after = passed();
        (after.0 - before.0, after.1 - before.1)
    }
}

/// A key of the same length for each cut, so that the exchanges are of the same length.
fn key_for(at: u64, round: u8) -> Key {
    key(&format!("cut:{at:04}:{round}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_is_cut_off_on_its_way_is_never_applied_and_never_said_to_be() {
    let bench = Bench::new().await;
    let (request, _) = bench.length(lasting("v")).await;
    for at in 0..request {
        recovered(&bench.store).await;
        let key = key_for(at, 1);
        let cut = if at % 5 == 4 { Cut::Reset } else { Cut::Close };
        bench.proxy.cut_after(Direction::ToServer, at, cut);
        let outcome = bench.store.swap(&key, Expect::Absent, lasting("v")).await;
        assert!(!bench.proxy.uncut(Direction::ToServer), "the void rule: no cut after {at}");
        let kind = outcome.map_err(|error| error.kind());
        assert_eq!(kind, Err(StoreErrorKind::Unknown), "cut after {at} of {request}");
        assert_eq!(value(&bench.direct, &key).await, None, "cut after {at} of {request}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_cut_off_leaves_a_claim_that_is_unknown_to_its_owner_only() {
    let bench = Bench::new().await;
    let (_, answer) = bench.length(lasting("v")).await;
    for at in 0..answer {
        recovered(&bench.store).await;
        let key = key_for(at, 2);
        let cut = if at % 5 == 4 { Cut::Reset } else { Cut::Close };
        bench.proxy.cut_after(Direction::ToClient, at, cut);
        let outcome = bench.store.swap(&key, Expect::Absent, lasting("v")).await;
        assert!(!bench.proxy.uncut(Direction::ToClient), "the void rule: no cut after {at}");
        let kind = outcome.map_err(|error| error.kind());
        assert_eq!(kind, Err(StoreErrorKind::Unknown), "cut after {at} of {answer}");
        // It was applied, once: whoever claims sees it.
        let again = bench.store.swap(&key, Expect::Absent, lasting("w")).await;
        let Ok(Swap::Lost(there)) = again else { panic!("cut after {at}: {again:?}") };
        assert_eq!(there.entry.expect("it is there").value, "v");
    }
}

/// A read has changed nothing: cut off anywhere, it is read again. Never is a piece of an answer
/// taken for all of it, or for absence.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_that_is_cut_off_is_read_again_and_never_absence() {
    let bench = Bench::new().await;
    let there = key("there");
    won(bench.direct.swap(&there, Expect::Absent, lasting("a value")).await);
    let before = bench.proxy.passed(Direction::ToClient);
    bench.store.read(&there, Touch::No).await.expect("a read");
    let answer = bench.proxy.passed(Direction::ToClient) - before;
    for at in 0..answer {
        recovered(&bench.store).await;
        bench.proxy.cut_after(Direction::ToClient, at, Cut::Close);
        let seen = value(&bench.store, &there).await;
        assert_eq!(seen.expect("it is there"), "a value", "cut after {at} of {answer}");
        assert!(!bench.proxy.uncut(Direction::ToClient), "the void rule: no cut after {at}");
    }
}

/// Many calls share the connection that is cut: none gets another's answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_share_a_cut_connection_never_get_each_others_answers() {
    let bench = Bench::new().await;
    for number in 0..64 {
        let key = key(&format!("shared:{number}"));
        won(bench.direct.swap(&key, Expect::Absent, lasting(format!("v{number}"))).await);
    }
    let mut answered = 0;
    let mut cut_off = 0;
    for at in (0..6_000).step_by(311) {
        recovered(&bench.store).await;
        bench.proxy.cut_after(Direction::ToClient, at, Cut::Close);
        let claims = (0..64).map(|number| {
            let store = bench.store.clone();
            tokio::spawn(async move {
                let key = key(&format!("shared:{number}"));
                (number, store.swap(&key, Expect::Absent, lasting("another")).await)
            })
        });
        for claim in claims.collect::<Vec<_>>() {
            let (number, claim) = claim.await.expect("a task");
            match claim {
                Ok(_) => {
                    let value = lost(claim).value;
                    assert_eq!(value, format!("v{number}"), "another's answer");
                    answered += 1;
                }
                Err(error) => {
                    assert_eq!(error.kind(), StoreErrorKind::Unknown);
                    cut_off += 1;
                }
            }
        }
        bench.proxy.uncut(Direction::ToClient);
    }
    assert!(answered > 50 && cut_off > 50, "the void rule: {answered} answered, {cut_off} cut off");
}
