//! A crossing without its types.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, request};
use prost::Message;
use semel_http::RecordedAnswer;
use tonic::{Code, Status};

use super::form::Crossing;
use crate::answer::reply_headers;
use crate::{codes, frame, media};

/// What the doors ask of a crossing.
pub(super) trait Erased: fmt::Debug + Send + Sync {
    /// The input of a gRPC request.
    fn input_of_grpc(&self, head: &request::Parts, body: &Bytes) -> Option<Bytes>;
    /// The input of an HTTP request.
    fn input_of_http(&self, head: &request::Parts, body: &Bytes) -> Option<Bytes>;
    /// An answer of HTTP as one of gRPC.
    fn to_grpc(&self, recorded: &RecordedAnswer) -> Option<RecordedAnswer>;
    /// An answer of gRPC as one of HTTP.
    fn to_http(&self, recorded: &RecordedAnswer) -> Option<RecordedAnswer>;
}

impl<C: Crossing> Erased for C {
    fn input_of_grpc(&self, head: &request::Parts, body: &Bytes) -> Option<Bytes> {
        let codec = media::codec(&head.headers)?;
        let message = frame::only(body).filter(|message| !message.is_compressed)?;
        // Decoded and encoded anew: another client's order of fields is the same input.
        let message = C::Request::decode(message.bytes).ok().filter(|_| codec == b"proto")?;
        Some(message.encode_to_vec().into())
    }

    fn input_of_http(&self, head: &request::Parts, body: &Bytes) -> Option<Bytes> {
        Some(self.request(head, body)?.encode_to_vec().into())
    }

    fn to_grpc(&self, recorded: &RecordedAnswer) -> Option<RecordedAnswer> {
        match self.reply(&recorded.response)? {
            Ok(reply) => {
                let mut response = Response::new(frame::of(&reply.encode_to_vec())?);
                *response.headers_mut() = reply_headers();
                let mut trailers = HeaderMap::new();
                trailers.insert(Status::GRPC_STATUS, HeaderValue::from_static("0"));
                Some(RecordedAnswer::new(response, Some(trailers)))
            }
            Err(status) => Some(RecordedAnswer::new(status.into_http(), None)),
        }
    }

    fn to_http(&self, recorded: &RecordedAnswer) -> Option<RecordedAnswer> {
        let answer = self.answer(reply_of::<C::Reply>(recorded)?)?;
        Some(RecordedAnswer::new(answer, None))
    }
}

/// What a method replied, read from its record.
fn reply_of<R: Message + Default>(recorded: &RecordedAnswer) -> Option<Result<R, Status>> {
    let headers = recorded.response.headers();
    let fields =
        if codes::in_fields(headers).is_some() { headers } else { recorded.trailers.as_ref()? };
    if codes::in_fields(fields)? != Code::Ok {
        return Some(Err(status_of(fields)));
    }
    let message = frame::only(recorded.response.body()).filter(|message| !message.is_compressed)?;
    Some(Ok(R::decode(message.bytes).ok()?))
}

/// The status, without its details where they are no base64: the reader panics over those.
fn status_of(fields: &HeaderMap) -> Status {
    let mut said = HeaderMap::new();
    for name in [Status::GRPC_STATUS, Status::GRPC_MESSAGE] {
        if let Some(value) = fields.get(&name) {
            said.insert(name, value.clone());
        }
    }
    Status::from_header_map(&said).unwrap_or_else(|| Status::unknown("the reply has no status"))
}
