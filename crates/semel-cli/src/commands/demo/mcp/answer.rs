//! The handlers' answers as results of tools.

use axum::body::to_bytes;
use axum::response::Response;
use http::StatusCode;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock};
use semel_http::Finality;
use serde_json::{Value, json};

/// What a wish for a big answer may come to here.
const MOST: usize = 64 << 20;

/// A good answer is a result, a problem one that says `isError`; both with the body as structured
/// content, and as text.
pub(super) async fn of(response: Response) -> Result<CallToolResult, ErrorData> {
    let status = response.status();
    let body = to_bytes(response.into_body(), MOST)
        .await
        .map_err(|_| ErrorData::internal_error("The answer is too large for a tool.", None))?;
    let text = String::from_utf8_lossy(&body).into_owned();
    let structured = serde_json::from_str(&text).ok().map(in_object);
    let content = vec![ContentBlock::text(text)];
    let mut result = if is_failure(status) {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content = structured;
    Ok(result)
}

fn is_failure(status: StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

/// Older clients take objects only.
fn in_object(json: Value) -> Value {
    if json.is_object() { json } else { json!({ "items": json }) }
}

/// As over HTTP: what a problem of 5xx stands for may pass, every other answer stands.
pub(super) fn finality(answer: Result<&CallToolResult, &ErrorData>) -> Finality {
    let Ok(result) = answer else { return Finality::Transient };
    let status = result.structured_content.as_ref().and_then(|json| json["status"].as_u64());
    match (result.is_error, status) {
        (Some(true), None | Some(500..)) => Finality::Transient,
        _ => Finality::Final,
    }
}
