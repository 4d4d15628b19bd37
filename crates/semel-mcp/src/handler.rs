//! The handler: a server's own, with its tools protected.

use std::borrow::Cow;
use std::sync::Arc;

#[expect(deprecated, reason = "what is still sent has to be handed on")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CancelledNotificationParam,
    CompleteRequestParams, CompleteResult, CustomNotification, CustomRequest, CustomResult,
    DiscoverResult, GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams,
    GetSkillResult, GetTaskParams, GetTaskResult, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
    ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult, ReadResourceRequestParams,
    ReadResourceResponse, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use semel::door::span_of;
use semel::{FinishAnyway, Once};
use tracing::Instrument;

use crate::choices::Protection;
use crate::door::Door;
use crate::exchange::Exchange;
use crate::tools::IdempotentTools;
use crate::{call, refusal};

/// A server's handler whose tools run once for each key.
///
/// `tools/call` of a protected tool is an operation; everything else goes to the handler as it
/// comes: other methods, notifications, tools that are not protected, and calls without a key where
/// keys are optional. A clone is a second handle to the same handler.
///
/// Under a key a tool finds a [`Permit`](semel::Permit) in its context's extensions, and under the
/// guarantee `transactional` a [`TransactionHandle`](semel::TransactionHandle).
///
/// Tools that stand in rmcp's `Router`, outside of a handler, are not seen here.
///
/// # Errors
///
/// The handler's own, and those of this door: JSON-RPC errors whose `data` is a problem document
/// (RFC 9457).
///
/// # Cancel safety
///
/// A call that is dropped goes on in the background and is recorded, unless
/// [`OnDisconnect::Cancel`](semel_http::OnDisconnect::Cancel) is chosen and its token cancelled.
#[derive(Debug)]
pub struct Idempotent<H> {
    handler: Arc<H>,
    door: Arc<Door>,
}

impl<H> Idempotent<H> {
    /// Around this handler, over this engine, with the defaults of [`IdempotentTools::new`].
    ///
    /// # Panics
    ///
    /// As [`IdempotentTools::new`].
    pub fn new(handler: H, once: Once) -> Self {
        IdempotentTools::new(once).around(handler)
    }

    /// The handler within.
    #[must_use]
    pub fn get_ref(&self) -> &H {
        &self.handler
    }
}

impl IdempotentTools {
    /// Puts the protection around a server's handler.
    pub fn around<H>(&self, handler: H) -> Idempotent<H> {
        Idempotent { handler: Arc::new(handler), door: Arc::new(self.door.clone()) }
    }
}

impl<H> Clone for Idempotent<H> {
    fn clone(&self) -> Self {
        Self { handler: Arc::clone(&self.handler), door: Arc::clone(&self.door) }
    }
}

/// Methods that go to the handler as they come.
macro_rules! passes {
    ($($name:ident($($arg:ident: $type:ty),+) -> $answer:ty;)+) => {
        $(async fn $name(&self, $($arg: $type),+) -> $answer {
            self.handler.$name($($arg),+).await
        })+
    };
}

type Context = RequestContext<RoleServer>;
type Notified = NotificationContext<RoleServer>;
type Page = Option<PaginatedRequestParams>;
type Answer<T> = Result<T, ErrorData>;

#[deny(
    clippy::missing_trait_methods,
    reason = "a method of the trait that is not handed on would answer in the handler's place"
)]
#[expect(deprecated, reason = "what is still sent has to be handed on")]
impl<H: ServerHandler> ServerHandler for Idempotent<H> {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Answer<CallToolResponse> {
        let tool = || self.handler.get_tool(&request.name);
        if self.door.tools.protection(&request.name, tool) == Protection::Passed {
            return self.handler.call_tool(request, context).await;
        }
        let language = refusal::language(&context);
        let call = match call::of(&self.door, &request, &context) {
            Ok(Some(call)) => call,
            Ok(None) => return self.handler.call_tool(request, context).await,
            Err(refusal) => return Err(refusal.into_error(language)),
        };
        let span = span_of(&call);
        let (door, handler) = (Arc::clone(&self.door), Arc::clone(&self.handler));
        let exchange = Exchange { door, handler, call, language };
        let work = exchange.run(request, context).instrument(span);
        FinishAnyway::new(self.door.once.tasks(), work).await
    }

    passes! {
        ping(context: Context) -> Answer<()>;
        initialize(request: InitializeRequestParams, context: Context) -> Answer<InitializeResult>;
        discover(context: Context) -> Answer<DiscoverResult>;
        complete(request: CompleteRequestParams, context: Context) -> Answer<CompleteResult>;
        set_level(request: SetLevelRequestParams, context: Context) -> Answer<()>;
        get_prompt(request: GetPromptRequestParams, context: Context) -> Answer<GetPromptResponse>;
        list_prompts(request: Page, context: Context) -> Answer<ListPromptsResult>;
        list_resources(request: Page, context: Context) -> Answer<ListResourcesResult>;
        list_resource_templates(request: Page, context: Context)
            -> Answer<ListResourceTemplatesResult>;
        read_resource(request: ReadResourceRequestParams, context: Context)
            -> Answer<ReadResourceResponse>;
        listen(context: SubscriptionContext) -> Answer<()>;
        subscribe(request: SubscribeRequestParams, context: Context) -> Answer<()>;
        unsubscribe(request: UnsubscribeRequestParams, context: Context) -> Answer<()>;
        list_tools(request: Page, context: Context) -> Answer<ListToolsResult>;
        on_custom_request(request: CustomRequest, context: Context) -> Answer<CustomResult>;
        on_cancelled(notification: CancelledNotificationParam, context: Notified) -> ();
        on_progress(notification: ProgressNotificationParam, context: Notified) -> ();
        on_initialized(context: Notified) -> ();
        on_roots_list_changed(context: Notified) -> ();
        on_custom_notification(notification: CustomNotification, context: Notified) -> ();
        get_task(request: GetTaskParams, context: Context) -> Answer<GetTaskResult>;
        update_task(request: UpdateTaskParams, context: Context) -> Answer<()>;
        cancel_task(request: CancelTaskParams, context: Context) -> Answer<()>;
        list_skills(request: Page, context: Context) -> Answer<ListSkillsResult>;
        get_skill(request: GetSkillRequestParams, context: Context) -> Answer<GetSkillResult>;
        read_resource_directory(request: ReadResourceDirectoryRequestParams, context: Context)
            -> Answer<ReadResourceDirectoryResult>;
    }

    fn negotiate_initialize(&self, request: &InitializeRequestParams) -> Answer<InitializeResult> {
        self.handler.negotiate_initialize(request)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.handler.supported_protocol_versions()
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.handler.accepted_subscription_filter(requested)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.handler.get_tool(name)
    }

    fn get_info(&self) -> ServerConfig {
        self.handler.get_info()
    }
}
