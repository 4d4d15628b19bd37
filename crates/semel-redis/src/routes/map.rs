//! Which node of a cluster has which shard.

use redis::Value;

use crate::address::Address;
use crate::shard::{SHARDS, SLOTS, Shard};

/// The owner of each shard, as one node told it, or as redirections did since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Map(Vec<Option<Address>>);

impl Map {
    pub(super) fn unknown() -> Self {
        Self(vec![None; usize::from(SHARDS)])
    }

    pub(super) fn owner(&self, shard: Shard) -> Option<&Address> {
        self.0.get(shard.index())?.as_ref()
    }

    pub(super) fn set(&mut self, shard: Shard, owner: Address) {
        if let Some(place) = self.0.get_mut(shard.index()) {
            *place = Some(owner);
        }
    }

    /// The owners, each with one of its shards.
    pub(super) fn owners(&self) -> Vec<(Address, Shard)> {
        let mut owners: Vec<(Address, Shard)> = Vec::new();
        for shard in Shard::all() {
            if let Some(owner) = self.owner(shard)
                && !owners.iter().any(|(known, _)| known == owner)
            {
                owners.push((owner.clone(), shard));
            }
        }
        owners
    }

    /// How many shards nobody has.
    pub(super) fn gaps(&self) -> usize {
        self.0.iter().filter(|owner| owner.is_none()).count()
    }

    /// From what `CLUSTER SLOTS` answers, asked at `asked`; none when it is not that.
    pub(super) fn from_slots(value: Value, asked: &Address) -> Option<Self> {
        let Value::Array(ranges) = value else { return None };
        let mut owners: Vec<Option<Address>> = vec![None; usize::from(SLOTS)];
        for range in ranges {
            let Value::Array(parts) = range else { return None };
            let [first, last, primary, ..] = parts.as_slice() else { return None };
            let (first, last) = (slot(first)?, slot(last)?);
            let owner = node(primary, asked)?;
            owners.get_mut(first..=last)?.fill(Some(owner));
        }
        let of = |shard: Shard| owners[usize::from(shard.slot())].clone();
        Some(Self(Shard::all().map(of).collect()))
    }
}

fn slot(value: &Value) -> Option<usize> {
    match value {
        Value::Int(number) => usize::try_from(*number).ok(),
        _ => None,
    }
}

/// A node that does not know its own name leaves it out: it is at the host we asked.
fn node(value: &Value, asked: &Address) -> Option<Address> {
    let Value::Array(parts) = value else { return None };
    let [host, Value::Int(port), ..] = parts.as_slice() else { return None };
    let host = match host {
        Value::BulkString(host) if !host.is_empty() => std::str::from_utf8(host).ok()?,
        Value::SimpleString(host) if !host.is_empty() => host,
        _ => &asked.host,
    };
    Some(Address::new(host, u16::try_from(*port).ok()?))
}

#[cfg(test)]
mod tests {
    use super::{Address, Map, Shard, Value};

    fn node(host: &str, port: i64) -> Value {
        let host = Value::BulkString(host.into());
        Value::Array(vec![host, Value::Int(port), Value::BulkString("id".into())])
    }

    fn range(first: i64, last: i64, nodes: Vec<Value>) -> Value {
        let mut parts = vec![Value::Int(first), Value::Int(last)];
        parts.extend(nodes);
        Value::Array(parts)
    }

    #[test]
    fn each_shard_is_at_the_primary_of_its_slot() {
        let asked = Address::new("seed", 1);
        let answer = Value::Array(vec![
            range(0, 8_191, vec![node("a", 7000), node("replica", 7001)]),
            range(8_192, 16_383, vec![node("", 7002)]),
        ]);
        let map = Map::from_slots(answer, &asked).expect("a map");
        assert_eq!(map.gaps(), 0);
        for shard in Shard::all() {
            let due = if shard.slot() < 8_192 { ("a", 7000) } else { ("seed", 7002) };
            assert_eq!(map.owner(shard), Some(&Address::new(due.0, due.1)));
        }
        assert_eq!(map.owners().len(), 2);
    }

    #[test]
    fn answers_of_other_forms_are_no_map() {
        let asked = Address::new("seed", 1);
        for answer in [
            Value::Nil,
            Value::Array(vec![Value::Int(1)]),
            Value::Array(vec![range(0, 99_999, vec![node("a", 1)])]),
            Value::Array(vec![range(-1, 5, vec![node("a", 1)])]),
            Value::Array(vec![range(9, 5, vec![node("a", 1)])]),
            Value::Array(vec![range(0, 5, vec![node("a", 99_999)])]),
            Value::Array(vec![range(0, 5, vec![])]),
        ] {
            assert_eq!(Map::from_slots(answer.clone(), &asked), None, "{answer:?}");
        }
    }
}
