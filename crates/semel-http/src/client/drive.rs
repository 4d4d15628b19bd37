//! The course of one call: try, judge, wait, try again.

use std::future::Future;
use std::time::Duration;

use http::{Response, response};
use http_body::Body;
use semel::core::{Clock, StoreTime};
use semel::timer::{self, SystemClock};

use super::answer::{self, AnswerInfo, Origin};
use super::asked::{Asked, Repeat};
use super::budget::Taken;
use super::error::{Boxed, Cause, ClientError, Conclusion, GaveUp};
use super::failure::Failure;
use super::judge::{self, Reason, Verdict};
use super::read::{self, AnswerBody};
use super::settings::ClientSettings;
use super::wait;

/// What all calls of a client share.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) settings: ClientSettings,
    clock: SystemClock,
}

impl Client {
    pub(super) fn new(settings: ClientSettings) -> Self {
        Self { settings, clock: SystemClock::new() }
    }
}

/// What a request is sent with.
pub(super) trait Wire: Send {
    type Body: Body<Error: Into<Boxed>> + Send;
    type Error: Into<Boxed> + Send;

    /// Sends the request, the same one each time.
    fn send(&mut self) -> impl Future<Output = Result<Response<Self::Body>, Self::Error>> + Send;

    /// What a failure means.
    fn failure(error: &Self::Error) -> Option<Failure>;
}

/// Tries until an answer stands or there is no reason, right or time for another try.
///
/// # Cancel safety
///
/// Dropped, the try that runs is dropped: what became of it is not known.
pub(super) async fn drive<W: Wire>(
    client: &Client,
    asked: Asked,
    mut wire: W,
) -> Result<Response<AnswerBody<W::Body>>, ClientError> {
    let mut course = Course::begin(client, asked);
    loop {
        let tried = course.try_once(&mut wire).await;
        let pause = match course.next(&tried) {
            Next::Again(pause) => pause,
            Next::End(gave_up) => return course.end(tried, gave_up),
        };
        // An answer that is not handed out holds no connection meanwhile.
        drop(tried);
        timer::sleep(pause).await;
    }
}

/// What one try came to.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and it is soon taken apart")]
enum Tried<B> {
    Answered { response: Response<AnswerBody<B>>, origin: Origin, verdict: Verdict },
    Failed { cause: Cause, failure: Failure },
}

/// What comes after a try.
enum Next {
    Again(Duration),
    End(Option<GaveUp>),
}

struct Course<'a> {
    client: &'a Client,
    asked: Asked,
    began: StoreTime,
    tries: u32,
    /// Tries that were not told that the first call still runs.
    counted: u32,
    waits: u32,
    conclusion: Conclusion,
}

impl<'a> Course<'a> {
    fn begin(client: &'a Client, asked: Asked) -> Self {
        let began = client.clock.now();
        client.settings.retry_budget.put_back(began);
        let conclusion = Conclusion::NeverSent;
        Self { client, asked, began, tries: 0, counted: 0, waits: 0, conclusion }
    }

    const fn settings(&self) -> &'a ClientSettings {
        &self.client.settings
    }

    /// What is left of the time for all tries.
    fn left(&self) -> Duration {
        self.settings().deadline.saturating_sub(self.client.clock.now().since(self.began))
    }

    // ===== One try =====

    async fn try_once<W: Wire>(&mut self, wire: &mut W) -> Tried<W::Body> {
        self.tries = self.tries.saturating_add(1);
        let limit = self.settings().try_timeout.min(self.left());
        let work = async {
            let response = wire.send().await.map_err(|error| {
                let said = W::failure(&error).map(|failure| self.settings().proven(failure));
                let error = error.into();
                let failure = said.unwrap_or_else(|| self.settings().failure(&*error));
                (Cause::Client(error), failure)
            })?;
            self.read(response).await.map_err(|error| (Cause::Answer(error), Failure::Unknown))
        };
        let tried = match timer::within(limit, work).await {
            Some(Ok(response)) => self.judged(response),
            Some(Err((cause, failure))) => Tried::Failed { cause, failure },
            None => Tried::Failed { cause: Cause::TimedOut, failure: Failure::Unknown },
        };
        if !matches!(tried, Tried::Failed { failure: Failure::NeverSent, .. }) {
            self.conclusion = Conclusion::Unknown;
        }
        tried
    }

    async fn read<B>(&self, response: Response<B>) -> Result<Response<AnswerBody<B>>, Boxed>
    where
        B: Body<Error: Into<Boxed>>,
    {
        let (head, body) = response.into_parts();
        let limit = self.settings().max_read_ahead;
        let wanted = self.asked.repeat == Repeat::May
            && read::is_read_ahead(&head, &body.size_hint(), limit);
        let body = if wanted {
            read::read(body, limit).await.map_err(Into::into)?
        } else {
            AnswerBody::passed(body)
        };
        Ok(Response::from_parts(head, body))
    }

    fn judged<B>(&self, response: Response<AnswerBody<B>>) -> Tried<B> {
        let (head, body) = response.into_parts();
        let same_key = said_of_key(&head, &body);
        let origin = answer::origin(&head, self.settings().replay_marker.as_ref(), same_key);
        let verdict = judge::answer(head.status, &origin, same_key);
        Tried::Answered { response: Response::from_parts(head, body), origin, verdict }
    }

    // ===== What comes next =====

    fn next<B>(&mut self, tried: &Tried<B>) -> Next {
        let (verdict, after) = match tried {
            Tried::Answered { verdict: Verdict::Final, .. } => return Next::End(None),
            Tried::Answered { verdict, response, .. } => {
                (*verdict, wait::retry_after(response.headers()))
            }
            Tried::Failed { failure, .. } => (judge::failure(*failure), None),
        };
        let reason = match verdict {
            Verdict::Final => return Next::End(Some(GaveUp::NoUse)),
            Verdict::Again(reason) => reason,
        };
        match self.another(reason, after) {
            Ok(pause) => {
                self.tell_of_retry(reason, pause);
                Next::Again(pause)
            }
            Err(gave_up) => {
                self.tell_of_end(reason, &gave_up);
                Next::End(Some(gave_up))
            }
        }
    }

    /// How long to wait for another try, if there may be one.
    fn another(&mut self, reason: Reason, after: Option<Duration>) -> Result<Duration, GaveUp> {
        if let Repeat::MayNot(why) = &self.asked.repeat {
            return Err(why.clone());
        }
        // Who waits for a call that runs does not fail: its tries and everybody's retries are not
        // used up by that. The deadline bounds it.
        let counts = reason != Reason::InProgress;
        self.counted += u32::from(counts);
        if self.counted >= self.settings().max_tries {
            return Err(GaveUp::TriesUsedUp);
        }
        let pause = self.pause(after)?;
        if pause >= self.left() {
            return Err(GaveUp::DeadlineOver);
        }
        let budget = &self.settings().retry_budget;
        if counts && budget.take(self.client.clock.now()) == Taken::Nothing {
            return Err(GaveUp::RetryBudgetEmpty);
        }
        self.waits = self.waits.saturating_add(1);
        Ok(pause)
    }

    fn pause(&self, after: Option<Duration>) -> Result<Duration, GaveUp> {
        match after {
            Some(after) if after > self.settings().max_retry_after => {
                Err(GaveUp::AskedToWait(after))
            }
            Some(after) if !after.is_zero() => Ok(wait::as_asked(self.settings(), after)),
            // "At once" of a service that answered "later" is no reason to besiege it.
            Some(_) | None => Ok(wait::backoff(self.settings(), self.waits)),
        }
    }

    // ===== The end =====

    fn end<B>(
        self,
        tried: Tried<B>,
        gave_up: Option<GaveUp>,
    ) -> Result<Response<AnswerBody<B>>, ClientError> {
        let (tries, key) = (self.tries, self.asked.key);
        match tried {
            Tried::Answered { mut response, origin, .. } => {
                response.extensions_mut().insert(AnswerInfo { origin, tries, key, gave_up });
                Ok(response)
            }
            Tried::Failed { cause, .. } => {
                let gave_up = gave_up.unwrap_or(GaveUp::NoUse);
                Err(ClientError { conclusion: self.conclusion, gave_up, tries, key, cause })
            }
        }
    }

    fn tell_of_retry(&self, reason: Reason, pause: Duration) {
        let reason = reason.word();
        metrics::counter!("semel_http_client_retries_total", "reason" => reason).increment(1);
        tracing::debug!(key = ?self.asked.key, tries = self.tries, reason, ?pause, "trying again");
    }

    fn tell_of_end(&self, reason: Reason, gave_up: &GaveUp) {
        let (reason, why) = (reason.word(), gave_up.word());
        metrics::counter!("semel_http_client_gave_up_total", "why" => why).increment(1);
        tracing::debug!(key = ?self.asked.key, tries = self.tries, reason, why, "not trying again");
    }
}

/// What a problem document that was read says about the key.
fn said_of_key<B>(head: &response::Parts, body: &AnswerBody<B>) -> Option<semel::SameKey> {
    let is_problem = head.status.as_u16() >= 400 && read::is_problem(&head.headers);
    body.whole().filter(|_| is_problem).and_then(|document| answer::same_key(document))
}
