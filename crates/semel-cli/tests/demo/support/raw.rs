//! HTTP/1.1 by hand: a client that can hang up at any byte.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Call, within};

/// A bare connection. Dropping it hangs up.
#[derive(Debug)]
pub(crate) struct Raw {
    stream: TcpStream,
}

impl Raw {
    pub(crate) async fn connect(at: SocketAddr) -> Self {
        Self { stream: TcpStream::connect(at).await.unwrap() }
    }

    /// The bytes of a call, and where its body starts.
    pub(crate) fn bytes(call: &Call) -> (Vec<u8>, usize) {
        let mut bytes =
            format!("{} {} HTTP/1.1\r\nHost: localhost\r\n", call.method, call.path).into_bytes();
        for (name, value) in &call.headers {
            bytes.extend_from_slice(name.as_str().as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value.as_bytes());
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", call.body.len()).as_bytes());
        let head = bytes.len();
        bytes.extend_from_slice(&call.body);
        (bytes, head)
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    /// Says that no more will be sent; an answer can still come.
    pub(crate) async fn finish(&mut self) {
        self.stream.shutdown().await.unwrap();
    }

    /// Reads at least one byte and at most `limit`.
    pub(crate) async fn read_some(&mut self, limit: usize) -> Vec<u8> {
        let mut bytes = vec![0; limit];
        let count = within("a byte of the answer", self.stream.read(&mut bytes)).await.unwrap();
        bytes.truncate(count);
        bytes
    }

    /// Reads until the server closes.
    pub(crate) async fn read_all(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        within("the end of the answer", self.stream.read_to_end(&mut bytes)).await.unwrap();
        bytes
    }

    /// Hangs up without a word, as a process that dies or a cable that is cut:
    /// what was sent and not read is thrown away.
    pub(crate) fn cut(self) {
        self.stream.set_zero_linger().unwrap();
    }
}
