//! One call of a script.

use bytes::Bytes;
use redis::Cmd;
use semel_core::{Expect, Next, Touch, Ttl, Version};

use super::{READ, SWAP, Script};
use crate::shard::Shard;

/// What a failure leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It may have been applied.
    Write,
    /// There was nothing to apply.
    Read,
}

/// A script, the names it works on and what it is told.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) shard: Shard,
    pub(crate) doing: Doing,
    /// A won swap of a key that had nothing: a claim, that can be taken back.
    pub(crate) claims: bool,
    script: &'static Script,
    entry: String,
    counter: String,
    arguments: Vec<Bytes>,
    /// Of a swap; it comes last, behind how the change is told.
    value: Option<Bytes>,
}

impl Call {
    pub(crate) fn swap(
        (shard, entry, counter): (Shard, String, String),
        expect: Expect,
        next: Next,
    ) -> Self {
        let claims = expect == Expect::Absent && matches!(next, Next::Put { .. });
        let (what, lease, keep, value) = match next {
            Next::Put { value, lease, keep } => ("P", lease, keep, value),
            Next::Renew { lease, keep } => ("R", lease, keep, Bytes::new()),
            Next::Delete => ("D", Ttl::ZERO, Ttl::ZERO, Bytes::new()),
        };
        let what = Bytes::from_static(what.as_bytes());
        let arguments = vec![expected(expect), what, micros(lease), micros(keep)];
        let (script, doing, value) = (&*SWAP, Doing::Write, Some(value));
        Self { shard, doing, claims, script, entry, counter, arguments, value }
    }

    pub(crate) fn read((shard, entry, counter): (Shard, String, String), touch: Touch) -> Self {
        let (doing, lease) = match touch {
            Touch::No => (Doing::Read, Bytes::new()),
            Touch::Lease(lease) => (Doing::Write, micros(lease)),
        };
        let (script, arguments) = (&*READ, vec![lease]);
        Self { shard, doing, claims: false, script, entry, counter, arguments, value: None }
    }

    /// The same names, to take back what a claim that won has written.
    pub(crate) fn take_back(&self, won: Version) -> Self {
        let names = (self.shard, self.entry.clone(), self.counter.clone());
        Self::swap(names, Expect::Version(won), Next::Delete)
    }

    /// Whether it is a swap: what replicas must acknowledge, where they must anything.
    pub(crate) const fn swaps(&self) -> bool {
        self.value.is_some()
    }

    /// The command by the script's hash: what the server needs if it knows the script. `tell` is
    /// the command by which it tells others of the change.
    pub(crate) fn by_hash(&self, tell: &str) -> Cmd {
        self.command("EVALSHA", &self.script.hash, tell)
    }

    /// The command with the whole script. The server knows it from then on.
    pub(crate) fn by_source(&self, tell: &str) -> Cmd {
        self.command("EVAL", self.script.source, tell)
    }

    fn command(&self, name: &str, script: &str, tell: &str) -> Cmd {
        let mut command = redis::cmd(name);
        command.arg(script).arg(2).arg(&self.entry).arg(&self.counter);
        for argument in &self.arguments {
            command.arg(&argument[..]);
        }
        if let Some(value) = &self.value {
            command.arg(tell).arg(&value[..]);
        }
        command
    }
}

fn expected(expect: Expect) -> Bytes {
    match expect {
        Expect::Any => Bytes::from_static(b"*"),
        Expect::Absent => Bytes::from_static(b"-"),
        Expect::Version(version) => format!("{:016}", version.get()).into(),
    }
}

fn micros(ttl: Ttl) -> Bytes {
    ttl.as_micros().to_string().into()
}
