//! How one operation is said through either door.

use std::fmt;

use bytes::Bytes;
use http::{Response, request};
use prost::Message;
use tonic::Status;

/// How an operation that can be called through gRPC and through HTTP is the same through both.
///
/// Requests are compared as messages: what came through HTTP is turned into the message that a gRPC
/// client would have sent, and both are encoded by the same code. Fields that the message's type
/// does not know are not compared across doors; through one door all bytes are, as ever.
///
/// An answer of one door is turned into one of the other. Nothing is invented: where one can't be
/// said, the functions give none, and the key is refused through that door (`key_reused`).
pub trait Crossing: fmt::Debug + Send + Sync + 'static {
    /// What the method takes.
    type Request: Message + Default;
    /// What it replies.
    type Reply: Message + Default;

    /// What an HTTP request asks for, as the method's message; none where it can't be read.
    ///
    /// It sees what the client sent, before any check of the application's own.
    fn request(&self, head: &request::Parts, body: &Bytes) -> Option<Self::Request>;

    /// What was answered through HTTP, as the method's reply. `answer` has the recorded headers.
    fn reply(&self, answer: &Response<Bytes>) -> Option<Result<Self::Reply, Status>>;

    /// What the method replied, as an answer through HTTP.
    fn answer(&self, reply: Result<Self::Reply, Status>) -> Option<Response<Bytes>>;
}
