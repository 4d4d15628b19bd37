//! The tools. Each calls the handler of its path.

use axum::Extension as AxumExtension;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use http::request::Parts;
use rmcp::handler::server::common::Extension;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, Implementation, ServerCapabilities, ServerConfig};
use rmcp::{ErrorData, ServerHandler, tool, tool_handler, tool_router};
use serde::Serialize;

use super::answer;
use super::arguments::{OrderArguments, OrderId, PaymentArguments};
use crate::commands::demo::accounts::Account;
use crate::commands::demo::call::Call;
use crate::commands::demo::data::Database;
use crate::commands::demo::handlers;

/// The order service as a set of tools.
#[derive(Debug, Clone)]
pub(crate) struct Shop {
    data: Database,
}

type Answer = Result<CallToolResult, ErrorData>;

#[tool_router]
impl Shop {
    pub(super) const fn new(data: Database) -> Self {
        Self { data }
    }

    /// Makes an order. Send `_meta.idempotencyKey`, the same one with each retry: then it is made
    /// once.
    #[tool]
    async fn create_order(
        &self,
        Parameters(order): Parameters<OrderArguments>,
        Extension(head): Extension<Parts>,
    ) -> Answer {
        let call = call(&head, "/orders", &order)?;
        answer::of(handlers::create_order(self.data(), call).await.into_response()).await
    }

    /// Pays for an order of your tenant. Send `_meta.idempotencyKey`, the same one with each retry:
    /// then it is paid once.
    #[tool]
    async fn create_payment(
        &self,
        Parameters(payment): Parameters<PaymentArguments>,
        Extension(head): Extension<Parts>,
    ) -> Answer {
        let call = call(&head, "/payments", &payment)?;
        answer::of(handlers::create_payment(self.data(), call).await.into_response()).await
    }

    /// Lists the orders of your tenant, oldest first.
    #[tool(annotations(read_only_hint = true))]
    async fn list_orders(&self, Extension(head): Extension<Parts>) -> Answer {
        let by = AxumExtension(account(&head)?);
        answer::of(handlers::list_orders(self.data(), by).await.into_response()).await
    }

    /// Shows one order of your tenant.
    #[tool(annotations(read_only_hint = true))]
    async fn get_order(
        &self,
        Parameters(OrderId { id }): Parameters<OrderId>,
        Extension(head): Extension<Parts>,
    ) -> Answer {
        let (by, id) = (AxumExtension(account(&head)?), Path(id.to_string()));
        answer::of(handlers::show_order(self.data(), by, id).await.into_response()).await
    }

    /// Tells how often the handlers really ran, over all tenants.
    #[tool(annotations(read_only_hint = true))]
    async fn executions(&self) -> Answer {
        answer::of(handlers::executions(self.data()).await.into_response()).await
    }

    fn data(&self) -> State<Database> {
        State(self.data.clone())
    }
}

#[tool_handler]
impl ServerHandler for Shop {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("semel-demo", env!("CARGO_PKG_VERSION"));
        info.with_instructions(
            "An order service whose retries are harmless. Send `_meta.idempotencyKey` with \
             create_order and create_payment, the same one with each retry.",
        )
    }
}

fn account(head: &Parts) -> Result<Account, ErrorData> {
    let account = head.extensions.get::<Account>().copied();
    account.ok_or_else(|| ErrorData::internal_error("The call came past authentication.", None))
}

/// The call that the handler of this path gets: the arguments are its body.
fn call(head: &Parts, path: &str, arguments: &impl Serialize) -> Result<Call, ErrorData> {
    let body = serde_json::to_vec(arguments)
        .map_err(|_| ErrorData::internal_error("The arguments can't be written.", None))?;
    Ok(Call::new(account(head)?, head.headers.clone(), path, body.into()))
}
