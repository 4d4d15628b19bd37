//! The scripts, and how they are called.

mod call;
mod reply;

use std::sync::LazyLock;

pub(crate) use call::{Call, Doing};
pub(crate) use reply::{Reply, Won};

/// A script with its hash.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) source: &'static str,
    pub(crate) hash: String,
}

impl Script {
    pub(crate) fn new(source: &'static str) -> Self {
        Self { source, hash: redis::Script::new(source).get_hash().to_owned() }
    }
}

/// Compare and swap.
pub(crate) static SWAP: LazyLock<Script> =
    LazyLock::new(|| Script::new(concat!(include_str!("prelude.lua"), include_str!("swap.lua"))));

/// Read, and touch.
pub(crate) static READ: LazyLock<Script> =
    LazyLock::new(|| Script::new(concat!(include_str!("prelude.lua"), include_str!("read.lua"))));
