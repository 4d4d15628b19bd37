//! What is none of the door's business goes to the handler as it comes.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::{
    CustomRequest, CustomResult, ErrorData, ListPromptsResult, PaginatedRequestParams,
    ProgressNotificationParam, Prompt, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use tokio::sync::Notify;

use crate::support::{Shop, Wire, once, tools};

/// Answers what the shop does not.
struct Other(Arc<Notify>);

impl ServerHandler for Other {
    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(vec![Prompt::new("greet", Some("greets"), None)]))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Ok(CustomResult(json!({ "echo": request.method })))
    }

    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleServer>) {
        self.0.notify_one();
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Owned(vec![ProtocolVersion::V_2025_03_26])
    }

    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_prompts().build())
            .with_instructions("of the other")
    }
}

#[tokio::test]
async fn other_methods_and_notifications_are_the_handlers() {
    let told = Arc::new(Notify::new());
    let wire = Wire::to(tools(&once()).around(Other(Arc::clone(&told)))).await;
    let prompts = wire.ask("prompts/list", json!({})).await.json();
    assert_eq!(prompts["result"]["prompts"][0]["name"], "greet");
    let echo = wire.ask("shop/hours", json!({})).await.json();
    assert_eq!(echo["result"]["echo"], "shop/hours");
    wire.notify("notifications/progress", json!({ "progressToken": 1, "progress": 0.5 })).await;
    told.notified().await;
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" }
    });
    let info = wire.ask("initialize", hello).await.json();
    assert_eq!(info["result"]["instructions"], "of the other");
    assert_eq!(info["result"]["protocolVersion"], "2025-03-26");
}

#[tokio::test]
async fn the_list_of_tools_and_each_tool_are_the_handlers() {
    let handler = tools(&once()).around(Shop::counting());
    assert!(handler.get_tool("create_order").is_some());
    assert!(handler.get_tool("none").is_none());
    assert_eq!(handler.get_ref().runs.count(), 0);
    let wire = Wire::to(handler).await;
    let tools = wire.ask("tools/list", json!({})).await.json();
    assert_eq!(tools["result"]["tools"][1]["annotations"]["readOnlyHint"], true);
}
