//! The door for messages over SQLite, Redis and PostgreSQL: real time, real servers, several
//! engines as several processes would have them.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod cocommit;
mod cocommit_attempts;
mod ledger;
mod suite;

use std::sync::Arc;
use std::time::Duration;

use semel::inbox::{AttemptLimit, Consumer, Envelope, Inbox, MessageId};
use semel::{Guarantee, Once, Policy};
use semel_testkit::{PostgresServer, RedisServer};

/// The shortest lease that a busy machine keeps up with.
const LEASE: Duration = Duration::from_secs(1);

/// What work fails with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Broken;

/// A store that several may open, and what keeps it alive.
struct Place {
    url: String,
    keeps: Keeps,
}

enum Keeps {
    Folder(tempfile::TempDir),
    Redis(#[expect(dead_code, reason = "it is there to be dropped")] RedisServer),
    Postgres(PostgresServer),
}

impl Place {
    fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("inbox.db").display());
        Self { url, keeps: Keeps::Folder(folder) }
    }

    async fn redis() -> Self {
        let server = RedisServer::start().await.unwrap();
        Self { url: server.url(), keeps: Keeps::Redis(server) }
    }

    async fn postgres() -> Self {
        let server = PostgresServer::launch().await.unwrap();
        Self { url: server.url(), keeps: Keeps::Postgres(server) }
    }

    /// An inbox with connections of its own, whose leases nobody renews.
    async fn unrenewed(&self) -> Inbox {
        let once = Once::new(semel::open(&self.url).await.unwrap());
        let policy = Policy::builder().in_progress_time_to_live(LEASE).max_execution(LEASE);
        inbox(once, policy.build().unwrap(), 3)
    }

    /// The same with work in transactions.
    async fn transactional(&self) -> Inbox {
        let transactions = semel::open_with_transactions(&self.url).await.unwrap();
        let policy = Policy::builder().guarantee(Guarantee::Transactional);
        inbox(Once::with_transactions(transactions), policy.build().unwrap(), 3)
    }
}

fn inbox(once: Once, policy: Policy, attempts: u32) -> Inbox {
    Inbox::builder(once, Consumer::new("billing").unwrap())
        .policy(Arc::new(policy))
        .attempt_limit(AttemptLimit::AtMost(attempts))
        .put_off(Duration::from_millis(50))
        .build()
        .unwrap()
}

fn message(id: &str) -> Envelope {
    Envelope::new(MessageId::new("/shop", id).unwrap())
}
