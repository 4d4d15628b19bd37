//! One connection through the proxy: bytes in both directions, under the rules.

use std::pin::pin;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::broadcast;

use super::rules::{Order, Rules};
use super::{Cut, Direction};
use crate::time::pass;

/// How a direction ended.
enum End {
    /// Its sender ended it, or it was cut in half: the other direction goes on.
    One,
    /// Both directions end now.
    Both(Cut),
}

/// Carries one connection to its end.
pub(super) async fn carry(client: TcpStream, server: TcpStream, rules: &Rules) {
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let mut severing = rules.severing();
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let mut upward = Pump::new(from_client, to_server, Direction::ToServer);
    let mut downward = Pump::new(from_server, to_client, Direction::ToClient);
    let cut = tokio::select! {
        cut = both(&mut upward, &mut downward, rules) => cut,
        cut = severed(&mut severing) => cut,
    };
    finish(upward, downward, cut).await;
}

async fn severed(severing: &mut broadcast::Receiver<Cut>) -> Cut {
    severing.recv().await.unwrap_or(Cut::Close)
}

async fn both(upward: &mut Pump, downward: &mut Pump, rules: &Rules) -> Cut {
    let (mut up, mut down) = (pin!(upward.run(rules)), pin!(downward.run(rules)));
    let (mut up_open, mut down_open) = (true, true);
    while up_open || down_open {
        let end = tokio::select! {
            end = &mut up, if up_open => { up_open = false; end }
            end = &mut down, if down_open => { down_open = false; end }
        };
        if let End::Both(cut) = end {
            return cut;
        }
    }
    Cut::Close
}

async fn finish(upward: Pump, downward: Pump, cut: Cut) {
    match cut {
        Cut::Close | Cut::HalfClose => {}
        Cut::Reset => {
            for half in [&upward.from, &downward.from] {
                let _ = half.as_ref().set_zero_linger();
            }
            // Dropped in the usual way, they would end in an orderly way first.
            upward.to.forget();
            downward.to.forget();
        }
        // Both sockets stay open, and nobody reads them, until the proxy's runtime ends.
        Cut::Silence => std::future::pending().await,
    }
}

struct Pump {
    from: OwnedReadHalf,
    to: OwnedWriteHalf,
    direction: Direction,
    /// Read and not yet passed on.
    waiting: Vec<u8>,
}

impl Pump {
    const fn new(from: OwnedReadHalf, to: OwnedWriteHalf, direction: Direction) -> Self {
        Self { from, to, direction, waiting: Vec::new() }
    }

    async fn run(&mut self, rules: &Rules) -> End {
        let mut changes = rules.changes();
        let mut buffer = vec![0; 16 * 1024];
        loop {
            while !self.waiting.is_empty() {
                changes.borrow_and_update();
                match rules.order(self.direction, self.waiting.len()) {
                    Order::Hold => {
                        let _ = changes.changed().await;
                    }
                    Order::Drop => self.waiting.clear(),
                    Order::Substitute(other) => {
                        self.waiting.clear();
                        if self.to.write_all(&other).await.is_err() {
                            return End::Both(Cut::Close);
                        }
                    }
                    Order::Cut(Cut::HalfClose) => {
                        let _ = self.to.shutdown().await;
                        return End::One;
                    }
                    Order::Cut(cut) => return End::Both(cut),
                    Order::Pass { bytes, delay } => {
                        let piece: Vec<u8> = self.waiting.drain(..bytes).collect();
                        if !delay.is_zero() {
                            pass(delay).await;
                        }
                        if self.to.write_all(&piece).await.is_err() {
                            return End::Both(Cut::Close);
                        }
                    }
                }
            }
            match self.from.read(&mut buffer).await {
                Ok(0) => {
                    let _ = self.to.shutdown().await;
                    return End::One;
                }
                Ok(len) => self.waiting.extend_from_slice(&buffer[..len]),
                Err(_) => return End::Both(Cut::Reset),
            }
        }
    }
}
