//! `semel lock release --force`: an operator takes a lock away.

use semel::core::Owner;
use semel::core::lock::Reason;
use semel::core::protocol::lock::{ForceHow, ForceTarget, Forced};
use semel::{LockError, Locks};

use super::no_such;
use crate::exit::Stop;
use crate::output::{self, Span, safe};

pub(super) async fn run(
    locks: &Locks,
    resource: &str,
    reason: &str,
    how: ForceHow,
    failed: impl Fn(LockError) -> Stop,
) -> Result<(), Stop> {
    let reason = Reason::new(reason);
    let forced = locks
        .force_release(resource, ForceTarget::Everybody, how, (&operator(), &reason))
        .await
        .map_err(failed)?;
    let Forced::Forced(holders) = forced else { return Err(no_such(resource)) };
    for holder in &holders {
        let owner = safe(holder.owner.as_ref().map_or("somebody", Owner::as_str));
        output::prose(&match how {
            ForceHow::AtOnce => {
                format!(
                    "semel: {resource} was taken from {owner} and is free; if that one still works, there may be two now"
                )
            }
            _ => format!(
                "semel: {owner} was told to stop; {resource} is free when it has stopped, or in {}",
                Span(holder.left.as_duration())
            ),
        });
    }
    Ok(())
}

/// Who does it, for the holder and the log: user and host.
fn operator() -> Owner {
    let user = ["SUDO_USER", "USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let user = user.unwrap_or_else(|| "an operator".to_owned());
    match host.trim() {
        "" => Owner::new(&user),
        host => Owner::new(&format!("{user}@{host}")),
    }
}
