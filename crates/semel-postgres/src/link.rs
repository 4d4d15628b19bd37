//! One connection, and the task that drives it.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use semel_core::{StoreError, StoreResult};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_postgres::error::DbError;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Error, NoTls, Notification, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::failure;
use crate::statement::Statement;
use crate::target::Target;
use crate::timer;

/// A connection. Dropped, it says good-bye to the server.
#[derive(Debug)]
pub(crate) struct Link {
    client: Client,
    signs: Arc<Signs>,
    driver: JoinHandle<()>,
}

/// What the server said beside its answers.
#[derive(Debug, Default)]
struct Signs {
    /// A commit is here, but the standby that was to have it has not acknowledged it.
    unreplicated: AtomicBool,
}

impl Link {
    pub(crate) async fn rows(&self, statement: &Statement) -> Result<Vec<Row>, Error> {
        self.client.query_typed(statement.sql(), &statement.parameters()).await
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    /// Runs several statements without parameters, in one trip.
    pub(crate) async fn run(&self, sql: &str) -> Result<(), Error> {
        self.client.batch_execute(sql).await
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed() || self.driver.is_finished()
    }

    /// Whether a commit since the last call of this came without its standby's acknowledgement.
    pub(crate) fn take_unreplicated(&self) -> bool {
        self.signs.unreplicated.swap(false, Ordering::SeqCst)
    }

    /// Cuts the connection with whatever is under way on it: nothing that still comes is read.
    pub(crate) fn cut(self) {
        self.shut();
    }

    /// The same under whoever still uses it.
    pub(crate) fn shut(&self) {
        self.driver.abort();
    }
}

/// What makes connections.
#[derive(Debug)]
pub(crate) struct Linker {
    target: Target,
    address: String,
    tls: Option<Tls>,
    limit: Duration,
    statement_timeout: Duration,
    /// Whether the other end took no options: a pooler.
    pooled: AtomicBool,
}

/// Without a `Debug` of its own.
struct Tls(MakeRustlsConnect);

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

impl Linker {
    pub(crate) fn new(
        target: Target,
        limit: Duration,
        statement_timeout: Duration,
    ) -> StoreResult<Self> {
        let tls = crate::tls::connector(&target)?.map(Tls);
        let address = target.address();
        let pooled = AtomicBool::new(false);
        Ok(Self { target, address, tls, limit, statement_timeout, pooled })
    }

    /// Where connections lead to, for people.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) const fn target(&self) -> &Target {
        &self.target
    }

    /// Whether the other end is known to be a pooler.
    pub(crate) fn is_pooled(&self) -> bool {
        self.pooled.load(Ordering::Relaxed)
    }

    /// Makes a connection to a server that writes.
    pub(crate) async fn link(&self) -> StoreResult<Link> {
        self.within_limit(self.connect(None)).await?.map_err(|error| self.failed(error))
    }

    /// Makes a connection whose notifications go into `heard`.
    pub(crate) async fn listening_link(
        &self,
        heard: mpsc::UnboundedSender<Notification>,
    ) -> StoreResult<Link> {
        self.within_limit(self.connect(Some(heard))).await?.map_err(|error| self.failed(error))
    }

    /// Makes a connection at the start: what is no primary is refused for good.
    pub(crate) async fn first_link(&self) -> StoreResult<Link> {
        self.within_limit(self.connect(None)).await?.map_err(|error| {
            if !failure::is_read_only(&error) {
                return self.failed(error);
            }
            let message = format!(
                "{} is a standby, or takes reads only; name the primary, or all hosts that may \
                 become it",
                self.address
            );
            StoreError::refused(semel_core::Refusal::Unusable, message)
        })
    }

    fn failed(&self, error: Error) -> StoreError {
        failure::of_connecting(error, &self.address)
    }

    async fn within_limit<T>(&self, work: impl Future<Output = T>) -> StoreResult<T> {
        timer::within(self.limit, work).await.ok_or_else(|| {
            let message = format!("can't connect to {}: not within {:?}", self.address, self.limit);
            StoreError::not_applied(message)
        })
    }

    async fn connect(
        &self,
        heard: Option<mpsc::UnboundedSender<Notification>>,
    ) -> Result<Link, Error> {
        if self.is_pooled() {
            return self.connect_with(&self.target.config, heard).await;
        }
        let mut config = self.target.config.clone();
        let own = format!("-c statement_timeout={}", self.statement_timeout.as_millis());
        let all = match config.get_options() {
            // The URL's come last, and so win.
            Some(options) => format!("{own} {options}"),
            None => own,
        };
        config.options(all);
        match self.connect_with(&config, heard.clone()).await {
            Err(error) if failure::refuses_options(&error) => {
                let link = self.connect_with(&self.target.config, heard).await?;
                self.pooled.store(true, Ordering::Relaxed);
                Ok(link)
            }
            linked => linked,
        }
    }

    async fn connect_with(
        &self,
        config: &Config,
        heard: Option<mpsc::UnboundedSender<Notification>>,
    ) -> Result<Link, Error> {
        let signs = Arc::<Signs>::default();
        // Boxed: it is large, and what waits for it should not be.
        let (client, driver) = match &self.tls {
            Some(Tls(tls)) => {
                let (client, connection) = Box::pin(config.connect(tls.clone())).await?;
                (client, tokio::spawn(drive(connection, Arc::clone(&signs), heard)))
            }
            None => {
                let (client, connection) = Box::pin(config.connect(NoTls)).await?;
                (client, tokio::spawn(drive(connection, Arc::clone(&signs), heard)))
            }
        };
        Ok(Link { client, signs, driver })
    }
}

/// Moves bytes until the connection ends.
async fn drive<S, T>(
    mut connection: Connection<S, T>,
    signs: Arc<Signs>,
    heard: Option<mpsc::UnboundedSender<Notification>>,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
        match message {
            // It comes before the answer whose commit it is about.
            Ok(AsyncMessage::Notice(notice)) if is_unreplicated(&notice) => {
                signs.unreplicated.store(true, Ordering::SeqCst);
            }
            Ok(AsyncMessage::Notification(notification)) => {
                if let Some(heard) = &heard {
                    let _ = heard.send(notification);
                }
            }
            Ok(_) => {}
            Err(error) => {
                let code = error.code().map_or("none", |code| code.code());
                tracing::debug!(sqlstate = code, "a connection to PostgreSQL ended");
                return;
            }
        }
    }
}

/// The warning of a commit that stopped waiting for its synchronous standby. Known by where in
/// the server it comes from: its text is translated.
fn is_unreplicated(notice: &DbError) -> bool {
    notice.routine() == Some("SyncRepWaitForLSN")
}
