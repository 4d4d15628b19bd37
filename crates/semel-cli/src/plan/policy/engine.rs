//! What the flags say about calls, whichever door they come through.

use std::str::FromStr;
use std::time::Duration;

use semel::{
    InDoubtPolicy, InFlight, KeyFormat, KeyRule, KeyStorage, Policy, PolicyBuilder, RetryAfter,
};

use super::{Bundle, refusal, set};
use crate::args::{PolicyArgs, duration};
use crate::exit::Stop;
use crate::plan::flag::flag;

pub(super) fn resolve(args: &PolicyArgs, bundle: Bundle) -> Result<Policy, Stop> {
    let builder = Policy::builder().key_rule(key_rule(args)?).preset(bundle.preset);
    let builder = set(builder, bundle.guarantee, PolicyBuilder::guarantee);
    let builder = times(args, keys(args, outcomes(args, builder)?)?)?;
    builder.build().map_err(|error| refusal::of_policy(&error))
}

fn key_rule(args: &PolicyArgs) -> Result<KeyRule, Stop> {
    let format = flag("--key-format", &args.key_format).parsed::<KeyFormat>()?;
    Ok(set(KeyRule::http(), format, KeyRule::with_format))
}

fn times(args: &PolicyArgs, builder: PolicyBuilder) -> Result<PolicyBuilder, Stop> {
    let keep = flag("--time-to-live", &args.time_to_live).positive_time()?;
    let lease =
        flag("--in-progress-time-to-live", &args.in_progress_time_to_live).positive_time()?;
    let cap = flag("--max-execution", &args.max_execution).positive_time()?;
    let waiters = flag("--max-waiters-per-key", &args.max_waiters_per_key)
        .read("a whole number, such as 1000", usize::from_str)?;
    let builder = set(builder, keep, PolicyBuilder::time_to_live);
    let builder = set(builder, lease, PolicyBuilder::in_progress_time_to_live);
    let builder = set(builder, cap, PolicyBuilder::max_execution);
    let builder = set(builder, waiters, PolicyBuilder::max_waiters_per_key);
    let builder = set(builder, in_flight(args)?, PolicyBuilder::in_flight);
    Ok(set(builder, retry_after(args)?, PolicyBuilder::retry_after))
}

fn keys(args: &PolicyArgs, builder: PolicyBuilder) -> Result<PolicyBuilder, Stop> {
    let missing = flag("--missing-key", &args.missing_key).parsed()?;
    let bind = flag("--bind-operation", &args.bind_operation).parsed()?;
    let expired = flag("--detect-expired", &args.detect_expired).parsed()?;
    let builder = set(builder, missing, PolicyBuilder::missing_key);
    let builder = set(builder, bind, PolicyBuilder::bind_operation);
    let builder = set(builder, expired, PolicyBuilder::detect_expired);
    Ok(set(builder, key_storage(args)?, PolicyBuilder::key_storage))
}

fn outcomes(args: &PolicyArgs, builder: PolicyBuilder) -> Result<PolicyBuilder, Stop> {
    let exception = flag("--on-exception", &args.on_exception).parsed()?;
    let down = flag("--store-down", &args.store_down).parsed()?;
    let doubt = flag("--in-doubt", &args.in_doubt).read("rerun or reject", |word| match word {
        "rerun" => Ok(InDoubtPolicy::Rerun),
        "reject" => Ok(InDoubtPolicy::Reject),
        "reconcile" => Err("reconcile needs a function of the application"),
        _ => Err("this is no word of it"),
    })?;
    let builder = set(builder, exception, PolicyBuilder::on_exception);
    let builder = set(builder, down, PolicyBuilder::store_down);
    Ok(set(builder, doubt, PolicyBuilder::in_doubt))
}

/// `--wait` says how long, and so also that there is a wait.
fn in_flight(args: &PolicyArgs) -> Result<Option<InFlight>, Stop> {
    let wait = flag("--wait", &args.wait).positive_time()?;
    let word = flag("--in-flight", &args.in_flight).read("wait or reject", |word| match word {
        "wait" => Ok(wait.map_or_else(InFlight::default, InFlight::Wait)),
        "reject" if wait.is_some() => Err("there is a --wait, which only goes with wait"),
        "reject" => Ok(InFlight::Reject),
        _ => Err("this is no word of it"),
    })?;
    Ok(word.or(wait.map(InFlight::Wait)))
}

fn retry_after(args: &PolicyArgs) -> Result<Option<RetryAfter>, Stop> {
    let takes = format!("off, or {}", duration::FORMS);
    flag("--retry-after", &args.retry_after).read(takes, |text| match text {
        "off" => Ok(RetryAfter::Off),
        _ => duration::parse(text).map(|time| match time {
            Duration::ZERO => RetryAfter::Off,
            time => RetryAfter::AtMost(time),
        }),
    })
}

/// The digest is keyed, and the key is the same for all processes of a store.
fn key_storage(args: &PolicyArgs) -> Result<Option<KeyStorage>, Stop> {
    let secret = flag("--key-secret", &args.key_secret);
    // It is refused by what it should be; a wrong secret may be nearly the right one.
    let secret = match secret.value.map(secret_bytes) {
        None => None,
        Some(Some(secret)) => Some(secret),
        Some(None) => {
            return Err(Stop::flag("--key-secret", "…", "it takes 64 hexadecimal digits"));
        }
    };
    flag("--key-storage", &args.key_storage).read("plain or digest", |word| match (word, secret) {
        ("plain", _) => Ok(KeyStorage::Plain),
        ("digest", Some(secret)) => Ok(KeyStorage::digest(secret)),
        ("digest", None) => Err("digest needs a secret, --key-secret or SEMEL_KEY_SECRET"),
        _ => Err("this is no word of it"),
    })
}

fn secret_bytes(hex: &str) -> Option<[u8; 32]> {
    blake3::Hash::from_hex(hex).ok().map(|hash| *hash.as_bytes())
}
