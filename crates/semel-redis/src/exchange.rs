//! One call of a script, from the first attempt to what is told to the caller.

use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, Value, cmd};
use semel_core::Key;

use crate::address::Address;
use crate::link::{Backoff, Live};
use crate::losses::Losses;
use crate::preflight::Inspector;
use crate::routes::Routes;
use crate::script::{Call, Reply, Won};
use crate::settings::Settings;
use crate::shard::Shard;
use crate::stats::Counters;
use crate::timer::{Instant, now, pass};
use crate::trouble::{Failure, Trouble};

/// Far more than a fail-over or a move of slots takes; what goes on for longer is a mistake.
const ATTEMPTS: u32 = 32;

/// What calls go through.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) routes: Routes,
    pub(crate) inspector: Arc<Inspector>,
    pub(crate) losses: Arc<Losses>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) patience: Duration,
    pub(crate) ack_timeout: Duration,
}

/// How an attempt ended that did not succeed.
enum Failed {
    /// Of an exchange with a server.
    Exchange(Trouble, Address),
    /// Without one, or for a reason that is no server's.
    Otherwise(Failure),
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self::Otherwise(failure)
    }
}

impl Exchange {
    pub(crate) fn new(
        routes: Routes,
        settings: &Settings,
        (inspector, losses): (Arc<Inspector>, Arc<Losses>),
    ) -> Self {
        Self {
            routes,
            inspector,
            losses,
            counters: Arc::default(),
            patience: settings.patience,
            ack_timeout: settings.ack_timeout,
        }
    }

    /// Where a key stands: its shard, and the names of its entry and of the shard's counter.
    pub(crate) fn named(&self, key: &Key) -> (Shard, String, String) {
        let (names, shard) = (self.inspector.names(), Shard::of(key));
        (shard, names.entry(key), names.counter(shard))
    }

    /// Until when a call that begins now is tried again.
    pub(crate) fn deadline(&self) -> Instant {
        now() + self.patience
    }

    /// Calls a script. Tries again only while it is certain that nothing was applied.
    pub(crate) async fn call(&self, call: &Call) -> Result<Reply, Failure> {
        let deadline = self.deadline();
        let mut backoff = Backoff::default();
        let mut asked_to = None;
        let mut attempt = 0;
        loop {
            attempt += 1;
            let failed = match self.attempt(call, deadline, asked_to.take()).await {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            let (trouble, address) = match failed {
                Failed::Otherwise(failure) => return Err(failure),
                Failed::Exchange(trouble, address) => (trouble, address),
            };
            self.routes.learn(call.shard, &trouble);
            if !trouble.passes(call.doing) || attempt == ATTEMPTS || now() >= deadline {
                return Err(trouble.failure(call.doing).at(&address));
            }
            match trouble {
                Trouble::Elsewhere { at, once: true } => asked_to = Some(at),
                Trouble::Elsewhere { .. } => {}
                _ => pass(backoff.next()).await,
            }
        }
    }

    async fn attempt(
        &self,
        call: &Call,
        deadline: Instant,
        asked_to: Option<Address>,
    ) -> Result<Reply, Failed> {
        let asking = asked_to.is_some();
        let node = match asked_to.and_then(|at| self.routes.at(&at)) {
            Some(node) => node,
            None => self.routes.to(call.shard, deadline).await?,
        };
        if call.swaps()
            && let Some(lane) = node.lane(deadline).await
        {
            return self.acknowledged(call, &lane?.live, asking).await;
        }
        let live = node.ready(deadline).await?;
        let value = if asking {
            let mut answers = self.send(call, &live, asking, &[]).await?;
            answers.remove(0)
        } else {
            self.send_one(call, &live).await?
        };
        self.reply(call, value, &live)
    }

    /// The common case: one command.
    async fn send_one(&self, call: &Call, live: &Live) -> Result<Value, Failed> {
        let tell = self.tell(call, live);
        let failed = |trouble| Failed::Exchange(trouble, live.address.clone());
        match live.ask(&call.by_hash(tell)).await {
            Err(Trouble::NoScript) => {
                self.counters.script_sent();
                live.ask(&call.by_source(tell)).await.map_err(failed)
            }
            answer => answer.map_err(failed),
        }
    }

    /// The script with other commands before and after it. What those answer comes after what
    /// the script answers.
    async fn send(
        &self,
        call: &Call,
        live: &Live,
        asking: bool,
        after: &[Cmd],
    ) -> Result<Vec<Value>, Failed> {
        let tell = self.tell(call, live);
        let failed = |trouble| Failed::Exchange(trouble, live.address.clone());
        let before = || asking.then(|| cmd("ASKING").take());
        let all = |script| before().into_iter().chain([script]).chain(after.iter().cloned());
        let mut answers = live.ask_all(all(call.by_hash(tell))).await.map_err(failed)?;
        if answers.contains(&Err(Trouble::NoScript)) {
            self.counters.script_sent();
            answers = live.ask_all(all(call.by_source(tell))).await.map_err(failed)?;
        }
        let answers = answers.into_iter().skip(usize::from(asking));
        answers.collect::<Result<_, _>>().map_err(failed)
    }

    /// How the server tells others of a change.
    fn tell(&self, call: &Call, live: &Live) -> &'static str {
        match call.swaps() {
            false => "",
            true if self.inspector.tells_in_shards(&live.address) => "SPUBLISH",
            true => "PUBLISH",
        }
    }

    fn reply(&self, call: &Call, value: Value, live: &Live) -> Result<Reply, Failed> {
        let failed = |trouble| Failed::Exchange(trouble, live.address.clone());
        match Reply::from_value(value) {
            Some(Reply::Damaged) => Err(failed(Trouble::Damaged)),
            Some(reply) => {
                live.was_of_use();
                if let Reply::Won(won) = &reply {
                    self.losses.won(call.shard, won.is_first);
                }
                Ok(reply)
            }
            None => {
                // Whose answer it was, and who will get ours, can't be known.
                live.give_up();
                Err(failed(Trouble::Lost("the answer can't be read")))
            }
        }
    }

    // ===== acknowledgement =====

    /// A swap that counts only when enough replicas have it.
    async fn acknowledged(&self, call: &Call, live: &Live, asking: bool) -> Result<Reply, Failed> {
        let wanted = self.inspector.wanted(&live.address).unwrap_or(0);
        let wait = cmd("WAIT").arg(wanted).arg(millis(self.ack_timeout)).take();
        let mut answers = self.send(call, live, asking, &[wait]).await?.into_iter();
        let (value, acked) = (answers.next().unwrap_or(Value::Nil), answers.next());
        let reply = self.reply(call, value, live)?;
        match (reply, acked) {
            (Reply::Won(won), acked) if !has(acked.as_ref(), wanted) => {
                Err(self.short(call, live, won, wanted).await)
            }
            (reply, _) => Ok(reply),
        }
    }

    /// Too few have it: a claim is taken back. Whether a fail-over brings it up again can't be
    /// known.
    async fn short(&self, call: &Call, live: &Live, won: Won, wanted: u32) -> Failed {
        self.counters.ack_short();
        let taken_back = if call.claims {
            let take_back = call.take_back(won.stamp.version);
            self.send_one(&take_back, live).await.is_ok()
        } else {
            false
        };
        let then = if taken_back { "; the claim was taken back" } else { "" };
        let says = format!("fewer than {wanted} replicas acknowledged in time{then}");
        let failure = Failure::new(semel_core::StoreErrorKind::Unknown, says);
        Failed::Otherwise(failure.at(&live.address))
    }
}

fn has(acked: Option<&Value>, wanted: u32) -> bool {
    matches!(acked, Some(Value::Int(count)) if *count >= i64::from(wanted))
}

fn millis(limit: Duration) -> u64 {
    u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1)
}
