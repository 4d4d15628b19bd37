//! Tools that answer with a task: its handle is their answer, and the task itself is the server's.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CreateTaskResult, DetailedTask, ErrorData,
    GetTaskParams, GetTaskResult, ServerCapabilities, ServerConfig, Task, TaskPayload, TaskStatus,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use semel::{Guarantee, Once};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::support::{Wire, call, memory, once, text, tools, until};

/// A server whose tool begins a task, which ends when it is let go.
#[derive(Clone)]
struct Jobs {
    started: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
    go: Arc<Semaphore>,
}

impl Jobs {
    fn new() -> Self {
        Self { started: Arc::default(), ended: Arc::default(), go: Arc::new(Semaphore::new(0)) }
    }

    fn started(&self) -> usize {
        self.started.load(Ordering::SeqCst)
    }

    fn start(&self) -> Task {
        let number = self.started.fetch_add(1, Ordering::SeqCst) + 1;
        let (go, ended) = (Arc::clone(&self.go), Arc::clone(&self.ended));
        tokio::spawn(async move {
            go.acquire().await.unwrap().forget();
            ended.fetch_add(1, Ordering::SeqCst);
        });
        task(&format!("job-{number}"))
    }
}

fn task(id: &str) -> Task {
    let at = "2026-01-01T00:00:00Z";
    Task::new(id, TaskStatus::Working, at, at)
}

impl ServerHandler for Jobs {
    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CreateTaskResult::new(self.start()).into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let payload = match self.ended.load(Ordering::SeqCst) {
            0 => TaskPayload::Working,
            _ => TaskPayload::Completed { result: ended() },
        };
        Ok(GetTaskResult::new(DetailedTask::new(task(&request.task_id), payload)))
    }

    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tasks().build())
    }
}

/// What the task comes to.
fn ended() -> serde_json::Map<String, Value> {
    let CallToolResponse::Complete(result) = text("done") else { unreachable!("it is one text") };
    serde_json::to_value(result).unwrap().as_object().unwrap().clone()
}

/// A session of a client that can follow tasks.
async fn follower(handler: impl ServerHandler) -> Wire {
    Wire::capable(handler, json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })).await
}

#[tokio::test]
async fn a_repeat_gets_the_handle_of_the_first_task_and_starts_none() {
    for guarantee in [Guarantee::Retryable, Guarantee::AtMostOnce] {
        let jobs = Jobs::new();
        let wire = follower(tools(&once()).guarantee(guarantee).around(jobs.clone())).await;
        let first = wire.order("k").await;
        let handle = first.json();
        assert_eq!(handle["result"]["resultType"], "task", "{handle}");
        assert_eq!(handle["result"]["taskId"], "job-1");
        for _ in 0..3 {
            assert_eq!(wire.order("k").await.bytes(), first.bytes());
        }
        assert_eq!(jobs.started(), 1);
        assert_eq!(wire.order("other").await.json()["result"]["taskId"], "job-2");
    }
}

/// The record has the handle, not what has become of the task: that is asked for as ever, with or
/// without a key.
#[tokio::test]
async fn what_becomes_of_the_task_is_the_servers_own_also_through_another_server() {
    let (jobs, store) = (Jobs::new(), Arc::new(memory()));
    let serve = || tools(&Once::new(store.clone())).around(jobs.clone());
    let wire = follower(serve()).await;
    let first = wire.order("k").await;
    let asked = json!({
        "taskId": first.json()["result"]["taskId"], "_meta": { "idempotencyKey": "k" }
    });
    assert_eq!(wire.ask("tasks/get", asked.clone()).await.json()["result"]["status"], "working");
    jobs.go.add_permits(1);
    until(|| jobs.ended.load(Ordering::SeqCst) == 1).await;
    let wire = follower(serve()).await;
    assert_eq!(wire.order("k").await.bytes(), first.bytes());
    let after = wire.ask("tasks/get", asked).await.json();
    assert_eq!(after["result"]["status"], "completed", "{after}");
    assert_eq!(after["result"]["result"]["content"][0]["text"], "done");
    assert_eq!(jobs.started(), 1);
}

/// rmcp keeps handles from clients that can't follow them. The task has begun all the same, and
/// whoever can is given its handle.
#[tokio::test]
async fn a_client_that_follows_no_tasks_starts_one_at_most() {
    let jobs = Jobs::new();
    let handler = tools(&once()).around(jobs.clone());
    let wire = Wire::to(handler.clone()).await;
    for _ in 0..2 {
        let error = wire.tool(call("k", json!({}))).await.error();
        assert_eq!(error["code"], -32021, "{error}");
    }
    let followed = follower(handler).await.tool(call("k", json!({}))).await;
    assert_eq!(followed.json()["result"]["taskId"], "job-1");
    assert_eq!(jobs.started(), 1);
}
