//! One call with a key, from the claim to the answer, which outlives whoever waits for it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use semel::core::Doubt;
use semel::door::{ClaimsAround, tell_begun};
use semel::{
    Attached, Begun, Call, Claim, Extent, Finished, Form, Language, NotCommitted, OnException,
    Outcome, Permit, Problem, ProblemKind,
};
use semel_http::{Finality, OnDisconnect};

use crate::door::Door;
use crate::marks;
use crate::refusal::{self, Refusal, UNAVAILABLE};
use crate::stored::{self, Answer};

/// A call with a key, and who carries it out.
pub(crate) struct Exchange<H> {
    pub(crate) door: Arc<Door>,
    pub(crate) handler: Arc<H>,
    pub(crate) call: Call,
    pub(crate) language: Language,
}

/// How the tool ended.
enum Worked {
    Answered(Answer),
    Panicked,
    /// It was called off, and the settings say to stop.
    Cancelled,
}

impl<H: ServerHandler> Exchange<H> {
    pub(crate) async fn run(
        self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Answer {
        let begun = self.door.once.begin(&self.call).await;
        tell_begun(&begun);
        let further_out = context.extensions.remove::<ClaimsAround>();
        let around = ClaimsAround::new(&self.door.once, &self.call, further_out);
        context.extensions.insert(around);
        match begun {
            Begun::Fresh(claim) => self.fresh(claim, request, context).await,
            Begun::Unprotected(_) => {
                context.extensions.insert(Permit::unprotected(&self.call));
                marks::unprotected(match self.work(request, context).await {
                    Worked::Answered(answer) => answer,
                    Worked::Panicked => Err(failed()),
                    Worked::Cancelled => Err(called_off()),
                })
            }
            Begun::Replay(replay) => self.replay(&replay.outcome),
            Begun::Busy(busy) => Err(self.refused(&busy.into())),
            Begun::Refused(problem) => Err(self.refused(&problem)),
        }
    }

    fn refused(&self, problem: &Problem) -> ErrorData {
        refusal::error(problem, self.language)
    }

    /// Runs the tool under its claim, and records what it answered.
    async fn fresh(
        &self,
        claim: Claim,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Answer {
        if self.door.on_cancel == OnDisconnect::Cancel && context.ct.is_cancelled() {
            // Nothing has begun: the key stays free.
            claim.release().await;
            return Err(called_off());
        }
        context.extensions.insert(claim.permit());
        if let Some(transaction) = claim.transaction() {
            // With the context it goes to the tool, and is gone when the tool has ended.
            context.extensions.insert(transaction);
        }
        match self.work(request, context).await {
            Worked::Answered(answer) => self.capture(claim, answer).await,
            Worked::Panicked => self.exception(claim).await,
            // The claim is dropped with the work: its lease runs out.
            Worked::Cancelled => Err(called_off()),
        }
    }

    /// The tool, as long as its caller is to be waited for.
    async fn work(
        &self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Worked {
        let cancelled = context.ct.clone();
        if self.door.on_cancel == OnDisconnect::Finish {
            // What has begun is finished and recorded: the tool is not told that nobody waits.
            context.ct = Default::default();
        }
        // The call itself may panic too, not only its future.
        let work = AssertUnwindSafe(async { self.handler.call_tool(request, context).await });
        let worked = match self.door.on_cancel {
            OnDisconnect::Finish => work.catch_unwind().await,
            OnDisconnect::Cancel => tokio::select! {
                biased;
                worked = work.catch_unwind() => worked,
                () = cancelled.cancelled() => return Worked::Cancelled,
            },
        };
        worked.map_or(Worked::Panicked, Worked::Answered)
    }

    /// Records an answer as the settings say, and gives what the caller gets.
    async fn capture(&self, mut claim: Claim, answer: Answer) -> Answer {
        if self.judge(&answer) == Finality::Transient {
            claim.release().await;
            return answer;
        }
        if is_failure(&answer) {
            // It stands, but not what it left half done.
            claim.take_rows_back();
        }
        // What everybody gets is what the record says, the first caller included.
        let kept = stored::write(&answer)
            .filter(|bytes| bytes.len() <= self.door.max_cached_result)
            .and_then(|bytes| Some((stored::read(&bytes)?, bytes)));
        let (own, finished) = match kept {
            Some((again, bytes)) => {
                (again, claim.record_or(stored::whole(bytes), stored::partial).await)
            }
            None => (answer, claim.record(stored::partial()).await),
        };
        self.settle(finished, own).await
    }

    /// A tool that asks for more has not ended yet. The application's own rule may panic; the work
    /// was done all the same: an answer that can't be judged stands.
    fn judge(&self, answer: &Answer) -> Finality {
        let handle = CallToolResult::default();
        let judged = match answer {
            Ok(CallToolResponse::Complete(result)) => Ok(result),
            // A second call must not begin a second task.
            Ok(CallToolResponse::Task(_)) => Ok(&handle),
            Ok(_) => return Finality::Transient,
            Err(error) => Err(error),
        };
        let judge = AssertUnwindSafe(|| self.door.failures().judge(judged));
        std::panic::catch_unwind(judge).unwrap_or_else(|_| {
            tracing::error!("the rule that tells which answers are final panicked");
            Finality::Final
        })
    }

    /// The tool gave no answer. Where the policy is to record that, this is the answer.
    async fn exception(&self, mut claim: Claim) -> Answer {
        match claim.policy().on_exception() {
            OnException::Release => drop(claim.release().await),
            OnException::Doubt => drop(claim.doubt(Doubt::Exception).await),
            OnException::Record => {
                claim.take_rows_back();
                let own = Err(failed());
                let outcome = stored::write(&own).map_or_else(stored::partial, stored::whole);
                let finished = claim.record(outcome).await;
                return self.settle(finished, own).await;
            }
        }
        Err(failed())
    }

    /// What the caller gets, by how the recording went. Where the claim was lost meanwhile, all
    /// callers get the answer of whoever took over.
    async fn settle(&self, finished: Finished, own: Answer) -> Answer {
        let successor = match finished {
            Finished::Recorded | Finished::RecordedInPart => return own,
            Finished::Superseded(successor) => successor,
            Finished::Pending | Finished::Unrecorded => return marks::not_durable(own),
            Finished::NotCommitted(why) => return Err(self.not_committed(why)),
        };
        match self.door.once.attach_to(&self.call, successor).await {
            Attached::Replay(replay) => self.replay(&replay.outcome),
            Attached::Busy(busy) => Err(self.refused(&busy.into())),
            Attached::Refused(problem) => Err(self.refused(&problem)),
            // Somebody removed the record: a repeat will run.
            _ => marks::not_durable(own),
        }
    }

    /// What the tool answered did not come to be, or may not have: a retry finds out.
    fn not_committed(&self, why: NotCommitted) -> ErrorData {
        match why {
            NotCommitted::RolledBack => self.refused(&ProblemKind::StoreUnavailable.into()),
            NotCommitted::HandleKept => Refusal::Fault(
                "The server kept working after its answer, so that nothing was done.",
            )
            .into_error(self.language),
            _ => ErrorData::new(
                UNAVAILABLE,
                "It is not known yet whether the call was carried out. Send it again with the \
                 same key to find out.",
                Some(serde_json::json!({ "sameKey": true })),
            ),
        }
    }

    /// What was recorded, or why it can't be given.
    fn replay(&self, outcome: &Outcome) -> Answer {
        if outcome.form != Form::Mcp {
            return Err(self.refused(&self.call.of_another_door(outcome).into()));
        }
        let whole = (outcome.extent == Extent::Whole).then_some(&outcome.payload);
        let Some(answer) = whole.and_then(|payload| stored::read(payload)) else {
            return Err(self.refused(&ProblemKind::ResponseUnavailable.into()));
        };
        match &self.door.replay_marker {
            Some(marker) => marks::marked(answer, marker, true),
            None => answer,
        }
    }
}

fn is_failure(answer: &Answer) -> bool {
    match answer {
        Ok(CallToolResponse::Complete(result)) => result.is_error == Some(true),
        Ok(_) => false,
        Err(_) => true,
    }
}

fn failed() -> ErrorData {
    ErrorData::internal_error("The tool failed.", None)
}

/// For a caller that does not wait any more.
fn called_off() -> ErrorData {
    ErrorData::internal_error("The call was called off.", None)
}
