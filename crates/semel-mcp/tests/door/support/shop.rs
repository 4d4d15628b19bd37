//! A server whose tools do what a test says, and that counts.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};

/// How often tools ran.
#[derive(Debug, Clone, Default)]
pub(crate) struct Runs(Arc<AtomicUsize>);

impl Runs {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// A call that arrived.
pub(crate) struct Asked {
    /// The how-many-eth, from 1.
    pub(crate) run: usize,
    pub(crate) request: CallToolRequestParams,
    pub(crate) context: RequestContext<RoleServer>,
}

type Answer = Result<CallToolResponse, ErrorData>;
type Work = dyn Fn(Asked) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send + Sync;

/// The server: `create_order` has an effect, `list_orders` only reads.
#[derive(Clone)]
pub(crate) struct Shop {
    pub(crate) runs: Runs,
    work: Arc<Work>,
}

impl Shop {
    /// Whose tools do this.
    pub(crate) fn new<F>(work: impl Fn(Asked) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        Self { runs: Runs::default(), work: Arc::new(move |asked| Box::pin(work(asked))) }
    }

    /// Whose tools answer with the number of their run.
    pub(crate) fn counting() -> Self {
        Self::new(|asked| async move { Ok(text(&format!("order {}", asked.run))) })
    }
}

/// A result of one text.
pub(crate) fn text(text: &str) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

impl ServerHandler for Shop {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Answer {
        let run = self.runs.0.fetch_add(1, Ordering::SeqCst) + 1;
        (self.work)(Asked { run, request, context }).await
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = ["create_order", "list_orders"].iter().filter_map(|name| self.get_tool(name));
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let tool = |name: &'static str| Tool::new(name, "of the shop", serde_json::Map::new());
        match name {
            "create_order" => Some(tool("create_order")),
            "list_orders" => {
                Some(tool("list_orders").with_annotations(ToolAnnotations::new().read_only(true)))
            }
            _ => None,
        }
    }

    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}
