//! The way of every writing handler: count, misbehave as wished, work, answer.

use axum::response::Response;
use http::StatusCode;
use semel::timer;

use crate::commands::demo::answers;
use crate::commands::demo::call::Call;
use crate::commands::demo::data::{Database, Failure};
use crate::commands::demo::misbehave::{Answer, Demo, Instead};
use crate::commands::demo::problem::Problem;

/// Runs `work` for a call of `operation`, unless the caller wished otherwise.
pub(super) async fn perform(
    data: &Database,
    operation: &'static str,
    call: &Call,
    work: impl Future<Output = Result<Response, Problem>>,
) -> Result<Response, Problem> {
    match begin(data, operation, call).await? {
        Wished::Work => work.await,
        Wished::Answer(answer) => Ok(answers::dress(answer, work.await?)),
    }
}

/// What is left to do of a call after its beginning.
pub(crate) enum Wished {
    /// The work, and no more.
    Work,
    /// The work, and then another answer than its own.
    Answer(Answer),
}

/// Counts a call of `operation`, and misbehaves as its caller wished where that comes first.
pub(crate) async fn begin(
    data: &Database,
    operation: &'static str,
    call: &Call,
) -> Result<Wished, Problem> {
    data.count(operation).await?;
    match Demo::wished(&call.headers)? {
        Demo::Behave => {}
        Demo::Instead(Instead::FailOnce) => {
            if data.fail_once(call.request(operation)).await? == Failure::Now {
                return Err(failed(Instead::FailOnce));
            }
        }
        Demo::Instead(Instead::Conflict) => return Err(sold_out()),
        Demo::Instead(Instead::Panic) => panic_as_wished(),
        Demo::Instead(Instead::Fail) => return Err(failed(Instead::Fail)),
        Demo::Slow(time) => timer::sleep(time).await,
        Demo::Answer(answer) => return Ok(Wished::Answer(answer)),
    }
    Ok(Wished::Work)
}

fn failed(how: Instead) -> Problem {
    Problem::internal(format!("The handler failed as wished by X-Demo: {how}; no effect was left."))
}

fn sold_out() -> Problem {
    Problem::new(
        StatusCode::CONFLICT,
        "DEMO_SOLD_OUT",
        "The article is sold out",
        "A conflict of the business, wished by X-Demo: conflict; no effect was left.",
    )
}

/// The caller asked for it, to see what a panic does to its key.
fn panic_as_wished() -> ! {
    panic!("the handler panicked as wished by X-Demo: panic")
}
