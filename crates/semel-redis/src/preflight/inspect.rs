//! Looking a server over each time a connection to it is made.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use semel_core::{FindingLevel, Preflight};
use tracing::{info, warn};

use super::check::Check;
use super::facts::{Facts, replicas};
use super::findings::{Expected, Said, findings};
use super::report::Report;
use crate::ack::Ack;
use crate::address::Address;
use crate::link::Live;
use crate::losses::Losses;
use crate::settings::Settings;
use crate::shard::{Names, Shard};
use crate::trouble::Failure;
use crate::url::Topology;

/// What all connections of a store have to pass, and what is known of their servers.
#[derive(Debug)]
pub(crate) struct Inspector {
    names: Names,
    ack: Ack,
    accepted: BTreeSet<Check>,
    topology: Kind,
    with_tls: bool,
    has_password: bool,
    /// Servers that are refused are still reported on.
    pub(crate) admits_all: bool,
    losses: Arc<Losses>,
    seen: Mutex<BTreeMap<Address, Seen>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Single,
    Sentinel,
    Cluster,
}

/// A server as it was last looked at.
#[derive(Debug, Clone, Default)]
struct Seen {
    facts: Facts,
    /// The most replicas it had since it runs.
    replicas: u32,
}

impl Inspector {
    pub(crate) fn new(settings: &Settings, losses: Arc<Losses>, admits_all: bool) -> Self {
        Self {
            names: Names::new(settings.namespace.clone()),
            ack: settings.ack,
            accepted: settings.accepted.clone(),
            topology: match settings.target.topology {
                Topology::Single(_) => Kind::Single,
                Topology::Sentinel { .. } => Kind::Sentinel,
                Topology::Cluster { .. } => Kind::Cluster,
            },
            with_tls: settings.target.tls.is_some(),
            has_password: settings.target.login.password.is_some(),
            admits_all,
            losses,
            seen: Mutex::default(),
        }
    }

    /// Looks the server over, and says whether it will do.
    pub(crate) async fn admit(&self, live: &Live, probe: Option<Shard>) -> Result<(), Failure> {
        let facts = Facts::gather(live, &self.names, probe).await?;
        if facts.is_loading {
            return Err(Failure::not_applied("the server loads its data"));
        }
        if !facts.is_primary && self.topology != Kind::Single {
            return Err(Failure::not_applied("the server is not a primary, or not yet"));
        }
        if let (Some(shard), Some(epoch)) = (probe, &facts.epoch) {
            self.losses.connected(shard, epoch);
        }
        let findings = self.judge(&facts, &live.address);
        self.remember(&live.address, facts);
        match findings.iter().find(|said| said.level == FindingLevel::Refused) {
            Some(said) if !self.admits_all => {
                Err(Failure::unusable(format!("{}: {}", said.check, said.says)))
            }
            _ => Ok(()),
        }
    }

    fn judge(&self, facts: &Facts, address: &Address) -> Vec<Said> {
        let last_clock = self.seen.lock().get(address).map_or(0, |seen| seen.facts.clock);
        let expected = Expected {
            ack: self.ack,
            in_cluster: self.topology == Kind::Cluster,
            fails_over: self.topology == Kind::Sentinel,
            in_the_clear: !self.with_tls && !address.is_loopback(),
            has_password: self.has_password,
            last_clock,
            lost_data: self.losses.count() > 0,
        };
        let mut said = findings(facts, &expected);
        for said in &mut said {
            if said.level == FindingLevel::Refused && self.accepted.contains(&said.check) {
                said.level = FindingLevel::Warning;
            }
        }
        said
    }

    fn remember(&self, address: &Address, facts: Facts) {
        let mut seen = self.seen.lock();
        let before = seen.get(address);
        let same = before.is_some_and(|before| before.facts.run_id == facts.run_id);
        match before {
            Some(_) if !same => info!(server = %address, "the server was restarted"),
            None if !seen.is_empty() && self.topology == Kind::Sentinel => {
                warn!(server = %address, "another server is the primary now: what the last one had not passed on may be lost");
            }
            _ => {}
        }
        let replicas =
            before.filter(|_| same).map_or(0, |before| before.replicas).max(facts.replicas);
        seen.insert(address.clone(), Seen { facts, replicas });
    }

    // ===== replicas =====

    pub(crate) fn counts_replicas(&self) -> bool {
        self.ack == Ack::All
    }

    /// Looks for replicas that came since.
    pub(crate) async fn count_replicas(&self, live: &Live) {
        let Some(count) = replicas(live).await else { return };
        if let Some(seen) = self.seen.lock().get_mut(&live.address) {
            seen.replicas = seen.replicas.max(count);
        }
    }

    /// How many replicas of this server must acknowledge a write; none when nobody must.
    pub(crate) fn wanted(&self, address: &Address) -> Option<u32> {
        let known = self.seen.lock().get(address).map_or(0, |seen| seen.replicas);
        self.ack.wanted(known)
    }

    // ===== for others =====

    pub(crate) const fn names(&self) -> &Names {
        &self.names
    }

    /// Whether the server can tell of changes within a shard.
    pub(crate) fn tells_in_shards(&self, address: &Address) -> bool {
        let seen = self.seen.lock();
        self.topology == Kind::Cluster
            && seen.get(address).is_some_and(|seen| seen.facts.tells_in_shards)
    }

    /// Looks servers over anew, for a report.
    pub(crate) async fn report(
        &self,
        servers: impl IntoIterator<Item = (Live, Option<Shard>)>,
    ) -> Result<Preflight, Failure> {
        let mut report = Report::default();
        for (live, probe) in servers {
            let facts = Facts::gather(&live, &self.names, probe).await;
            let facts = facts.map_err(|failure| failure.at(&live.address))?;
            report.add(live.address.clone(), &facts, self.judge(&facts, &live.address));
            self.remember(&live.address, facts);
        }
        Ok(report.account())
    }
}
