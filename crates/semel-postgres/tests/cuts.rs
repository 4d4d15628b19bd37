//! The connection is cut after every byte of an exchange, in each direction, in each way.

mod support;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use semel_core::{Expect, Next, Store, StoreErrorKind, Swap};
use semel_postgres::{HintSource, PostgresStore};
use semel_testkit::{Cut, Direction, FaultProxy, eventually};
use support::*;

struct Cutting {
    proxy: FaultProxy,
    through: PostgresStore,
    beside: PostgresStore,
    _server: semel_testkit::PostgresServer,
}

async fn cutting() -> Cutting {
    let server = server().await;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, server.port()));
    let proxy = FaultProxy::start(address).await.expect("a proxy");
    let url = format!("postgres://postgres@{}/postgres?sslmode=disable", proxy.address());
    let through = PostgresStore::builder(&url)
        .connections(1)
        .call_timeout(Duration::from_millis(400))
        .lock_timeout(Duration::from_millis(100))
        .hints(HintSource::Off);
    // On a busy machine making the tables takes longer than a call may here.
    let beside = open(&server).await;
    let through = eventually(PATIENCE, "a store", || async { through.clone().open().await.ok() });
    let through = through.await.expect("a store");
    Cutting { proxy, through, beside, _server: server }
}

impl Cutting {
    /// Claims a key while the connection is cut after so many bytes. Says whether it came to that.
    async fn claim_cut(&self, direction: Direction, after: u64, cut: Cut) -> bool {
        recovered(&self.through).await;
        let at = format!("{direction:?}:{after}:{cut:?}");
        self.proxy.cut_after(direction, after, cut);
        let claimed = claim(&self.through, &at).await;
        let was_cut = !self.proxy.uncut(direction);
        match claimed {
            Ok(Swap::Won(stamp)) => {
                let there = look(&self.beside, &at).await.expect("what was won is there");
                assert_eq!(there.version, stamp.version, "{at}");
            }
            Ok(Swap::Lost(there)) => panic!("{at} is nobody else's: {there:?}"),
            Err(error) if error.kind() == StoreErrorKind::NotApplied => {
                assert_eq!(look(&self.beside, &at).await, None, "{at}: {error}");
            }
            Err(error) => {
                assert_eq!(error.kind(), StoreErrorKind::Unknown, "{at}: {error}");
                self.settle(&at).await;
            }
        }
        was_cut
    }

    /// It was applied or not; then a swap settles it for good: nothing comes after that.
    async fn settle(&self, at: &str) {
        let expect = match look(&self.beside, at).await {
            None => Expect::Absent,
            Some(entry) => {
                assert_eq!(entry.value, "claimed", "{at}");
                Expect::Version(entry.version)
            }
        };
        match self.beside.swap(&key(at), expect, put("settled")).await.expect("a swap") {
            Swap::Won(_) => {}
            Swap::Lost(there) => {
                let entry = there.entry.expect("the late claim");
                assert_eq!(entry.value, "claimed", "{at}: only the late claim may be there");
                win(&self.beside, at, Expect::Version(entry.version), put("settled")).await;
            }
        }
        win(&self.beside, at, Expect::Any, Next::Delete).await;
    }
}

async fn every_byte(direction: Direction, cut: Cut, step: usize) {
    let cutting = cutting().await;
    let mut cuts = 0;
    for after in (0..).step_by(step) {
        if !cutting.claim_cut(direction, after, cut).await {
            break;
        }
        cuts += 1;
    }
    let least = match direction {
        Direction::ToServer => 300 / step,
        Direction::ToClient => 150 / step,
    };
    assert!(cuts >= least, "{cuts} cuts are too few for an exchange");
    recovered(&cutting.through).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_after_every_byte_of_the_request() {
    every_byte(Direction::ToServer, Cut::Reset, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_after_every_byte_of_the_answer() {
    every_byte(Direction::ToClient, Cut::Reset, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_orderly_end_after_every_byte_of_the_request() {
    every_byte(Direction::ToServer, Cut::Close, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_orderly_end_after_every_byte_of_the_answer() {
    every_byte(Direction::ToClient, Cut::Close, 1).await;
}

/// Each costs the whole limit of a call, so not every byte.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silence_in_the_middle_of_the_request() {
    every_byte(Direction::ToServer, Cut::Silence, 29).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silence_in_the_middle_of_the_answer() {
    every_byte(Direction::ToClient, Cut::Silence, 17).await;
}
