//! Just enough of the protocol for a harness, so that it does not lean on the client under test.

use std::net::SocketAddr;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::error::{TestkitError, TestkitResult};

/// An answer of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedisReply {
    /// A status or a string. Bytes that are not UTF-8 are shown as U+FFFD.
    Text(String),
    /// A number.
    Number(i64),
    /// Nothing.
    Nil,
    /// Several.
    Many(Vec<RedisReply>),
    /// An error.
    Error(String),
}

impl RedisReply {
    /// The text, of a text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, of a number.
    #[must_use]
    pub const fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// A connection that sends one command at a time.
#[derive(Debug)]
pub(super) struct Wire(BufReader<TcpStream>);

impl Wire {
    pub(super) async fn open(address: SocketAddr) -> std::io::Result<Self> {
        Ok(Self(BufReader::new(TcpStream::connect(address).await?)))
    }

    pub(super) async fn ask(
        &mut self,
        command: &[impl AsRef<[u8]>],
    ) -> std::io::Result<RedisReply> {
        let mut bytes = format!("*{}\r\n", command.len()).into_bytes();
        for argument in command {
            let argument = argument.as_ref();
            bytes.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
            bytes.extend_from_slice(argument);
            bytes.extend_from_slice(b"\r\n");
        }
        self.0.get_mut().write_all(&bytes).await?;
        self.answer().await
    }

    pub(super) async fn answer(&mut self) -> std::io::Result<RedisReply> {
        let mut line = Vec::new();
        self.0.read_until(b'\n', &mut line).await?;
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        let (kind, rest) = line.split_at_checked(1).ok_or(std::io::ErrorKind::UnexpectedEof)?;
        let number = || rest.parse::<i64>().map_err(std::io::Error::other);
        match kind {
            "+" => Ok(RedisReply::Text(rest.to_owned())),
            "-" => Ok(RedisReply::Error(rest.to_owned())),
            ":" => Ok(RedisReply::Number(number()?)),
            "$" => self.string(number()?).await,
            "*" => self.many(number()?).await,
            _ => Err(std::io::Error::other(format!("an answer that begins with {kind:?}"))),
        }
    }

    async fn string(&mut self, len: i64) -> std::io::Result<RedisReply> {
        let Ok(len) = usize::try_from(len) else { return Ok(RedisReply::Nil) };
        let mut bytes = vec![0; len + 2];
        self.0.read_exact(&mut bytes).await?;
        Ok(RedisReply::Text(String::from_utf8_lossy(&bytes[..len]).into_owned()))
    }

    async fn many(&mut self, len: i64) -> std::io::Result<RedisReply> {
        let Ok(len) = usize::try_from(len) else { return Ok(RedisReply::Nil) };
        let mut items = Vec::with_capacity(len);
        for _ in 0..len {
            items.push(Box::pin(self.answer()).await?);
        }
        Ok(RedisReply::Many(items))
    }
}

/// Makes an error of the server one of the harness.
pub(super) fn refuse_errors(command: &str, reply: RedisReply) -> TestkitResult<RedisReply> {
    match reply {
        RedisReply::Error(answer) => {
            Err(TestkitError::Answer { command: command.to_owned(), answer })
        }
        reply => Ok(reply),
    }
}
