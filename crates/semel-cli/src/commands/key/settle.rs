//! `semel key resolve` and `semel key forget`.

use semel::core::protocol::{AtWork, Forgotten, Resolution, Resolved};
use semel::core::{Extent, Outcome, StoreError};
use semel::{Form, Key, Once};

use super::{look, no_such};
use crate::commands::once::Run;
use crate::exit::{Exit, Stop};
use crate::output::{self, Span};
use crate::plan::{ONCE_OPERATION, Settlement};

pub(super) async fn resolve(
    once: &Once,
    key: &Key,
    settlement: Settlement,
    failed: impl Fn(StoreError) -> Stop,
) -> Result<(), Stop> {
    let seen = look::at(once, key).await.map_err(&failed)?;
    let there = seen.record.ok_or_else(|| no_such(key))?;
    let resolution = match settlement {
        Settlement::Free => Resolution::Free,
        Settlement::Done { code, keep } => {
            Resolution::Done { outcome: done(there.record.claim.operation.as_str(), code), keep }
        }
    };
    match once.resolve(key, there.version, resolution).await.map_err(&failed)? {
        Resolved::Settled => {
            let how = match settlement {
                Settlement::Free => "free: it may run".to_owned(),
                Settlement::Done { code, .. } => format!("done, with code {code}"),
            };
            output::prose(&format!("semel: {key} is {how}"));
            Ok(())
        }
        Resolved::StillHeld { lease_left } => Err(not_so(
            format_args!("{key} is not in doubt: it runs"),
            format_args!(
                "its lease ends in {} unless it is renewed",
                Span(lease_left.as_duration())
            ),
        )),
        Resolved::AlreadyDone => Err(not_so(
            format_args!("{key} is not in doubt: it is done"),
            "`semel key forget` makes it as if it had never run",
        )),
        Resolved::Changed => Err(changed(key)),
    }
}

/// What a repeat gets from then on: of a command, its code and silence; of any other call, that
/// its answer was not kept.
fn done(operation: &str, code: u8) -> Outcome {
    if operation == ONCE_OPERATION {
        return Run::silent(code).outcome();
    }
    Outcome { form: Form::Bytes, extent: Extent::Partial, payload: bytes::Bytes::new() }
}

pub(super) async fn forget(
    once: &Once,
    key: &Key,
    owner: AtWork,
    failed: impl Fn(StoreError) -> Stop,
) -> Result<(), Stop> {
    let seen = look::at(once, key).await.map_err(&failed)?;
    let there = seen.record.ok_or_else(|| no_such(key))?;
    match once.forget(key, there.version, owner).await.map_err(&failed)? {
        Forgotten::Forgotten => {
            output::prose(&format!("semel: {key} is forgotten: it may run again"));
            Ok(())
        }
        Forgotten::StillHeld { lease_left } => Err(not_so(
            format_args!("{key} runs; its lease ends in {}", Span(lease_left.as_duration())),
            "--force forgets it all the same, and it may then run twice at once",
        )),
        Forgotten::Changed => Err(changed(key)),
    }
}

fn changed(key: &Key) -> Stop {
    not_so(format_args!("{key} changed meanwhile; nothing was done"), "look again")
}

fn not_so(wrong: impl std::fmt::Display, expected: impl std::fmt::Display) -> Stop {
    Stop::new(Exit::NotSo, wrong, expected)
}
