//! The recorded form of an answer: JSON with one member, `result`, `task` or `error`, as a JSON-RPC
//! response has it.

use bytes::Bytes;
use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, CreateTaskResult};
use semel::{Extent, Form, Outcome};
use serde::{Deserialize, Serialize};

/// What a tool answers.
pub(crate) type Answer = Result<CallToolResponse, ErrorData>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Written<'a> {
    Result(&'a CallToolResult),
    Task(&'a CreateTaskResult),
    Error(&'a ErrorData),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Read {
    Result(CallToolResult),
    Task(CreateTaskResult),
    Error(ErrorData),
}

/// An answer's bytes; none where it can't be written, or could not be read again.
pub(crate) fn write(answer: &Answer) -> Option<Bytes> {
    let written = match answer {
        Ok(CallToolResponse::Complete(result)) => Written::Result(result),
        Ok(CallToolResponse::Task(task)) => Written::Task(task),
        Ok(_) => return None,
        Err(error) => Written::Error(error),
    };
    serde_json::to_vec(&written).ok().map(Bytes::from)
}

/// The answer in these bytes.
pub(crate) fn read(payload: &[u8]) -> Option<Answer> {
    Some(match serde_json::from_slice(payload).ok()? {
        Read::Result(result) => Ok(CallToolResponse::Complete(result)),
        Read::Task(task) => Ok(CallToolResponse::Task(task)),
        Read::Error(error) => Err(error),
    })
}

pub(crate) const fn whole(payload: Bytes) -> Outcome {
    Outcome { form: Form::Mcp, extent: Extent::Whole, payload }
}

/// That the work was done, without its answer.
pub(crate) const fn partial() -> Outcome {
    Outcome { form: Form::Mcp, extent: Extent::Partial, payload: Bytes::new() }
}
