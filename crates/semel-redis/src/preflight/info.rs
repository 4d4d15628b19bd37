//! The text that `INFO` answers with.

use redis::Value;

/// The fields of an `INFO`.
#[derive(Debug, Clone, Default)]
pub(super) struct Info(String);

impl Info {
    pub(super) fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::BulkString(bytes) => String::from_utf8(bytes).ok().map(Self),
            Value::SimpleString(text) | Value::VerbatimString { text, .. } => Some(Self(text)),
            _ => None,
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.fields().find(|(field, _)| *field == name).map(|(_, value)| value)
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    /// How many replicas have all of the data and get what comes.
    pub(super) fn replicas(&self) -> u32 {
        let online = |(name, value): &(&str, &str)| {
            let place = name.strip_prefix("slave").unwrap_or_default();
            place.parse::<u16>().is_ok() && value.split(',').any(|it| it == "state=online")
        };
        u32::try_from(self.fields().filter(online).count()).unwrap_or(u32::MAX)
    }

    fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.lines().filter_map(|line| line.trim_end().split_once(':'))
    }
}

/// A pair of what `CONFIG GET` answers with.
pub(super) fn setting(value: Value) -> Option<String> {
    let value = match value {
        Value::Map(pairs) => pairs.into_iter().next()?.1,
        Value::Array(parts) => parts.into_iter().nth(1)?,
        _ => return None,
    };
    match value {
        Value::BulkString(bytes) => String::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Info, Value};

    #[test]
    fn fields_are_found_and_replicas_counted_once_they_are_online() {
        let text = "# Replication\r\nrole:master\r\nconnected_slaves:2\r\n\
                    slave0:ip=127.0.0.1,port=1,state=online,offset=5,lag=0\r\n\
                    slave1:ip=127.0.0.1,port=2,state=wait_bgsave,offset=0,lag=0\r\n\
                    slave_repl_offset:5\r\nmaxmemory:1024\r\n";
        let info = Info::from_value(Value::BulkString(text.into())).expect("a text");
        assert_eq!(info.text("role"), Some("master"));
        assert_eq!(info.number("maxmemory"), Some(1024));
        assert_eq!(info.number("role"), None);
        assert_eq!(info.replicas(), 1);
    }
}
