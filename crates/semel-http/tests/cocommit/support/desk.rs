//! The handler, over either store's transaction.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::{Extension, FromRequestParts};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use http::StatusCode;
use tokio::sync::Semaphore;

/// A transaction that books.
pub(crate) trait Desk:
    FromRequestParts<(), Rejection: IntoResponse> + Clone + Send + Sync + 'static
{
    /// Writes one of the two rows; gives its number.
    fn leg(&self, key: String, leg: i32) -> impl Future<Output = Result<i64, String>> + Send;

    /// A statement that fails.
    fn blunder(&self) -> impl Future<Output = ()> + Send;
}

/// How the handler treats one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Books,
    /// Books, and answers with this status all the same.
    Answers(u16),
    Panics,
    /// Answers 200 although a statement failed.
    Blunders,
    /// Keeps its transaction in a task that writes the second row after the answer.
    Keeps,
    /// Answers with a body of unknown length.
    Streams,
    /// Answers with a body that holds the transaction.
    StreamsFromIt,
    /// Answers with so many bytes.
    Large(usize),
    /// Says that it answers with more than comes.
    BreaksOff,
    /// Books once it is let go.
    Waits,
}

/// What handlers are told to do, one after the other; the last is for all that follow.
#[derive(Debug)]
pub(crate) struct Plan {
    hows: Mutex<VecDeque<How>>,
    pub(crate) runs: AtomicU32,
    /// How many came to wait, with their first row written.
    pub(crate) waits: AtomicU32,
    /// Lets those go who wait.
    pub(crate) gate: Semaphore,
}

impl Plan {
    pub(crate) fn of(hows: &[How]) -> Arc<Self> {
        Arc::new(Self {
            hows: Mutex::new(hows.iter().copied().collect()),
            runs: 0.into(),
            waits: 0.into(),
            gate: Semaphore::new(0),
        })
    }

    fn next(&self) -> How {
        self.runs.fetch_add(1, Ordering::SeqCst);
        let mut hows = self.hows.lock().unwrap();
        if hows.len() > 1 { hows.pop_front().unwrap() } else { hows[0] }
    }
}

pub(crate) async fn book<T: Desk>(tx: T, plan: Extension<Arc<Plan>>, key: String) -> Response {
    let how = plan.next();
    let number = match tx.leg(key.clone(), 1).await {
        Ok(number) => number,
        Err(why) => return (StatusCode::INTERNAL_SERVER_ERROR, why).into_response(),
    };
    if how == How::Keeps {
        let kept = tx.clone();
        tokio::spawn(async move {
            let _let_go = plan.gate.acquire().await;
            kept.leg(key, 2).await.ok();
        });
        return "half".into_response();
    }
    if how == How::Waits {
        plan.waits.fetch_add(1, Ordering::SeqCst);
        plan.gate.acquire().await.unwrap().forget();
    }
    if let Err(why) = tx.leg(key, 2).await {
        return (StatusCode::INTERNAL_SERVER_ERROR, why).into_response();
    }
    let said = format!("booking {number}");
    match how {
        How::Books | How::Waits | How::Keeps => said.into_response(),
        How::Answers(status) => (StatusCode::from_u16(status).unwrap(), said).into_response(),
        How::Panics => panic!("the handler panics, as it is to"),
        How::Blunders => {
            tx.blunder().await;
            said.into_response()
        }
        How::Streams => pieces(said, ()).into_response(),
        How::StreamsFromIt => pieces(said, tx).into_response(),
        How::Large(bytes) => "x".repeat(bytes).into_response(),
        How::BreaksOff => ([("content-length", "1000")], broken()).into_response(),
    }
}

/// In two pieces, with something that lives as long as the body.
fn pieces(said: String, with: impl Send + 'static) -> Body {
    let pieces = [Bytes::from(said), Bytes::from_static(b" in pieces")];
    let with = Arc::new(Mutex::new(with));
    Body::from_stream(stream::iter(pieces.into_iter().map(move |piece| {
        let _lives = &with;
        Ok::<_, std::io::Error>(piece)
    })))
}

fn broken() -> Body {
    let broken = std::io::Error::other("the handler's own source is gone");
    Body::from_stream(stream::iter([Ok(Bytes::from_static(b"a part")), Err(broken)]))
}

impl Desk for semel_postgres::Tx {
    async fn leg(&self, key: String, leg: i32) -> Result<i64, String> {
        let sql = "INSERT INTO booking (key, leg) VALUES ($1, $2) RETURNING id";
        let row = self.query_one(sql, &[&key, &leg]).await;
        row.map(|row| row.get(0)).map_err(|error| error.to_string())
    }

    async fn blunder(&self) {
        self.execute("SELECT 1 / 0", &[]).await.expect_err("it must fail");
    }
}

impl Desk for semel_sqlite::Tx {
    async fn leg(&self, key: String, leg: i32) -> Result<i64, String> {
        let sql = "INSERT INTO booking (key, leg) VALUES (?1, ?2) RETURNING id";
        let row = self.with(move |db| db.query_row(sql, (key, leg), |row| row.get(0))).await;
        row.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }

    /// A statement that fails in SQLite is undone alone; this ends the whole transaction.
    async fn blunder(&self) {
        self.with(|db| db.execute_batch("ROLLBACK")).await.unwrap().unwrap();
    }
}
