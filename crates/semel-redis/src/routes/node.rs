//! The connections to one server.

use std::time::Duration;

use tokio::task::AbortHandle;

use super::lanes::{Lane, Lanes};
use crate::ack::Ack;
use crate::link::{Dialer, Link, Live, Where};
use crate::settings::Settings;
use crate::timer::Instant;
use crate::trouble::Failure;

/// One server: a connection that all calls share and, where replicas must acknowledge, some that
/// take one write at a time.
#[derive(Debug)]
pub(crate) struct Node {
    dialer: Dialer,
    main: Link,
    lanes: Option<Lanes>,
    patience: Duration,
    sentinels: Option<AbortHandle>,
}

impl Node {
    /// Begins to connect.
    pub(crate) fn start(dialer: Dialer, settings: &Settings) -> Self {
        let lanes = (settings.ack != Ack::None).then(|| {
            let wiring = dialer.wiring.slower_by(settings.ack_timeout);
            let dialer = Dialer { wiring, probe: None, ..dialer.clone() };
            Lanes::start(&dialer, settings.ack_connections)
        });
        let main = Link::start(dialer.clone());
        let sentinels = match &dialer.place {
            Where::At(_) => None,
            Where::Named(sentinels) => {
                Some(tokio::spawn(sentinels.clone().listen()).abort_handle())
            }
        };
        Self { dialer, main, lanes, patience: settings.patience, sentinels }
    }

    /// How its connections are made.
    pub(crate) const fn dialer(&self) -> &Dialer {
        &self.dialer
    }

    /// The first outcome of connecting.
    pub(crate) async fn first(&self) -> Result<Live, Failure> {
        self.main.first().await
    }

    /// Whether the shared connection is up, as far as is known.
    pub(crate) fn is_up(&self) -> bool {
        self.main.is_up()
    }

    /// The shared connection, when it is up.
    pub(crate) async fn ready(&self, deadline: Instant) -> Result<Live, Failure> {
        self.main.ready(deadline, self.patience).await
    }

    /// A connection for one write that replicas must acknowledge; none where they needn't.
    pub(crate) async fn lane(&self, deadline: Instant) -> Option<Result<Lane<'_>, Failure>> {
        Some(self.lanes.as_ref()?.take(deadline, self.patience).await)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(sentinels) = &self.sentinels {
            sentinels.abort();
        }
    }
}
