//! Where a server listens.

use std::fmt;

/// A host, which may be a name or an IP address, and a port.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Address {
    pub(crate) fn new(host: impl Into<String>, port: u16) -> Self {
        Self { host: host.into(), port }
    }

    /// From `host:port` as servers write it: an IPv6 address without brackets.
    pub(crate) fn from_server(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        // Since Redis 7 a cluster's node may add its bus port: `host:port@bus`.
        let port = port.split_once('@').map_or(port, |(port, _)| port);
        Some(Self::new(host, port.parse().ok()?))
    }

    /// Whether only this machine can be meant.
    pub(crate) fn is_loopback(&self) -> bool {
        self.host == "localhost"
            || self.host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn addresses_are_read_as_servers_write_them() {
        for (text, host, port) in [
            ("127.0.0.1:6379", "127.0.0.1", 6379),
            ("::1:6379", "::1", 6379),
            ("node-1.example:7000@17000", "node-1.example", 7000),
            (":7000", "", 7000),
        ] {
            assert_eq!(Address::from_server(text), Some(Address::new(host, port)), "{text}");
        }
        for text in ["", "host", "host:", "host:99999", "host:x"] {
            assert_eq!(Address::from_server(text), None, "{text}");
        }
    }

    #[test]
    fn an_ipv6_address_is_shown_in_brackets() {
        assert_eq!(Address::new("::1", 6379).to_string(), "[::1]:6379");
        assert_eq!(Address::new("redis", 6379).to_string(), "redis:6379");
    }
}
