//! What the work left behind.

use std::collections::BTreeMap;

use semel_sqlite::rusqlite::Connection;
use semel_testkit::PostgresServer;

/// How many rows each event has.
pub(crate) type Rows = BTreeMap<String, u32>;

const EACH: &str = "SELECT event, COUNT(*) FROM payments GROUP BY event";

pub(crate) fn of_sqlite(file: &std::path::Path) -> Rows {
    let db = Connection::open(file).unwrap();
    let mut each = db.prepare(EACH).unwrap();
    let rows = each.query_map((), |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

pub(crate) async fn of_postgres(server: &PostgresServer) -> Rows {
    let rows = server.sql(EACH).await.unwrap();
    let pairs = rows.lines().map(|line| line.split_once('|').unwrap());
    pairs.map(|(event, count)| (event.to_owned(), count.parse().unwrap())).collect()
}
