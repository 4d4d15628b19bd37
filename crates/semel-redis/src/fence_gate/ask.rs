//! What the gate's script is told, and what it answers.

use std::sync::LazyLock;
use std::time::Duration;

use redis::{Cmd, Value};
use semel_core::{Fence, GateAnswer, StoreError};

use super::Script;

static GATE: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("gate.lua")));

/// What is done in the same step.
#[derive(Clone, Copy)]
pub(super) enum Guarded<'a> {
    Nothing,
    Set { key: &'a str, value: &'a [u8] },
    Delete { key: &'a str },
}

impl<'a> Guarded<'a> {
    pub(super) const fn key(&self) -> Option<&'a str> {
        match self {
            Self::Nothing => None,
            Self::Set { key, .. } | Self::Delete { key } => Some(key),
        }
    }
}

/// One question to a gate.
pub(super) struct Ask<'a> {
    pub(super) entry: &'a str,
    pub(super) fence: Fence,
    pub(super) keep: Option<Duration>,
    pub(super) guarded: Guarded<'a>,
}

impl Ask<'_> {
    pub(super) fn by_hash(&self) -> Cmd {
        self.command("EVALSHA", &GATE.hash)
    }

    /// The server knows the script from then on.
    pub(super) fn by_source(&self) -> Cmd {
        self.command("EVAL", GATE.source)
    }

    fn command(&self, name: &str, script: &str) -> Cmd {
        let mut command = redis::cmd(name);
        let key = self.guarded.key();
        command.arg(script).arg(1 + usize::from(key.is_some())).arg(self.entry).arg(key);
        command.arg(format!("{:020}", self.fence.get()));
        match self.keep {
            Some(keep) => command.arg(keep.as_millis().to_string()),
            None => command.arg("-"),
        };
        match self.guarded {
            Guarded::Nothing => command.arg("-"),
            Guarded::Set { value, .. } => command.arg("SET").arg(value),
            Guarded::Delete { .. } => command.arg("DEL"),
        };
        command
    }
}

/// Whatever is not an answer of the script's own lets nothing pass.
pub(super) fn answer(reply: Value) -> Result<GateAnswer, StoreError> {
    let Value::Array(parts) = reply else { return Err(unreadable()) };
    match &parts[..] {
        [Value::Int(1)] => Ok(GateAnswer::Passed),
        [Value::Int(0), Value::BulkString(seen)] => {
            let seen = str::from_utf8(seen).ok().and_then(|seen| seen.parse().ok());
            seen.map(|seen| GateAnswer::Refused { seen }).ok_or_else(damaged)
        }
        [Value::Int(2)] => Err(damaged()),
        _ => Err(unreadable()),
    }
}

fn damaged() -> StoreError {
    StoreError::damaged("the server holds something under the gate's name that is no fence")
}

fn unreadable() -> StoreError {
    StoreError::unknown("the server's answer is none that the gate's script gives")
}

#[cfg(test)]
mod tests {
    use super::{GateAnswer, Value, answer};

    #[test]
    fn nothing_but_the_scripts_own_answers_lets_a_fence_pass() {
        assert_eq!(answer(Value::Array(vec![Value::Int(1)])).ok(), Some(GateAnswer::Passed));
        let digits = |text: &str| Value::BulkString(text.into());
        for parts in [
            vec![],
            vec![Value::Int(2)],
            vec![Value::Int(3)],
            vec![Value::Int(1), Value::Int(1)],
            vec![Value::Int(0)],
            vec![Value::Int(0), Value::Int(7)],
            vec![Value::Int(0), digits("99999999999999999999")],
            vec![Value::Int(0), digits("seven")],
        ] {
            assert!(answer(Value::Array(parts.clone())).is_err(), "{parts:?}");
        }
        assert!(answer(Value::Nil).is_err());
        assert!(answer(Value::Okay).is_err());
    }
}
