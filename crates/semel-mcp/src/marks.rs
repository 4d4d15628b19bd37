//! What marks an answer in its `_meta`, beside what is recorded.

use rmcp::model::{CallToolResponse, MetaObject};
use serde_json::Value;

use crate::stored::Answer;

/// On an answer whose work ran although the store could not be reached.
const UNPROTECTED: &str = "idempotencyUnprotected";
/// On an answer whose record the store has not taken (yet): a repeat may not get it.
const DURABLE: &str = "idempotencyDurable";

pub(crate) fn unprotected(answer: Answer) -> Answer {
    marked(answer, UNPROTECTED, true)
}

pub(crate) fn not_durable(answer: Answer) -> Answer {
    marked(answer, DURABLE, false)
}

/// A mark on a result; an error has no place for one.
pub(crate) fn marked(mut answer: Answer, name: &str, value: bool) -> Answer {
    let meta = match &mut answer {
        Ok(CallToolResponse::Complete(result)) => &mut result.meta,
        Ok(CallToolResponse::Task(task)) => &mut task.meta,
        Ok(_) | Err(_) => return answer,
    };
    let MetaObject(members) = meta.get_or_insert_default();
    members.insert(name.to_owned(), Value::Bool(value));
    answer
}
