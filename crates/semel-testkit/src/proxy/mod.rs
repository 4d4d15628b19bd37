//! A TCP proxy that does to connections what networks do.

mod pump;
mod rules;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::error::{TestkitError, TestkitResult};
use pump::carry;
use rules::Rules;

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// How a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Both sides see an orderly end.
    Close,
    /// Both sides see a reset.
    Reset,
    /// This direction ends in an orderly way, the other goes on.
    HalfClose,
    /// Nobody sees anything: bytes just no longer arrive, in either direction.
    Silence,
}

/// A proxy in front of one server. Rules hold for all connections through it, present and future,
/// until they are taken back. Dropped, it closes everything.
#[derive(Debug)]
pub struct FaultProxy {
    address: SocketAddr,
    rules: Arc<Rules>,
    accepting: JoinHandle<()>,
}

impl FaultProxy {
    /// Starts a proxy that carries everything, on a free loopback port.
    ///
    /// # Errors
    ///
    /// [`TestkitError::System`] when no port can be had.
    pub async fn start(server: SocketAddr) -> TestkitResult<Self> {
        let failed = || TestkitError::system("a port for the proxy");
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(failed())?;
        let address = listener.local_addr().map_err(failed())?;
        let rules = Arc::new(Rules::default());
        let accepting = tokio::spawn(accept(listener, server, Arc::clone(&rules)));
        Ok(Self { address, rules, accepting })
    }

    /// Where clients connect to.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many bytes have passed this way so far.
    #[must_use]
    pub fn passed(&self, direction: Direction) -> u64 {
        self.rules.passed(direction)
    }

    /// How many connections have been accepted so far.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.rules.accepted()
    }

    /// Lets every piece that goes this way wait; zero takes it back.
    pub fn delay(&self, direction: Direction, by: Duration) {
        self.rules.change(|state| state.way(direction).delay = by);
    }

    /// Holds back what goes this way. It is not lost: [`FaultProxy::release`] lets it go on.
    /// Held in one direction only, it is a network that works one way.
    pub fn hold(&self, direction: Direction) {
        self.rules.change(|state| state.way(direction).held = true);
    }

    /// Lets go what was held back.
    pub fn release(&self, direction: Direction) {
        self.rules.change(|state| state.way(direction).held = false);
    }

    /// Swallows what goes this way, as if it had arrived; `false` takes it back. A connection
    /// that lost bytes is of no more use.
    pub fn drop_bytes(&self, direction: Direction, dropping: bool) {
        self.rules.change(|state| state.way(direction).dropped = dropping);
    }

    /// Cuts the connection on which byte number `after + 1`, counted from now over all
    /// connections, would go this way. Then the rule is over.
    pub fn cut_after(&self, direction: Direction, after: u64, cut: Cut) {
        self.rules.change(|state| {
            let way = state.way(direction);
            way.cut = Some((way.passed + after, cut));
        });
    }

    /// Takes back [`FaultProxy::cut_after`], and says whether it had not come to a cut.
    pub fn uncut(&self, direction: Direction) -> bool {
        self.rules.change(|state| state.way(direction).cut.take().is_some())
    }

    /// Passes `bytes` on in place of the next piece that goes this way: a peer that answers what
    /// it should not.
    pub fn substitute(&self, direction: Direction, bytes: impl Into<Vec<u8>>) {
        self.rules.change(|state| state.way(direction).substitute = Some(bytes.into()));
    }

    /// Cuts all present connections at once.
    pub fn sever(&self, cut: Cut) {
        self.rules.sever(cut);
    }

    /// Takes no connection from now on: whoever connects is cut off at once. `false` takes it
    /// back.
    pub fn refuse(&self, refusing: bool) {
        self.rules.change(|state| state.refusing = refusing);
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.accepting.abort();
        self.rules.sever(Cut::Close);
    }
}

async fn accept(listener: TcpListener, server: SocketAddr, rules: Arc<Rules>) {
    while let Ok((client, _)) = listener.accept().await {
        let refusing = rules.change(|state| {
            state.accepted += 1;
            state.refusing
        });
        if refusing {
            let _ = client.set_zero_linger();
            continue;
        }
        let rules = Arc::clone(&rules);
        tokio::spawn(async move {
            if let Ok(server) = TcpStream::connect(server).await {
                carry(client, server, &rules).await;
            }
        });
    }
}

#[cfg(test)]
mod tests;
