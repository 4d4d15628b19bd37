//! Recording what the handler answered, before the first byte of it leaves.

use std::pin::Pin;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, response};
use http_body::Body;
use http_body_util::BodyExt;
use semel::{Attached, Claim, Extent, Finished, Form, Outcome};

use super::{DURABLE, Recording, Scene, is_event_stream, refusal};
use crate::body::{ResponseBody, into_bytes};
use crate::collect::Pieces;
use crate::replay;
use crate::settings::Finality;

/// A body that said how long it is, read.
enum Read<B: Body> {
    Whole(Bytes, Option<HeaderMap>),
    Broken(Bytes, B::Error),
    /// It said too little.
    Longer(Bytes, Pin<Box<B>>),
}

impl Scene<'_> {
    /// Records an answer as the settings say, and gives what the caller gets.
    pub(super) async fn capture<B: Body + Send + 'static>(
        &self,
        claim: Claim,
        response: Response<B>,
    ) -> Response<ResponseBody<B>> {
        let (mut head, body) = response.into_parts();
        // The mark is the layer's to set: on a first answer nobody may have forged it.
        if let Some(marker) = &self.door.settings.replay_marker {
            head.headers.remove(marker);
        }
        if self.door.settings.failures.judge(&head) == Finality::Transient {
            claim.release().await;
            return Response::from_parts(head, ResponseBody::passed(body));
        }
        let limit = self.door.settings.max_cached_response;
        let said = body.size_hint().exact().and_then(|length| usize::try_from(length).ok());
        match said {
            Some(length) if length <= limit && !is_event_stream(&head.headers) => {
                self.capture_whole(claim, head, body, limit).await
            }
            Some(length) if length > limit => self.capture_head(claim, head, body).await,
            _ => self.capture_stream(claim, head, body).await,
        }
    }

    async fn capture_whole<B: Body + Send + 'static>(
        &self,
        mut claim: Claim,
        head: response::Parts,
        body: B,
        limit: usize,
    ) -> Response<ResponseBody<B>> {
        let (outcome, body) = match read(body, limit).await {
            Read::Whole(bytes, trailers) => {
                let outcome = self.http(Extent::Whole, &head, &bytes, trailers.as_ref());
                (outcome, ResponseBody::buffered(bytes, trailers))
            }
            // What broke off is never replayed as if it were whole; but the work was done.
            Read::Broken(bytes, error) => {
                (self.http(Extent::Partial, &head, &[], None), ResponseBody::broken(bytes, error))
            }
            Read::Longer(bytes, rest) => {
                (self.http(Extent::Partial, &head, &[], None), ResponseBody::longer(bytes, rest))
            }
        };
        let finished = claim.record(outcome).await;
        self.settle(finished, Response::from_parts(head, body)).await
    }

    /// The body is too large to be kept: that the work was done is recorded, and it passes.
    async fn capture_head<B: Body + Send + 'static>(
        &self,
        mut claim: Claim,
        head: response::Parts,
        body: B,
    ) -> Response<ResponseBody<B>> {
        let finished = claim.record(self.http(Extent::Partial, &head, &[], None)).await;
        self.settle(finished, Response::from_parts(head, ResponseBody::passed(body))).await
    }

    /// The body's length is not known: first that the work was done is recorded, and all of it
    /// once it has ended, if it fits.
    async fn capture_stream<B: Body + Send + 'static>(
        &self,
        mut claim: Claim,
        head: response::Parts,
        body: B,
    ) -> Response<ResponseBody<B>> {
        let finished = claim.record(self.http(Extent::Partial, &head, &[], None)).await;
        let body = if matches!(finished, Finished::Recorded) {
            let recording = Recording::new(self.door.clone(), claim, &head);
            ResponseBody::recorded(body, recording)
        } else {
            ResponseBody::passed(body)
        };
        self.settle(finished, Response::from_parts(head, body)).await
    }

    /// What the caller gets, by how the recording went. Where the claim was lost meanwhile, all
    /// callers get the answer of whoever took over: two different answers for one key are worse
    /// than none.
    pub(super) async fn settle<B: Body>(
        &self,
        finished: Finished,
        mut own: Response<ResponseBody<B>>,
    ) -> Response<ResponseBody<B>> {
        let successor = match finished {
            Finished::Recorded | Finished::RecordedInPart => return own,
            Finished::Superseded(successor) => successor,
            _ => {
                own.headers_mut().insert(DURABLE, HeaderValue::from_static("false"));
                return own;
            }
        };
        match self.door.once.attach_to(self.call, successor).await {
            Attached::Replay(replay) => replay::answer(self.door, &replay.outcome, self.language),
            Attached::Busy(busy) => refusal::response(self.door, busy.into(), self.language),
            Attached::Refused(problem) => refusal::response(self.door, problem, self.language),
            _ => own,
        }
    }

    fn http(
        &self,
        extent: Extent,
        head: &response::Parts,
        body: &[u8],
        trailers: Option<&HeaderMap>,
    ) -> Outcome {
        let payload = replay::payload(self.door, head.status, &head.headers, body, trailers);
        Outcome { form: Form::Http, extent, payload }
    }
}

async fn read<B: Body>(body: B, limit: usize) -> Read<B> {
    let mut body = Box::pin(body);
    let mut pieces = Pieces::default();
    let mut trailers = None;
    while let Some(frame) = body.frame().await {
        let frame = match frame {
            Ok(frame) => into_bytes(frame),
            Err(error) => return Read::Broken(pieces.joined(), error),
        };
        match frame.into_data() {
            Ok(piece) => pieces.push(piece),
            Err(frame) => trailers = frame.into_trailers().ok(),
        }
        if pieces.len() > limit {
            return Read::Longer(pieces.joined(), body);
        }
    }
    Read::Whole(pieces.joined(), trailers)
}
