//! Owners that come late: their lease is over, and another took their place. On every store.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use semel::{InFlight, Once};
use tokio::sync::oneshot;
use tonic::{Code, Response, Status};

use crate::stores::Place;
use crate::support::{Client, Placed, Running, Shop, over, policy, until};

/// A store behind a busy disk must still be faster than this, or nothing is granted at all.
const LEASE: Duration = Duration::from_secs(2);

type Go = oneshot::Sender<Result<(), Status>>;
type Call = tokio::task::JoinHandle<Result<Response<Placed>, Status>>;

/// Two servers over one store, whose claims are never renewed. Each execution waits until the test
/// says how it ends.
struct Race {
    shop: Shop,
    goes: Arc<Mutex<Vec<Option<Go>>>>,
    clients: [Client; 2],
    _servers: [Running; 2],
    _place: Place,
}

impl Race {
    async fn on(place: Place) -> Self {
        let goes: Arc<Mutex<Vec<Option<Go>>>> = Arc::default();
        let told = Arc::clone(&goes);
        let shop = Shop::with(move |asked| {
            let (go, goes) = oneshot::channel();
            told.lock().unwrap().push(Some(go));
            async move {
                goes.await.unwrap()?;
                Ok(Response::new(asked.placed()))
            }
        });
        let policy = policy(|policy| {
            policy
                .in_progress_time_to_live(LEASE)
                .max_execution(LEASE)
                .in_flight(InFlight::Wait(Duration::from_secs(30)))
        });
        let serve = async || {
            let layer = over(Once::new(place.open().await)).policy(Arc::clone(&policy));
            Running::serve(layer, shop.clone()).await
        };
        let servers = [serve().await, serve().await];
        let clients = [servers[0].client().await, servers[1].client().await];
        Self { shop, goes, clients, _servers: servers, _place: place }
    }

    fn call(&self, server: usize) -> Call {
        let client = self.clients[server].clone();
        tokio::spawn(async move { client.create("k").await })
    }

    /// A is at work on one server, its lease ends, and B takes over on the other one.
    async fn a_and_b(&self) -> [Call; 2] {
        let a = self.call(0);
        until(|| self.shop.runs() == 1).await;
        let b = self.call(1);
        until(|| self.shop.runs() == 2).await;
        [a, b]
    }

    fn ends(&self, run: usize, how: Result<(), Status>) {
        let go = self.goes.lock().unwrap()[run - 1].take().unwrap();
        go.send(how).unwrap();
    }

    async fn all_get_the_second(&self) {
        for client in &self.clients {
            assert_eq!(client.create("k").await.unwrap().get_ref().number, 2);
        }
        assert_eq!(self.shop.runs(), 2);
    }
}

/// A3-Z1, through this door: a late success changes nothing, and its own caller gets the one answer.
async fn late_success(place: Place) {
    let race = Race::on(place).await;
    let [a, b] = race.a_and_b().await;
    race.ends(2, Ok(()));
    assert_eq!(b.await.unwrap().unwrap().get_ref().number, 2);
    race.ends(1, Ok(()));
    let a = a.await.unwrap().unwrap();
    assert_eq!(a.get_ref().number, 2);
    assert_eq!(a.metadata().get("idempotent-replayed").unwrap(), "true");
    race.all_get_the_second().await;
}

/// A3-Z2, through this door: a late failure deletes nothing.
async fn late_failure(place: Place) {
    let race = Race::on(place).await;
    let [a, b] = race.a_and_b().await;
    race.ends(2, Ok(()));
    assert_eq!(b.await.unwrap().unwrap().get_ref().number, 2);
    race.ends(1, Err(Status::unavailable("too late")));
    assert_eq!(a.await.unwrap().unwrap_err().code(), Code::Unavailable);
    race.all_get_the_second().await;
}

macro_rules! on {
    ($($store:ident),+ $(,)?) => {
        $(mod $store {
            use super::*;

            #[tokio::test]
            async fn a3_z1_a_late_success_changes_nothing_and_all_get_the_one_reply() {
                late_success(Place::$store().await).await;
            }

            #[tokio::test]
            async fn a3_z2_a_late_failure_deletes_nothing() {
                late_failure(Place::$store().await).await;
            }
        })+
    };
}

on!(memory, sqlite, redis, postgres);
