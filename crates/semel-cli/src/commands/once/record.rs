//! What is recorded of a run.

use bytes::Bytes;
use minicbor::bytes::ByteVec;
use minicbor::{Decode, Encode};
use semel::core::{Extent, Form, Outcome};

use crate::child::{Captured, Chunk, Ended, Stream};

/// A run, as it is recorded. Fields are numbered: a later version may add some.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(in crate::commands) struct Run {
    /// The exit code, as shells have it.
    #[n(0)]
    pub(in crate::commands) code: u8,
    /// What it printed, in the order in which it came; none if that was not kept.
    #[n(1)]
    printed: Option<Vec<Piece>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
struct Piece {
    #[n(0)]
    stream: u8,
    #[n(1)]
    bytes: ByteVec,
}

/// stdout and stderr, by the numbers that they have everywhere.
const OUT: u8 = 1;
const ERR: u8 = 2;

impl Run {
    pub(super) fn of(ended: Ended) -> Self {
        let printed = match ended.printed {
            Some(Captured::Whole(chunks)) => Some(chunks.iter().map(Piece::of).collect()),
            _ => None,
        };
        Self { code: ended.end.code(), printed }
    }

    /// A run of which only the end is known, and that printed nothing.
    pub(in crate::commands) const fn silent(code: u8) -> Self {
        Self { code, printed: Some(Vec::new()) }
    }

    pub(super) fn without_output(&self) -> Self {
        Self { code: self.code, printed: None }
    }

    pub(in crate::commands) fn outcome(&self) -> Outcome {
        let extent = if self.printed.is_some() { Extent::Whole } else { Extent::Partial };
        // Writing into memory can't fail.
        let payload = minicbor::to_vec(self).unwrap_or_default();
        Outcome { form: Form::Bytes, extent, payload: Bytes::from(payload) }
    }

    /// None for what no run left.
    pub(in crate::commands) fn read(outcome: &Outcome) -> Option<Self> {
        if outcome.form != Form::Bytes {
            // Another door's record may begin with a number too.
            return None;
        }
        minicbor::decode(&outcome.payload).ok()
    }

    /// What it printed, if it was kept.
    pub(super) fn printed(&self) -> Option<impl Iterator<Item = (Stream, &[u8])>> {
        self.printed.as_ref().map(|pieces| pieces.iter().map(Piece::read))
    }

    /// How many bytes it printed, if they were kept.
    pub(in crate::commands) fn bytes(&self) -> Option<usize> {
        self.printed().map(|pieces| pieces.map(|(_, bytes)| bytes.len()).sum())
    }
}

impl Piece {
    fn of(chunk: &Chunk) -> Self {
        let stream = match chunk.stream {
            Stream::Out => OUT,
            Stream::Err => ERR,
        };
        Self { stream, bytes: chunk.bytes.to_vec().into() }
    }

    fn read(&self) -> (Stream, &[u8]) {
        (if self.stream == ERR { Stream::Err } else { Stream::Out }, &self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> Run {
        let piece = |stream, bytes: &[u8]| Piece { stream, bytes: bytes.to_vec().into() };
        Run { code: 42, printed: Some(vec![piece(OUT, b"a\xff"), piece(ERR, b"b")]) }
    }

    #[test]
    fn a_run_reads_back_byte_for_byte() {
        let read = Run::read(&run().outcome()).unwrap();
        assert_eq!(read, run());
        let pieces: Vec<_> = read.printed().unwrap().collect();
        assert_eq!(pieces, [(Stream::Out, &b"a\xff"[..]), (Stream::Err, b"b")]);
        assert_eq!(read.bytes(), Some(3));
    }

    /// Records outlive the version that wrote them.
    #[test]
    fn the_form_of_a_record_stays_as_it_is() {
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        assert_eq!(hex(&run().outcome().payload), "82182a82820142 61ff82024162".replace(' ', ""));
        assert_eq!(hex(&run().without_output().outcome().payload), "81182a");
    }

    #[test]
    fn a_run_whose_output_was_not_kept_is_told_as_such() {
        let outcome = run().without_output().outcome();
        assert_eq!(outcome.extent, Extent::Partial);
        let read = Run::read(&outcome).unwrap();
        assert!(read.code == 42 && read.printed().is_none());
        assert_eq!(Run::silent(3).outcome().extent, Extent::Whole);
    }

    #[test]
    fn other_bytes_are_no_run() {
        for payload in [&b""[..], b"{}", b"\xff", b"\x80"] {
            let payload = Bytes::from_static(payload);
            let outcome = Outcome { form: Form::Bytes, extent: Extent::Whole, payload };
            assert!(Run::read(&outcome).is_none());
        }
    }

    #[test]
    fn what_another_door_recorded_is_no_run_whatever_its_bytes() {
        let mut outcome = run().outcome();
        outcome.form = Form::Http;
        assert_eq!(Run::read(&outcome), None);
    }
}
