//! What a command prints, passed on as it comes and kept as long as it is not too much.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use bytes::Bytes;
use semel::timer;
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, stderr, stdout};
use tokio::net::unix::pipe::Receiver;
use tokio::task::JoinHandle;

use crate::output;

/// How long what was printed may take to arrive once its writers are dead. A process that left
/// the group may hold the pipe open for ever.
const LAST_WORDS: Duration = Duration::from_secs(1);
const READ: usize = 64 * 1024;

/// Where something was printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}

/// One piece of what was printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) stream: Stream,
    pub(crate) bytes: Bytes,
}

/// All that was printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Captured {
    /// It was kept, in the order in which it came.
    Whole(Vec<Chunk>),
    /// It was more than the limit, and nothing of it is kept: a part would pass for the whole.
    TooMuch,
}

/// The reading ends of a command's stdout and stderr.
#[derive(Debug)]
pub(super) struct Pipes {
    out: Receiver,
    err: Receiver,
}

/// A capture that is under way.
#[derive(Debug)]
pub(super) struct Capture {
    copied: JoinHandle<()>,
    kept: tokio::sync::watch::Receiver<Kept>,
}

#[derive(Debug)]
struct Kept {
    chunks: Vec<Chunk>,
    room: Option<usize>,
}

impl Pipes {
    pub(super) fn new((out, err): (OwnedFd, OwnedFd)) -> io::Result<Self> {
        Ok(Self { out: Receiver::from_owned_fd(out)?, err: Receiver::from_owned_fd(err)? })
    }

    /// Passes all of it on, and keeps it up to `limit` bytes.
    pub(super) fn capture(self, limit: usize) -> Capture {
        let (keep, kept) =
            tokio::sync::watch::channel(Kept { chunks: Vec::new(), room: Some(limit) });
        let copied = tokio::spawn(async move {
            let out =
                copy(self.out, stdout(), |bytes| keep.send_modify(|k| k.add(Stream::Out, bytes)));
            let err =
                copy(self.err, stderr(), |bytes| keep.send_modify(|k| k.add(Stream::Err, bytes)));
            tokio::join!(out, err);
        });
        Capture { copied, kept }
    }
}

impl Capture {
    /// All of it, once its writers are dead.
    pub(super) async fn end(mut self) -> Captured {
        if timer::within(LAST_WORDS, &mut self.copied).await.is_none() {
            output::prose("semel: a process that left the command's group still holds its output");
            self.copied.abort();
        }
        let kept = self.kept.borrow();
        match kept.room {
            Some(_) => Captured::Whole(kept.chunks.clone()),
            None => Captured::TooMuch,
        }
    }
}

impl Kept {
    fn add(&mut self, stream: Stream, bytes: &[u8]) {
        self.room = self.room.and_then(|room| room.checked_sub(bytes.len()));
        if self.room.is_some() {
            self.chunks.push(Chunk { stream, bytes: Bytes::copy_from_slice(bytes) });
        } else {
            self.chunks = Vec::new();
        }
    }
}

/// Copies until the end. Where nobody reads what is passed on, it is kept all the same.
async fn copy(mut from: Receiver, mut to: impl AsyncWrite + Unpin, keep: impl Fn(&[u8])) {
    let mut bytes = vec![0; READ];
    let mut is_read = true;
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        keep(&bytes[..count]);
        is_read = is_read && write(&mut to, &bytes[..count]).await.is_ok();
    }
}

async fn write(to: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> io::Result<()> {
    to.write_all(bytes).await?;
    to.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_not_kept_in_part() {
        let mut kept = Kept { chunks: Vec::new(), room: Some(3) };
        kept.add(Stream::Out, b"ab");
        kept.add(Stream::Err, b"c");
        assert_eq!(kept.chunks.len(), 2);
        kept.add(Stream::Out, b"d");
        kept.add(Stream::Out, b"");
        assert!(kept.chunks.is_empty() && kept.room.is_none());
    }
}
