//! One connection on which a server tells of changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use redis::{Cmd, PushInfo, PushKind, Value, cmd};
use semel_core::{Hints, Key};
use tokio::sync::{mpsc, watch};
use tracing::debug;

use super::wanted::{Orders, Session, Wanted};
use crate::link::{Backoff, Dialer, Live};
use crate::preflight::Inspector;
use crate::routes::Homes;
use crate::timer::{Instant, now, pass};
use crate::trouble::{Failure, Trouble};

/// How often leavers are looked after.
const TICK: Duration = Duration::from_secs(1);

/// How often a silent connection is asked whether it is still there.
const PING: Duration = Duration::from_secs(5);

/// How many keys are asked for in one go.
const BATCH: usize = 128;

static SESSIONS: AtomicU64 = AtomicU64::new(0);

/// A listener at one server.
#[derive(Debug, Clone)]
pub(super) struct Ear {
    pub(super) dialer: Dialer,
    pub(super) homes: Homes,
    pub(super) wanted: Arc<Wanted>,
    pub(super) hints: Hints,
}

impl Ear {
    /// Listens as long as it is let, with a connection only while there is something to hear.
    pub(super) async fn listen(self) {
        let mut backoff = Backoff::default();
        let mut changes = self.wanted.changes();
        let mut homes = self.homes.clone();
        loop {
            while !self.wanted.any(|key| self.homes.has(key)) {
                tokio::select! {
                    _ = changes.changed() => {}
                    () = homes.moved() => {}
                }
            }
            let began = now();
            if let Err(failure) = self.session(&mut changes).await {
                debug!(error = %failure.says, "changes are not heard for the moment");
            }
            if now() >= began + PING {
                backoff.reset();
            }
            pass(backoff.next()).await;
        }
    }

    /// One connection, from its beginning to its end.
    async fn session(&self, changes: &mut watch::Receiver<()>) -> Result<(), Failure> {
        let (told, mut heard) = mpsc::unbounded_channel();
        let live = self.dialer.connect(move |info| {
            // Nobody hears it: the session is over.
            let _ = told.send(info);
        });
        let live = live.await?;
        let session = SESSIONS.fetch_add(1, Ordering::Relaxed);
        let voice = Voice { ear: self, live: &live, session };
        let mut homes = self.homes.clone();
        let mut quiet_since = now();
        while !live.has_ended() {
            voice.follow(self.wanted.orders(session, |key| self.homes.has(key))).await;
            tokio::select! {
                Some(info) = heard.recv() => {
                    quiet_since = now();
                    voice.hear(info);
                    while let Ok(info) = heard.try_recv() {
                        voice.hear(info);
                    }
                }
                _ = changes.changed() => {}
                () = homes.moved() => {}
                () = live.end() => {}
                () = pass(TICK) => quiet_since = voice.ping(quiet_since).await,
            }
        }
        Ok(())
    }
}

/// A session's connection, and what is said on it.
struct Voice<'a> {
    ear: &'a Ear,
    live: &'a Live,
    session: Session,
}

impl Voice<'_> {
    fn inspector(&self) -> &Inspector {
        &self.ear.dialer.inspector
    }

    /// Asks the server to tell, or to tell no more.
    async fn follow(&self, orders: Orders) {
        let in_shards = self.inspector().tells_in_shards(&self.live.address);
        let (on, off) = match in_shards {
            true => ("SSUBSCRIBE", "SUNSUBSCRIBE"),
            false => ("SUBSCRIBE", "UNSUBSCRIBE"),
        };
        for (command, keys) in [(on, orders.subscribe), (off, orders.unsubscribe)] {
            for batch in keys.chunks(BATCH) {
                self.say(command, batch).await;
            }
        }
    }

    async fn say(&self, command: &str, keys: &[Key]) {
        let names = self.inspector().names();
        let commands: Vec<Cmd> =
            keys.iter().map(|key| cmd(command).arg(names.entry(key)).take()).collect();
        match self.live.ask_all(commands).await {
            Ok(answers) => {
                for (key, answer) in keys.iter().zip(answers) {
                    if let Err(trouble) = answer {
                        self.unheard(key, &trouble);
                    }
                }
            }
            // Without an answer in time the connection is of no use.
            Err(_) => self.live.give_up(),
        }
    }

    fn unheard(&self, key: &Key, trouble: &Trouble) {
        self.ear.wanted.unheard(key, self.session);
        if matches!(trouble, Trouble::Elsewhere { .. } | Trouble::NotYet(_)) {
            self.ear.homes.poke();
        }
    }

    fn hear(&self, PushInfo { kind, data }: PushInfo) {
        let key = data.first().and_then(text).and_then(|name| self.inspector().names().key(&name));
        let Some(key) = key else { return };
        match kind {
            // What changed before the server began to tell was not told: a look will show it.
            PushKind::Message | PushKind::SMessage | PushKind::Subscribe | PushKind::SSubscribe => {
                self.ear.hints.notify(&key);
            }
            // Unless we asked for it, the slot has moved to another node.
            PushKind::SUnsubscribe => {
                self.ear.wanted.unheard(&key, self.session);
                self.ear.homes.poke();
            }
            _ => {}
        }
    }

    /// Sees whether a connection that has long been silent is still there.
    async fn ping(&self, quiet_since: Instant) -> Instant {
        if now() < quiet_since + PING {
            return quiet_since;
        }
        if self.live.ask(&cmd("PING").take()).await.is_err() {
            self.live.give_up();
        }
        now()
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => String::from_utf8(bytes.clone()).ok(),
        Value::SimpleString(text) => Some(text.clone()),
        _ => None,
    }
}
