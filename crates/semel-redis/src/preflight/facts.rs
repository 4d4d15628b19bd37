//! What a server says about itself.

use redis::{Cmd, Value, cmd};
use semel_core::{Expect, Next, Touch, Ttl};

use super::info::{Info, setting};
use crate::link::Live;
use crate::script::{Call, Doing, Reply};
use crate::shard::{Names, Shard};
use crate::timer::wall_clock_micros;
use crate::trouble::{Failure, Trouble};

/// What is known of a server, at one moment.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    pub(super) product: String,
    pub(super) version: (u32, u32),
    /// Of its numbers: scripts need 64.
    pub(super) bits: u64,
    pub(super) run_id: String,
    pub(super) is_primary: bool,
    pub(super) is_loading: bool,
    pub(super) maxmemory: u64,
    pub(super) policy: String,
    pub(super) appends: bool,
    /// From `CONFIG GET`, which not every user may use.
    pub(super) append_fsync: Option<String>,
    pub(super) save: Option<String>,
    pub(super) replicas: u32,
    /// The server's clock, and this machine's at about the same moment.
    pub(super) clock: u64,
    pub(super) our_clock: u64,
    pub(super) tells_in_shards: bool,
    pub(super) may_publish: bool,
    pub(super) probe: Probe,
    /// What the server remembers of when its data began.
    pub(super) epoch: Option<String>,
}

/// How the scripts ran.
#[derive(Debug, Clone, Default)]
pub(super) enum Probe {
    /// They were not tried.
    #[default]
    NotTried,
    /// They ran.
    Ran,
    /// There was no memory left for them.
    Full,
    /// They failed.
    Failed(String),
}

impl Facts {
    /// Asks the server.
    pub(super) async fn gather(
        live: &Live,
        names: &Names,
        probe: Option<Shard>,
    ) -> Result<Self, Failure> {
        let mut facts = Self::ask(live, names).await?;
        let usable = facts.is_primary && !facts.is_loading;
        if let (Some(shard), true) = (probe, usable) {
            let failed = |trouble: Trouble| trouble.failure(Doing::Read);
            facts.probe = try_scripts(live, names, shard).await.map_err(failed)?;
            facts.epoch = epoch(live, names, shard).await.map_err(failed)?;
        }
        Ok(facts)
    }

    async fn ask(live: &Live, names: &Names) -> Result<Self, Failure> {
        let get = |name: &str| cmd("CONFIG").arg("GET").arg(name).take();
        let commands = [
            cmd("INFO").take(),
            cmd("TIME").take(),
            get("appendfsync"),
            get("save"),
            cmd("COMMAND").arg("INFO").arg("SPUBLISH").take(),
            cmd("PUBLISH").arg(names.probe(Shard::first())).arg("").take(),
        ];
        let answers = live.ask_all(commands).await.map_err(|it| it.failure(Doing::Read))?;
        let mut answers = answers.into_iter();
        let mut next = || answers.next().unwrap_or(Ok(Value::Nil));
        let info = next().map_err(|trouble| trouble.failure(Doing::Read))?;
        let info = Info::from_value(info).ok_or_else(|| Failure::unusable("INFO is no text"))?;
        let clock = next().ok().and_then(micros).unwrap_or(0);
        let our_clock = wall_clock_micros();
        let (append_fsync, save) = (next().ok().and_then(setting), next().ok().and_then(setting));
        let tells_in_shards = matches!(
            next(), Ok(Value::Array(found)) if matches!(found.first(), Some(Value::Array(_)))
        );
        let may_publish = next().is_ok();
        Ok(Self { clock, our_clock, append_fsync, save, tells_in_shards, may_publish, ..of(&info) })
    }
}

fn of(info: &Info) -> Facts {
    let text = |name: &str| info.text(name).unwrap_or_default().to_owned();
    let valkey = info.text("valkey_version");
    Facts {
        product: if valkey.is_some() { "Valkey" } else { "Redis" }.to_owned(),
        version: version(valkey.or(info.text("redis_version")).unwrap_or_default()),
        bits: info.number("arch_bits").unwrap_or(64),
        run_id: text("run_id"),
        is_primary: info.text("role") == Some("master"),
        is_loading: info.number("loading") == Some(1),
        maxmemory: info.number("maxmemory").unwrap_or(0),
        policy: text("maxmemory_policy"),
        appends: info.number("aof_enabled") == Some(1),
        replicas: info.replicas(),
        ..Facts::default()
    }
}

fn version(text: &str) -> (u32, u32) {
    let mut numbers = text.split('.').map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// The moment that `TIME` answers with.
pub(crate) fn micros(time: Value) -> Option<u64> {
    let Value::Array(parts) = time else { return None };
    let mut numbers = parts.iter().map(|part| match part {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok()?.parse::<u64>().ok(),
        _ => None,
    });
    Some(numbers.next()?? * 1_000_000 + numbers.next()??)
}

/// How many replicas a primary has that are in step.
pub(super) async fn replicas(live: &Live) -> Option<u32> {
    let info = live.ask(&cmd("INFO").arg("replication").take()).await.ok()?;
    Some(Info::from_value(info)?.replicas())
}

/// What the server remembers of when its data began; makes it remember if it does not. None when it
/// can't, for lack of memory or because the shard has moved on.
async fn epoch(live: &Live, names: &Names, shard: Shard) -> Result<Option<String>, Trouble> {
    let name = names.epoch(shard);
    let new = format!("{:032x}", rand::random::<u128>());
    let commands = [cmd("SET").arg(&name).arg(new).arg("NX").take(), cmd("GET").arg(&name).take()];
    let mut answers = live.ask_all(commands).await?;
    Ok(match answers.pop() {
        Some(Ok(Value::BulkString(bytes))) => String::from_utf8(bytes).ok(),
        _ => None,
    })
}

/// Runs both scripts with all the commands that they use, on an entry that no key can name. They
/// go over as a whole, so that the server knows them from then on.
async fn try_scripts(live: &Live, names: &Names, shard: Shard) -> Result<Probe, Trouble> {
    let named = || (shard, names.probe(shard), names.counter(shard));
    let brief = Ttl::from_micros(1_000_000).unwrap_or_default();
    let put = Next::Put { value: "probe".into(), lease: brief, keep: brief };
    let renew = Next::Renew { lease: brief, keep: brief };
    let swap = |next| Call::swap(named(), Expect::Any, next).by_source("");
    let touch = Call::read(named(), Touch::Lease(brief)).by_source("");
    let commands: [Cmd; 4] = [swap(put), swap(renew), touch, swap(Next::Delete)];
    for answer in live.ask_all(commands).await? {
        match answer.map(Reply::from_value) {
            Ok(Some(Reply::Won(_) | Reply::There(_))) => {}
            Ok(_) => return Ok(Probe::Failed("an answer that is not one of theirs".to_owned())),
            Err(Trouble::Full) => return Ok(Probe::Full),
            // The shard has moved on to another node, whose probe it will be.
            Err(Trouble::Elsewhere { .. } | Trouble::NotYet(_) | Trouble::Blocked(_)) => {
                return Ok(Probe::NotTried);
            }
            Err(trouble) => {
                return Ok(Probe::Failed(trouble.failure(Doing::Read).says.to_string()));
            }
        }
    }
    Ok(Probe::Ran)
}
