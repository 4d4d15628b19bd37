//! Recording what the handler answered, before the first byte of it leaves.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;

use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header, response};
use http_body::Body;
use http_body_util::BodyExt;
use semel::core::protocol::Successor;
use semel::{Attached, Claim, Extent, Finality, Finished, NotCommitted, Outcome, ProblemKind};

use super::{Answer, Refusal, Scene, refusal};
use crate::body::{Followed, ResponseBody, into_bytes};
use crate::collect::Pieces;
use crate::media::is_event_stream;
use crate::recording::Recording;
use crate::replay::Replayed;
use crate::{marks, stored};

/// A body that said how long it is, read.
enum Read<B: Body> {
    Whole(Bytes, Option<HeaderMap>),
    Broken(Bytes, B::Error),
    /// It has more than it said, which is still to come, or less.
    Other(Bytes, Option<Pin<Box<B>>>),
}

impl Scene<'_> {
    /// Records an answer as the settings say, and gives what the caller gets.
    pub(super) async fn capture<B: Body + Send + 'static, E>(
        &self,
        mut claim: Claim,
        response: Response<B>,
    ) -> Answer<B, E> {
        let (mut head, body) = response.into_parts();
        self.unmark(&mut head);
        if self.judge(&head) == Finality::Transient {
            claim.release().await;
            return Answer::Response(Response::from_parts(head, ResponseBody::passed(body)));
        }
        if head.status.is_server_error() {
            // It stands, but not what it left half done.
            claim.take_rows_back();
        }
        let limit = self.door.settings.max_cached_response;
        let stream = is_event_stream(&head.headers);
        Answer::Response(match said(&head, &body) {
            _ if has_no_content(head.status) => self.capture_empty(claim, head, body).await,
            Some(length) if length > limit => self.capture_head(claim, head, body).await,
            Some(length) if !stream => {
                return self.capture_whole(claim, head, body, length).await;
            }
            said => self.capture_stream(claim, head, body, said).await,
        })
    }

    /// The mark of a replay is the layer's to set: on a first answer nobody may have forged it.
    pub(super) fn unmark(&self, head: &mut response::Parts) {
        if let Some(marker) = &self.door.settings.replay_marker {
            head.headers.remove(marker);
        }
        head.extensions.remove::<Replayed>();
    }

    /// The application's own rule may panic. The work was done all the same: an answer that can't
    /// be judged stands.
    fn judge(&self, head: &response::Parts) -> Finality {
        let failures = self.door.settings.failures_under(&self.door.policy);
        catch_unwind(AssertUnwindSafe(|| failures.judge(head))).unwrap_or_else(|_| {
            tracing::error!("the rule that tells which answers are final panicked");
            Finality::Final
        })
    }

    /// An answer whose status says that it has no content: servers don't even read its body.
    async fn capture_empty<B: Body>(
        &self,
        mut claim: Claim,
        head: response::Parts,
        body: B,
    ) -> Response<ResponseBody<B>> {
        let finished = claim.record(self.http(Extent::Whole, &head, &[], None)).await;
        self.settle(finished, Response::from_parts(head, ResponseBody::passed(body))).await
    }

    async fn capture_whole<B: Body + Send + 'static, E>(
        &self,
        mut claim: Claim,
        head: response::Parts,
        body: B,
        said: usize,
    ) -> Answer<B, E> {
        let hint = body.size_hint();
        let less = || self.http(Extent::Partial, &head, &[], None);
        let read = AssertUnwindSafe(read(body, said)).catch_unwind().await;
        // What broke off is never replayed as if it were whole; but the work was done.
        let (finished, body) = match read {
            Ok(Read::Whole(bytes, trailers)) => {
                let whole = self.http(Extent::Whole, &head, &bytes, trailers.as_ref());
                let finished = claim.record_or(whole, less).await;
                (finished, ResponseBody::buffered(bytes, trailers))
            }
            Ok(Read::Broken(bytes, error)) if claim.can_take_back() => {
                Box::pin(claim.release()).await;
                let body = ResponseBody::broken(bytes, hint, error);
                return Answer::Response(Response::from_parts(head, body));
            }
            Ok(Read::Broken(bytes, error)) => {
                (claim.record(less()).await, ResponseBody::broken(bytes, hint, error))
            }
            Ok(Read::Other(bytes, rest)) => {
                (claim.record(less()).await, ResponseBody::begun(bytes, hint, rest))
            }
            Err(panic) => {
                if claim.can_take_back() {
                    Box::pin(claim.release()).await;
                } else {
                    drop(claim.record(less()).await);
                }
                return Answer::Panic(panic);
            }
        };
        Answer::Response(self.settle(finished, Response::from_parts(head, body)).await)
    }

    /// The body is too large to be kept: that the work was done is recorded, and it passes.
    async fn capture_head<B: Body>(
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
        said: Option<usize>,
    ) -> Response<ResponseBody<B>> {
        let finished = claim.record(self.http(Extent::Partial, &head, &[], None)).await;
        let body = if matches!(finished, Finished::Recorded) {
            let recording = Recording::new(self.door.clone(), claim, &head, said);
            ResponseBody::followed(Followed::new(body, recording))
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
        own: Response<ResponseBody<B>>,
    ) -> Response<ResponseBody<B>> {
        match finished {
            Finished::Recorded | Finished::RecordedInPart => own,
            // What seldom comes to pass is boxed: it would make every exchange larger.
            Finished::Superseded(successor) => Box::pin(self.successors(successor, own)).await,
            Finished::Pending | Finished::Unrecorded => not_durable(own),
            Finished::NotCommitted(why) => {
                Self::not_committed(why).answer(self.door, self.language)
            }
        }
    }

    /// The answer of whoever took over.
    async fn successors<B: Body>(
        &self,
        successor: Successor,
        own: Response<ResponseBody<B>>,
    ) -> Response<ResponseBody<B>> {
        match self.door.once.attach_to(self.call, successor).await {
            Attached::Replay(replay) => self.replay(&replay).await,
            Attached::Busy(busy) => refusal::response(self.door, busy.into(), self.language),
            Attached::Refused(problem) => refusal::response(self.door, problem, self.language),
            // Somebody removed the record: a repeat will run.
            _ => not_durable(own),
        }
    }

    /// What the handler answered did not come to be, or may not have: a retry finds out.
    fn not_committed(why: NotCommitted) -> Refusal {
        match why {
            NotCommitted::HandleKept => Refusal::Plain(
                StatusCode::INTERNAL_SERVER_ERROR,
                "The service kept working after its answer, so that nothing was done.",
            ),
            NotCommitted::RolledBack => Refusal::from(ProblemKind::StoreUnavailable),
            _ => Refusal::Plain(
                StatusCode::SERVICE_UNAVAILABLE,
                "It is not known yet whether the request was carried out. Send it again with the \
                 same key to find out.",
            ),
        }
    }

    pub(super) fn http(
        &self,
        extent: Extent,
        head: &response::Parts,
        body: &[u8],
        trailers: Option<&HeaderMap>,
    ) -> Outcome {
        let payload =
            stored::payload(&self.door.settings, head.status, &head.headers, body, trailers);
        Outcome { form: self.door.settings.form, extent, payload }
    }
}

fn not_durable<B>(mut response: Response<B>) -> Response<B> {
    response.headers_mut().insert(marks::DURABLE, HeaderValue::from_static("false"));
    response
}

/// RFC 9110, 15.3.5 and 15.4.5.
const fn has_no_content(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
}

/// How long the body is, as itself or the handler says.
fn said<B: Body>(head: &response::Parts, body: &B) -> Option<usize> {
    let declared = || head.headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok();
    let said: u64 = body.size_hint().exact().or_else(declared)?;
    Some(usize::try_from(said).unwrap_or(usize::MAX))
}

async fn read<B: Body>(body: B, said: usize) -> Read<B> {
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
        if pieces.len() > said {
            return Read::Other(pieces.joined(), Some(body));
        }
    }
    if pieces.len() < said {
        return Read::Other(pieces.joined(), None);
    }
    Read::Whole(pieces.joined(), trailers)
}
