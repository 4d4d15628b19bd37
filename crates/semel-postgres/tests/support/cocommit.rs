//! Calls that book something: two rows for each effect.

use semel_core::cocommit::{Began, Call};
use semel_core::protocol::{Begin, InDoubt};
use semel_core::{Claim, Extent, Form, Operation, Outcome, Token};
use semel_postgres::{PostgresStore, Transactional};
use semel_testkit::{PostgresBuilder, PostgresServer};
use tokio_postgres::{Client, GenericClient, NoTls};

use super::{key, open, ttl};

pub(crate) const TABLES: &str = "CREATE TABLE booking (id bigserial, key text NOT NULL, leg int)";

/// Both legs of a booking; that they are one effect is up to the transaction.
pub(crate) const FIRST_LEG: &str = "INSERT INTO booking (key, leg) VALUES ($1, 1) RETURNING id";
pub(crate) const SECOND_LEG: &str = "INSERT INTO booking (key, leg) VALUES ($1, 2)";

pub(crate) fn call(at: &str) -> Call {
    call_of(at, "book")
}

pub(crate) fn call_of(at: &str, operation: &str) -> Call {
    let hour = ttl(std::time::Duration::from_secs(3_600));
    let claim = Claim {
        operation: Operation::new(operation.to_owned()).expect("a name"),
        fingerprint: None,
        token: Token::fresh(),
        attempt: 1,
        owner: None,
    };
    let begin = Begin { claim, in_doubt: InDoubt::Rerun, lease: hour, keep: hour };
    Call::new(key(at), begin, hour)
}

pub(crate) fn outcome(payload: impl Into<bytes::Bytes>) -> Outcome {
    Outcome { form: Form::Bytes, extent: Extent::Whole, payload: payload.into() }
}

pub(crate) async fn client_of(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
    tokio::spawn(connection);
    client
}

/// Does the work, and gives its answer.
pub(crate) async fn book(client: &(impl GenericClient + Sync), at: &str) -> String {
    let row = client.query_one(FIRST_LEG, &[&at]).await.expect("a row");
    client.execute(SECOND_LEG, &[&at]).await.expect("a row");
    format!("booking {}", row.get::<_, i64>(0))
}

/// How often a key was booked; half a booking fails the test.
pub(crate) async fn booked(server: &PostgresServer, at: &str) -> u32 {
    let sql = format!(
        "SELECT count(*) FILTER (WHERE leg = 1), count(*) FILTER (WHERE leg = 2) \
         FROM booking WHERE key = '{at}'"
    );
    let seen = server.sql(&sql).await.expect("an answer");
    let (first, second) = seen.split_once('|').expect("two columns");
    assert_eq!(first, second, "half a booking of {at}");
    first.parse().expect("a number")
}

pub(crate) fn replayed<W: std::fmt::Debug>(began: Began<W>) -> String {
    match began {
        Began::Replay(outcome) => {
            String::from_utf8(outcome.payload.to_vec()).expect("the answer is text")
        }
        began => panic!("it must replay: {began:?}"),
    }
}

pub(crate) fn fresh<W: std::fmt::Debug>(began: Began<W>) -> W {
    match began {
        Began::Fresh(work) => work,
        began => panic!("it must begin: {began:?}"),
    }
}

// ===== a shop =====

pub(crate) struct Shop {
    pub(crate) server: PostgresServer,
    pub(crate) store: PostgresStore,
    pub(crate) transactional: Transactional,
}

pub(crate) async fn shop() -> Shop {
    shop_on(PostgresServer::builder().setting("max_connections", 260)).await
}

pub(crate) async fn shop_on(builder: PostgresBuilder) -> Shop {
    let server = builder.start().await.expect("a server");
    server.sql(TABLES).await.expect("tables");
    let store = open(&server).await;
    let transactional = Transactional::new(&store);
    Shop { server, store, transactional }
}

impl Shop {
    pub(crate) async fn client(&self) -> Client {
        client_of(&self.server.url()).await
    }
}
