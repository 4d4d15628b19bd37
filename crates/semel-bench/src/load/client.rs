//! A client that costs as little as can be: what it spends, the server lacks.

use std::fmt::Write;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const BODY: &str = r#"{"name":"Keyboard","amount":2,"note":"as ordered by phone this morning"}"#;

/// One connection that is kept alive.
pub(crate) struct Client {
    stream: TcpStream,
    number: usize,
    sent: u64,
    repeats: bool,
    request: String,
    reply: Vec<u8>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr, number: usize, repeats: bool) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        let (request, reply) = (String::with_capacity(512), vec![0; 4_096]);
        Self { stream, number, sent: 0, repeats, request, reply }
    }

    /// Sends an order under a key of its own, or under the same key again.
    pub(crate) async fn post(&mut self) {
        let key = if self.repeats { 0 } else { self.sent };
        self.sent += 1;
        self.request.clear();
        write!(
            self.request,
            "POST /orders HTTP/1.1\r\nhost: localhost\r\nidempotency-key: order-{}-{key}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{BODY}",
            self.number,
            BODY.len(),
        )
        .expect("it fits");
        self.stream.write_all(self.request.as_bytes()).await.expect("sent");
        self.receive().await;
    }

    async fn receive(&mut self) {
        let mut filled = 0;
        loop {
            let read = self.stream.read(&mut self.reply[filled..]).await.expect("received");
            assert!(read > 0, "the server hung up");
            filled += read;
            if let Some(whole) = whole_length(&self.reply[..filled])
                && whole <= filled
            {
                assert!(self.reply.starts_with(b"HTTP/1.1 201"), "{:?}", self.told(filled));
                return;
            }
        }
    }

    fn told(&self, filled: usize) -> String {
        String::from_utf8_lossy(&self.reply[..filled]).into_owned()
    }
}

/// The length of a reply with its body, once its head is there.
fn whole_length(reply: &[u8]) -> Option<usize> {
    let head = reply.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&reply[..head]).ok()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().ok())?
    })?;
    Some(head + length)
}
