//! Loopback ports that nobody else takes, also while the server behind one is down.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;

use crate::error::{TestkitError, TestkitResult};

/// Below the range from which systems take the ports of outgoing connections, so that none of
/// those can sit on the port of a server that is just being restarted; and apart from the ports
/// above it that are tried for a bus.
const RANGE: std::ops::Range<u16> = 10_500..20_500;

/// A node of a Redis Cluster talks to others on its port and this.
const BUS: u16 = 10_000;

const ATTEMPTS: usize = 500;

/// A free port of 127.0.0.1. It is taken, for all tests of the machine, until this is dropped.
#[derive(Debug)]
pub struct Port {
    number: u16,
    /// Locked. The system unlocks it when the process ends, however it ends.
    _lock: File,
}

impl Port {
    /// Finds one that is free, together with the one 10,000 above it.
    ///
    /// # Errors
    ///
    /// [`TestkitError::System`] when the directory of locks can't be made, and
    /// [`TestkitError::TooLate`] when all are taken.
    pub fn free() -> TestkitResult<Self> {
        let directory = locks()?;
        for _ in 0..ATTEMPTS {
            let number = rand::random_range(RANGE);
            if let Some(port) = Self::lock(&directory, number)? {
                return Ok(port);
            }
        }
        Err(TestkitError::TooLate { what: "a free loopback port".to_owned(), seconds: 0.0 })
    }

    fn lock(directory: &std::path::Path, number: u16) -> TestkitResult<Option<Self>> {
        let file = directory.join(number.to_string());
        let lock = File::create(&file).map_err(TestkitError::system("a lock of a port"))?;
        let ours = lock.try_lock().is_ok() && is_free(number) && is_free(number + BUS);
        Ok(ours.then_some(Self { number, _lock: lock }))
    }

    /// Its number.
    #[must_use]
    pub const fn number(&self) -> u16 {
        self.number
    }

    /// The address it stands for.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.number))
    }
}

fn locks() -> TestkitResult<PathBuf> {
    let directory = std::env::temp_dir().join("semel-testkit-ports");
    fs::create_dir_all(&directory).map_err(TestkitError::system("the directory of locks"))?;
    Ok(directory)
}

fn is_free(number: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, number)).is_ok()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Port;

    #[test]
    fn no_port_is_given_twice_while_it_is_held() {
        let ports: Vec<Port> = (0..100).map(|_| Port::free().expect("a port")).collect();
        let numbers: HashSet<u16> = ports.iter().map(Port::number).collect();
        assert_eq!(numbers.len(), ports.len());
    }
}
