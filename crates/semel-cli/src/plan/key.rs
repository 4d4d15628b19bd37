//! The plan of `semel key`.

use std::time::Duration;

use semel::Key;
use semel::core::protocol::AtWork;
use semel::core::{Scope, Ttl};

use super::StorePlan;
use super::flag::Flag;
use crate::args::{
    KeyArgs, KeyCommand, KeyForgetArgs, KeyLsArgs, KeyResolveArgs, KeyShowArgs, StoreArgs,
};
use crate::exit::{Exit, Stop};
use crate::output::Form;

/// Everything that `semel key` needs to know.
#[derive(Debug)]
pub(crate) struct KeyPlan {
    pub(crate) store: StorePlan,
    pub(crate) action: KeyAction,
}

#[derive(Debug)]
pub(crate) enum KeyAction {
    List { prefix: String, form: Form },
    Show { key: Key, form: Form },
    Resolve { key: Key, settlement: Settlement },
    Forget { key: Key, owner: AtWork },
}

/// How a call in doubt ended, as somebody says who looked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Settlement {
    Done { code: u8, keep: Ttl },
    Free,
}

impl KeyPlan {
    pub(crate) fn resolve(args: KeyArgs) -> Result<Self, Stop> {
        let (store, action) = match args.command {
            KeyCommand::Ls(args) => list(args),
            KeyCommand::Show(args) => show(args)?,
            KeyCommand::Resolve(args) => resolve(args)?,
            KeyCommand::Forget(args) => forget(args)?,
        };
        Ok(Self { store: StorePlan::resolve(store)?, action })
    }
}

fn list(args: KeyLsArgs) -> (StoreArgs, KeyAction) {
    let KeyLsArgs { prefix, json, store } = args;
    (store, KeyAction::List { prefix, form: Form::of(json) })
}

fn show(args: KeyShowArgs) -> Result<(StoreArgs, KeyAction), Stop> {
    Ok((args.store, KeyAction::Show { key: key(&args.key)?, form: Form::of(args.json) }))
}

fn resolve(args: KeyResolveArgs) -> Result<(StoreArgs, KeyAction), Stop> {
    let given = Flag { name: "--keep", value: Some(&args.keep) };
    let keep: Duration = given.positive_time()?.unwrap_or_default();
    let keep = Ttl::positive(keep).map_err(|error| Stop::flag("--keep", &args.keep, error))?;
    let settlement = match args.done {
        Some(code) => Settlement::Done { code, keep },
        None => Settlement::Free,
    };
    Ok((args.store, KeyAction::Resolve { key: key(&args.key)?, settlement }))
}

fn forget(args: KeyForgetArgs) -> Result<(StoreArgs, KeyAction), Stop> {
    let owner = if args.force { AtWork::Overridden } else { AtWork::Respected };
    Ok((args.store, KeyAction::Forget { key: key(&args.key)?, owner }))
}

/// What keys of calls and of messages begin with.
pub(crate) const WHOLE: [&str; 2] = ["idem:", "inbox:"];

/// A key as it is listed, or one that `semel once` was given.
fn key(text: &str) -> Result<Key, Stop> {
    let key = if WHOLE.iter().any(|prefix| text.starts_with(prefix)) {
        Key::new(text)
    } else {
        Key::idempotency(&Scope::anonymous(), text)
    };
    key.map_err(|error| Stop::new(Exit::Usage, "KEY is refused", error))
}
