//! What follows from what a server says about itself.

use semel_core::FindingLevel;

use super::check::Check;
use super::facts::{Facts, Probe};
use crate::ack::Ack;

/// What a finding says, before it is known whom it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) level: FindingLevel,
    pub(super) check: Check,
    pub(super) says: String,
    pub(super) change: Option<String>,
}

/// What the store expects, and what it knows from before.
pub(super) struct Expected {
    pub(super) ack: Ack,
    pub(super) in_cluster: bool,
    pub(super) fails_over: bool,
    pub(super) in_the_clear: bool,
    pub(super) has_password: bool,
    /// The server's clock when it was last looked at.
    pub(super) last_clock: u64,
    pub(super) lost_data: bool,
}

/// 2024-01-01: a clock before it was never set.
const NOT_LONG_AGO: u64 = 1_704_067_200_000_000;
const SECOND: u64 = 1_000_000;

pub(super) fn findings(facts: &Facts, expected: &Expected) -> Vec<Said> {
    let mut said = vec![version(facts), role(facts)];
    if !facts.is_primary {
        // All else is the primary's business.
        return said;
    }
    said.extend([
        eviction(facts),
        memory(facts),
        persistence(facts),
        replicas(facts, expected),
        scripts(facts),
        hints(facts, expected),
        clock(facts, expected),
    ]);
    said.extend(data(expected));
    said.extend(transport(expected));
    said
}

fn ok(check: Check, says: impl Into<String>) -> Said {
    Said { level: FindingLevel::Fine, check, says: says.into(), change: None }
}

fn warn(check: Check, says: impl Into<String>, change: impl Into<String>) -> Said {
    Said { level: FindingLevel::Warning, check, says: says.into(), change: Some(change.into()) }
}

fn refuse(check: Check, says: impl Into<String>, change: impl Into<String>) -> Said {
    Said { level: FindingLevel::Refused, ..warn(check, says, change) }
}

fn version(facts: &Facts) -> Said {
    let (major, minor) = facts.version;
    let says = format!("{} {major}.{minor}", facts.product);
    if (major, minor) < (6, 2) {
        return refuse(Check::Version, format!("{says} lacks commands"), "use 6.2 or later");
    }
    if facts.bits < 64 {
        let says = format!("{says} of {} bits: its numbers are too small", facts.bits);
        return refuse(Check::Version, says, "use a build of 64 bits");
    }
    ok(Check::Version, says)
}

fn role(facts: &Facts) -> Said {
    if facts.is_primary {
        return ok(Check::Role, "a primary");
    }
    refuse(
        Check::Role,
        "a replica: what it knows may be old, and it takes no writes",
        "name the primary, or use redis-sentinel:// or redis-cluster:// to have it found",
    )
}

fn eviction(facts: &Facts) -> Said {
    let policy = facts.policy.as_str();
    if policy == "noeviction" {
        return ok(Check::Eviction, "noeviction: what is kept stays until its time is over");
    }
    let change = "set maxmemory-policy noeviction, or give Semel a server of its own";
    if facts.maxmemory == 0 {
        let says = format!("{policy}: it would evict entries if maxmemory were set; it is not");
        return warn(Check::Eviction, says, change);
    }
    let says = format!("{policy}: a full server forgets calls, which then run again, and locks");
    refuse(Check::Eviction, says, change)
}

fn memory(facts: &Facts) -> Said {
    if matches!(facts.probe, Probe::Full) {
        return warn(
            Check::Memory,
            "maxmemory is reached: new calls are refused, those under way are still recorded",
            "raise maxmemory, or keep records for a shorter time",
        );
    }
    if facts.maxmemory == 0 {
        return warn(
            Check::Memory,
            "maxmemory is not set: a server that grows too large is killed by the system",
            "set maxmemory below what the machine has",
        );
    }
    ok(Check::Memory, format!("bounded at {} MiB; a full server refuses", facts.maxmemory >> 20))
}

fn persistence(facts: &Facts) -> Said {
    if facts.appends {
        return match facts.append_fsync.as_deref() {
            Some("always") => ok(
                Check::Persistence,
                "appendfsync always: a restart finds all that was acknowledged",
            ),
            Some(fsync) => warn(
                Check::Persistence,
                format!(
                    "appendfsync {fsync}: a crash of the machine loses the last second or more"
                ),
                "set appendfsync always, or have replicas acknowledge (ack)",
            ),
            None => warn(
                Check::Persistence,
                "an append-only file is kept; how often it reaches the disk can't be seen",
                "allow CONFIG GET, and see that appendfsync is always",
            ),
        };
    }
    let saves = facts.save.as_deref().is_none_or(|save| !save.is_empty());
    let says = if saves {
        "snapshots at most: a restart loses what came after the last one"
    } else {
        "nothing is kept on the disk: a restart forgets everything"
    };
    warn(Check::Persistence, says, "set appendonly yes and appendfsync always")
}

fn replicas(facts: &Facts, expected: &Expected) -> Said {
    let there = facts.replicas;
    match expected.ack.wanted(there) {
        Some(wanted) if wanted > there => refuse(
            Check::Replicas,
            format!("{there} in step, and {wanted} must acknowledge: no write would count"),
            "add replicas, or lower ack",
        ),
        Some(wanted) if wanted == there => ok(
            Check::Replicas,
            format!("all {there} acknowledge: whichever is promoted has it all"),
        ),
        Some(wanted) => warn(
            Check::Replicas,
            format!("{wanted} of {there} acknowledge: another may be promoted"),
            "set ack=all",
        ),
        None if there > 0 || expected.fails_over => warn(
            Check::Replicas,
            format!(
                "{there}, which acknowledge nothing: a fail-over loses what it had not passed on"
            ),
            "set ack=all",
        ),
        None => ok(Check::Replicas, "none: there is no fail-over that could lose anything"),
    }
}

fn scripts(facts: &Facts) -> Said {
    match &facts.probe {
        Probe::NotTried => ok(Check::Scripts, "not tried on this server"),
        Probe::Ran | Probe::Full => ok(Check::Scripts, "they run"),
        Probe::Failed(why) => refuse(
            Check::Scripts,
            format!("they don't run: {why}"),
            "allow the user the commands that docs/stores/redis.md lists",
        ),
    }
}

fn hints(facts: &Facts, expected: &Expected) -> Said {
    if !facts.may_publish {
        return warn(
            Check::Hints,
            "the user may not publish: who waits for a call finds out by polling",
            "allow the user the channels of the namespace",
        );
    }
    match (expected.in_cluster, facts.tells_in_shards) {
        (true, true) => ok(Check::Hints, "told within the shard"),
        (true, false) => warn(
            Check::Hints,
            "each change is told to all nodes: before 7.0 there is no other way",
            "use 7.0 or later",
        ),
        (false, _) => ok(Check::Hints, "told by pub/sub"),
    }
}

fn clock(facts: &Facts, expected: &Expected) -> Said {
    let change = "keep the clocks of all servers in step (NTP), and never step them back";
    if facts.clock < NOT_LONG_AGO {
        return warn(Check::Clock, "it shows a time long past", change);
    }
    if facts.clock + SECOND < expected.last_clock {
        let back = (expected.last_clock - facts.clock) / SECOND;
        return warn(Check::Clock, format!("it went back by {back} s: leases last longer"), change);
    }
    let apart = facts.clock.abs_diff(facts.our_clock) / SECOND;
    if apart >= 5 {
        let says = format!("{apart} s apart from this machine's: harmless unless it changes");
        return warn(Check::Clock, says, change);
    }
    ok(Check::Clock, "in step with this machine's")
}

fn data(expected: &Expected) -> Option<Said> {
    expected.lost_data.then(|| {
        warn(
            Check::Data,
            "the server lost what it had: calls made before may run again",
            "see persistence and replicas; pause_after_loss keeps what still runs from running twice",
        )
    })
}

fn transport(expected: &Expected) -> Option<Said> {
    let says = match (expected.in_the_clear, expected.has_password) {
        (false, _) => return None,
        (true, true) => "the password and all entries travel in the clear",
        (true, false) => "entries travel in the clear, and no password is asked for",
    };
    Some(warn(Check::Transport, says, "use rediss:// or tls=true"))
}

#[cfg(test)]
mod tests;
