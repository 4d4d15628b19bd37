//! The address to listen on.

use std::net::{SocketAddr, ToSocketAddrs};

use crate::exit::Stop;

const EXPECTED: &str = "it takes HOST:PORT, such as 127.0.0.1:5000, [::1]:5000 or localhost:0";

/// Resolves `HOST:PORT`; of a name's addresses an IPv4 one is taken if there is one.
pub(crate) fn resolve(flag: &str, text: &str) -> Result<SocketAddr, Stop> {
    let refused = || Stop::flag(flag, text, EXPECTED);
    let found: Vec<SocketAddr> = text.to_socket_addrs().map_err(|_| refused())?.collect();
    found.iter().find(|a| a.is_ipv4()).or(found.first()).copied().ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_localhost_are_taken() {
        for text in ["127.0.0.1:5000", "[::1]:5000", "0.0.0.0:0"] {
            assert_eq!(resolve("--listen", text).unwrap(), text.parse().unwrap());
        }
        assert!(resolve("--listen", "localhost:5000").unwrap().ip().is_loopback());
    }

    #[test]
    fn anything_else_is_refused_by_the_flags_name() {
        for text in ["", "5000", "127.0.0.1", "127.0.0.1:65536", "::1:5000x", "http://a:1"] {
            let message = resolve("--listen", text).unwrap_err().message();
            assert!(message.contains("--listen") && message.contains("HOST:PORT"), "{message}");
        }
    }
}
