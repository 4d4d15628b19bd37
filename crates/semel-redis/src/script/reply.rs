//! What scripts answer.

use bytes::Bytes;
use redis::Value;
use semel_core::{Entry, Snapshot, Stamp, StoreTime, Version};

/// The answer of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The swap was applied.
    Won(Won),
    /// What is there.
    There(Snapshot),
    /// The server holds bytes under these names that are no entry.
    Damaged,
}

/// A swap that was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Won {
    pub(crate) stamp: Stamp,
    /// Whether the shard began with it: there was no version before, as far as the server knows.
    pub(crate) is_first: bool,
}

impl Reply {
    /// Reads an answer; none when it is not one that a script of ours gives.
    pub(crate) fn from_value(value: Value) -> Option<Self> {
        let Value::Array(parts) = value else { return None };
        let mut parts = parts.into_iter();
        match number(parts.next()?)? {
            0 => {
                let now = StoreTime::from_micros(number(parts.next()?)?);
                Some(Self::There(snapshot(now, parts)?))
            }
            1 => {
                let now = StoreTime::from_micros(number(parts.next()?)?);
                let version = Version::new(number(parts.next()?)?);
                let is_first = number(parts.next()?)? == 1;
                Some(Self::Won(Won { stamp: Stamp { version, now }, is_first }))
            }
            2 => Some(Self::Damaged),
            _ => None,
        }
    }
}

fn snapshot(now: StoreTime, mut parts: impl Iterator<Item = Value>) -> Option<Snapshot> {
    let Some(version) = parts.next() else { return Some(Snapshot::absent(now)) };
    let version = Version::new(number(version)?);
    let lease_end = StoreTime::from_micros(number(parts.next()?)?);
    let keep_end = StoreTime::from_micros(number(parts.next()?)?);
    let Value::BulkString(value) = parts.next()? else { return None };
    let value = Bytes::from(value);
    let (lease_left, keep_left) = (now.until(lease_end), now.until(keep_end));
    if keep_left.is_zero() || lease_left > keep_left {
        return None;
    }
    Some(Snapshot { now, entry: Some(Entry { version, value, lease_left, keep_left }) })
}

fn number(value: Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(number).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Reply, Value};

    fn numbers(numbers: &[i64]) -> Value {
        Value::Array(numbers.iter().map(|number| Value::Int(*number)).collect())
    }

    #[test]
    fn answers_of_other_forms_are_none_and_never_absence() {
        for value in [
            Value::Nil,
            Value::Okay,
            Value::Int(0),
            numbers(&[]),
            numbers(&[0]),
            numbers(&[3, 1]),
            numbers(&[0, -1]),
            numbers(&[1, 5, 6]),
            numbers(&[0, 5, 6, 7, 8, 9]),
            numbers(&[0, 5, 6]),
        ] {
            assert_eq!(Reply::from_value(value.clone()), None, "{value:?}");
        }
    }

    #[test]
    fn an_entry_that_is_past_its_keep_is_no_answer_of_ours() {
        let mut parts = vec![0, 10, 6, 10, 10].into_iter().map(Value::Int).collect::<Vec<_>>();
        parts.push(Value::BulkString(Vec::new()));
        assert_eq!(Reply::from_value(Value::Array(parts)), None);
    }
}
