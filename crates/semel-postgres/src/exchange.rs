//! A call: a connection, a statement, an answer, within a limit.
//!
//! Each runs in a task of its own. Who called may go away at any moment; the exchange goes on to
//! its end, and its connection is handed back clean or cut, never anything between. A call that
//! has not got its connection yet when its caller goes away is not made.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadpool::managed::Object;
use semel_core::{StoreError, StoreResult};
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_postgres::Row;

use crate::failure::{self, Again, Connection, Effect};
use crate::link::Linker;
use crate::pool::{Loan, Shared};
use crate::statement::Statement;
use crate::timer;

/// How often a statement is sent again that the server undid because of others.
const RETRIES: u32 = 3;
const RETRY_PAUSE: Duration = Duration::from_millis(10);

/// In such a part of its time an answer comes, or the connection is taken for silent: a second, by
/// default.
const SILENT_AFTER: u32 = 5;

/// Makes WAL and commits it, and so waits for the standby that all commits before it wait for.
const CONFIRM: &str = "SELECT pg_logical_emit_message(true, 'semel', '')";

/// Runs statements on pooled connections.
#[derive(Debug)]
pub(crate) struct Exchange {
    shared: Shared,
    limit: Duration,
    /// A commit was not acknowledged by the synchronous standby: nothing that is read here may be
    /// relied on until a later commit is.
    unconfirmed: AtomicBool,
}

impl Exchange {
    pub(crate) fn new(linker: Arc<Linker>, size: usize, limit: Duration) -> StoreResult<Self> {
        let shared = Shared::new(linker, size)?;
        Ok(Self { shared, limit, unconfirmed: AtomicBool::new(false) })
    }

    pub(crate) fn close(&self) {
        self.shared.close();
    }

    /// The rows that a statement gives.
    pub(crate) async fn rows(self: &Arc<Self>, statement: Statement) -> StoreResult<Vec<Row>> {
        let (mut reply, answer) = oneshot::channel();
        let exchange = Arc::clone(self);
        let effect = statement.effect();
        tokio::spawn(async move {
            let began = timer::now();
            // What is sent has half of the time at least: an answer that comes too late for who
            // waited for a connection would leave more open than it should.
            let (turn, deadline) = (began + exchange.limit / 2, began + exchange.limit);
            let lent = tokio::select! {
                biased;
                () = reply.closed() => return,
                lent = exchange.shared.lend(turn) => lent,
            };
            let rows = match lent {
                Ok(loan) => exchange.run(loan, &statement, deadline).await,
                Err(error) => Err(error),
            };
            // Nobody listens any more: what was done was done.
            let _ = reply.send(rows);
        });
        answer.await.unwrap_or_else(|_| {
            Err(failure::unanswered(effect, "the runtime ended before the call did"))
        })
    }

    /// A connection for who runs its own statements.
    pub(crate) async fn lend(&self) -> StoreResult<Loan> {
        let began = timer::now();
        let loan = self.shared.lend(began + self.limit / 2).await?;
        self.after_earlier_commits(loan, began + self.limit).await
    }

    /// Takes a connection back after a commit, and says whether that counts: with the synchronous
    /// standby too, where there is one.
    pub(crate) async fn acknowledged(&self, loan: Loan) -> StoreResult<()> {
        if !loan.take_unreplicated() {
            return Ok(());
        }
        match self.confirm(loan, timer::now() + self.limit).await {
            Some(_) => Ok(()),
            None => Err(StoreError::unknown(UNREPLICATED)),
        }
    }

    async fn run(
        &self,
        loan: Loan,
        statement: &Statement,
        deadline: Instant,
    ) -> StoreResult<Vec<Row>> {
        let mut loan = self.after_earlier_commits(loan, deadline).await?;
        let mut tries = 0;
        loop {
            match self.once(loan, statement, deadline).await {
                Tried::Done(rows, loan) if loan.take_unreplicated() => {
                    return match self.confirm(loan, deadline).await {
                        Some(_) => Ok(rows),
                        None => Err(failure::unanswered(statement.effect(), UNREPLICATED)),
                    };
                }
                Tried::Done(rows, _) => return Ok(rows),
                Tried::Undone(_, clean) if tries < RETRIES => {
                    loan = clean;
                    timer::sleep(timer::jittered(RETRY_PAUSE * 2_u32.pow(tries))).await;
                    tries += 1;
                }
                // Another connection may be better, and reading twice harms nobody.
                Tried::Lost(_) if statement.effect() == Effect::Reads && tries < RETRIES => {
                    loan = self.shared.lend(deadline).await?;
                    tries += 1;
                }
                Tried::Undone(error, _) | Tried::Lost(error) | Tried::Failed(error) => {
                    return Err(error);
                }
            }
        }
    }

    async fn once(&self, loan: Loan, statement: &Statement, deadline: Instant) -> Tried {
        let left = deadline.saturating_duration_since(timer::now());
        let answer = self.replacing_others(loan.rows(statement));
        let failed = match timer::within(left, answer).await {
            Some(Ok(rows)) => return Tried::Done(rows, loan),
            Some(Err(error)) => failure::of_statement(error, statement.effect()),
            None => {
                Object::take(loan).cut();
                return Tried::Failed(failure::too_late(statement.effect(), left));
            }
        };
        match (failed.connection, failed.again) {
            (Connection::Spent, _) => {
                Object::take(loan).cut();
                Tried::Lost(failed.error)
            }
            (Connection::Clean, Again::Yes) => Tried::Undone(failed.error, loan),
            (Connection::Clean, Again::No) => Tried::Failed(failed.error),
        }
    }

    /// What `answer` gives. Where it does not come soon, connections that lie idle are made anew: if
    /// something between has forgotten this one, it has forgotten those as well, and each next call
    /// would have to find out about one of them.
    async fn replacing_others<T>(&self, answer: impl Future<Output = T>) -> T {
        let mut answer = pin!(answer);
        let soon = self.limit / SILENT_AFTER;
        if let Some(answer) = timer::within(soon, answer.as_mut()).await {
            return answer;
        }
        self.shared.cut_idle(soon);
        answer.await
    }

    // ===== synchronous standbys =====

    /// The connection, once it is known that the commits before this call are where they should
    /// be.
    async fn after_earlier_commits(&self, loan: Loan, deadline: Instant) -> StoreResult<Loan> {
        if !self.unconfirmed.load(Ordering::SeqCst) {
            return Ok(loan);
        }
        self.confirm(loan, deadline).await.ok_or_else(|| StoreError::not_applied(UNREPLICATED))
    }

    /// Commits something, and waits for the standby as that commit does.
    async fn confirm(&self, loan: Loan, deadline: Instant) -> Option<Loan> {
        self.unconfirmed.store(true, Ordering::SeqCst);
        let confirm = Statement::new(CONFIRM.to_owned(), Effect::Changes);
        match self.once(loan, &confirm, deadline).await {
            Tried::Done(_, loan) if !loan.take_unreplicated() => {
                self.unconfirmed.store(false, Ordering::SeqCst);
                Some(loan)
            }
            Tried::Done(..) | Tried::Undone(..) | Tried::Lost(_) | Tried::Failed(_) => None,
        }
    }
}

const UNREPLICATED: &str = "a commit was not acknowledged by the synchronous standby; until a later \
                            one is, nothing can be concluded";

/// What came of sending a statement once.
enum Tried {
    Done(Vec<Row>, Loan),
    /// The server undid it because of others: it may be sent again.
    Undone(StoreError, Loan),
    /// The connection was lost under it.
    Lost(StoreError),
    Failed(StoreError),
}
