//! The same order service for MCP clients, at `/mcp`: streamable HTTP, the same handlers, data and
//! records.

mod answer;
mod arguments;
mod shop;

use std::net::SocketAddr;
use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use semel::{MissingKey, Once};
use semel_mcp::{Failures, Idempotent, IdempotentTools};

use self::shop::Shop;
use super::data::Database;
use crate::plan::Policies;

/// What stands at `/mcp`.
pub(crate) type McpService = StreamableHttpService<Idempotent<Shop>, NeverSessionManager>;

/// Each request stands for itself: there is no session that a restart could lose.
pub(crate) fn service(
    data: Database,
    once: &Once,
    policies: &Policies,
    at: SocketAddr,
) -> McpService {
    let handler = tools(once, policies).around(Shop::new(data));
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(policies.max_request_body.saturating_add(ENVELOPE));
    // On a loopback address only loopback names are answered: a web page can't make its own name
    // point here. Elsewhere nobody knows the names.
    let config = if at.ip().is_loopback() { config } else { config.disable_allowed_hosts() };
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::default(), config)
}

/// Room for what stands around the arguments.
const ENVELOPE: usize = 64 << 10;

/// As the HTTP side treats calls; but few clients send keys, so they are optional.
fn tools(once: &Once, policies: &Policies) -> IdempotentTools {
    let tools = IdempotentTools::new(once.clone())
        .policy(Arc::clone(&policies.calls))
        .missing_key(MissingKey::Optional)
        .sources(policies.http.sources().clone())
        .max_arguments(policies.max_request_body);
    if policies.guarantee.freezes_failures() {
        return tools;
    }
    tools.failures(Failures::Custom(Arc::new(answer::finality)))
}
