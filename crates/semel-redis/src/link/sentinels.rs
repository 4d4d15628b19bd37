//! Those who say which server is the primary.

use std::sync::Arc;

use redis::{PushInfo, PushKind, Value, cmd};
use tokio::sync::Notify;
use tokio::sync::watch;
use tracing::debug;

use super::backoff::Backoff;
use super::wire::{Live, Wiring};
use crate::address::Address;
use crate::script::Doing;
use crate::timer::pass;
use crate::trouble::Failure;

/// On which a Sentinel tells of a new primary: the old one may go on for seconds, and what is
/// written to it is lost.
const SWITCHED: &str = "+switch-master";

/// The Sentinels of a service. Clones share one watch.
#[derive(Debug, Clone)]
pub(crate) struct Sentinels {
    addresses: Arc<[Address]>,
    service: Arc<str>,
    wiring: Wiring,
    /// Whom the Sentinels named last.
    named: Arc<watch::Sender<Option<Address>>>,
}

impl Sentinels {
    pub(crate) fn new(addresses: Vec<Address>, service: &str, wiring: Wiring) -> Self {
        let named = Arc::new(watch::Sender::new(None));
        Self { addresses: addresses.into(), service: service.into(), wiring, named }
    }

    /// Whom they hold to be the primary.
    pub(crate) async fn primary(&self) -> Result<Address, Failure> {
        let mut last = Failure::not_applied("there is no Sentinel");
        for address in self.addresses.iter() {
            match self.ask(address).await {
                Ok(primary) => {
                    self.name(&primary);
                    return Ok(primary);
                }
                Err(failure) => last = failure,
            }
        }
        Err(last)
    }

    fn name(&self, primary: &Address) {
        self.named.send_if_modified(|named| {
            let differs = named.as_ref() != Some(primary);
            *named = Some(primary.clone());
            differs
        });
    }

    /// Comes back when they name another primary than this.
    pub(crate) async fn other_than(&self, primary: &Address) {
        let mut named = self.named.subscribe();
        let other = |named: &Option<Address>| named.as_ref().is_some_and(|it| it != primary);
        // It fails only when nobody can name one any more.
        let _ = named.wait_for(other).await;
    }

    /// Listens to what they tell of new primaries, as long as it is let.
    pub(crate) async fn listen(self) {
        let mut backoff = Backoff::default();
        loop {
            for address in self.addresses.iter() {
                match self.hear(address).await {
                    Ok(()) => backoff.reset(),
                    Err(failure) => debug!(error = %failure.says, "a Sentinel is not heard"),
                }
            }
            pass(backoff.next()).await;
        }
    }

    /// Listens to one, until the connection ends.
    async fn hear(&self, address: &Address) -> Result<(), Failure> {
        let switched = Arc::new(Notify::new());
        let told = Arc::clone(&switched);
        let pushed = move |info: PushInfo| {
            if info.kind == PushKind::Message {
                told.notify_one();
            }
        };
        let live = self.wiring.connect(address, pushed).await?;
        let subscribe = cmd("SUBSCRIBE").arg(SWITCHED).take();
        let subscribed = live.ask(&subscribe).await;
        subscribed.map_err(|trouble| trouble.failure(Doing::Read).at(address))?;
        loop {
            // Whatever was told, or came to pass before it was listened to: it is asked for.
            self.name(&self.ask_on(&live).await?);
            tokio::select! {
                () = switched.notified() => {}
                () = live.end() => return Ok(()),
            }
        }
    }

    async fn ask(&self, sentinel: &Address) -> Result<Address, Failure> {
        self.ask_on(&self.wiring.connect(sentinel, |_| {}).await?).await
    }

    async fn ask_on(&self, live: &Live) -> Result<Address, Failure> {
        let command = cmd("SENTINEL").arg("GET-MASTER-ADDR-BY-NAME").arg(&*self.service).take();
        let answer = live.ask(&command).await;
        let answer = answer.map_err(|trouble| trouble.failure(Doing::Read).at(&live.address))?;
        address(answer).ok_or_else(|| {
            Failure::not_applied("the Sentinel does not know the service").at(&live.address)
        })
    }
}

/// From what a Sentinel answers: host and port.
fn address(answer: Value) -> Option<Address> {
    let Value::Array(parts) = answer else { return None };
    let mut texts = parts.into_iter().map(|part| match part {
        Value::BulkString(bytes) => String::from_utf8(bytes).ok(),
        _ => None,
    });
    Some(Address::new(texts.next()??, texts.next()??.parse().ok()?))
}
