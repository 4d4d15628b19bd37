//! What is printed at the start.

use std::net::SocketAddr;

use super::super::store;
use crate::output;
use crate::plan::DemoPlan;

/// The first line on stdout says where; the rest is for people.
pub(crate) fn print(plan: &DemoPlan, at: SocketAddr, grpc: Option<SocketAddr>) {
    output::data(&format!("semel demo listening on http://{at}"));
    if let Some(grpc) = grpc {
        output::data(&format!("semel demo listening on {grpc} for gRPC"));
    }
    output::prose(&text(plan, at, grpc));
    if [Some(at), grpc].into_iter().flatten().any(|at| !at.ip().is_loopback()) {
        output::prose("Whoever reaches this address can use these keys: they are public.");
    }
}

fn text(plan: &DemoPlan, at: SocketAddr, grpc: Option<SocketAddr>) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let (store, data, url) = (store(&plan.store), plan.data.display(), url(at));
    let grpc = grpc.map(through_grpc).unwrap_or_default();
    let guarantee = plan.policies.guarantee;
    let (promise, condition) = (guarantee.promise(), guarantee.condition());
    format!(
        r#"semel {version}  an order service whose retries are harmless
store        {store}
data         {data}
guarantee    {guarantee}: {promise}
             (as long as {condition})

Make an order. Send it again: the same answer, and no second order.

  curl -X POST {url}/orders -H "Authorization: ApiKey dev-alice-key" \
    -H "baggage: xihan.idempotency-key=order-20261031-0001" -H "Content-Type: application/json" \
    -d '{{"name":"Keyboard","amount":2}}'

  curl {url}/orders -H "Authorization: ApiKey dev-alice-key"     # the orders that are there
  curl {url}/executions                                          # how often handlers really ran
  {url}/docs                                                     # all of it, to read

The same as tools for MCP clients: {url}/mcp, with the header Authorization, and a key in
_meta.idempotencyKey.
{grpc}
Make it misbehave, and retry: add -i and one of
  -H "X-Demo: fail-once"  fail  panic  slow=3s  big=1MiB  stream=20  conflict  cookie

Keys: dev-alice-key and dev-bob-key (tenant acme), dev-carol-key (tenant globex).
Ctrl-C ends it. After kill -9 and a new start, what was answered is answered again."#
    )
}

/// The same through gRPC, as grpcurl takes it: it asks the server what there is.
fn through_grpc(at: SocketAddr) -> String {
    let at = url(at);
    let at = at.trim_start_matches("http://");
    format!(
        r#"
The same through gRPC, with the same key or another (`grpcurl -plaintext {at} list` shows all):

  grpcurl -plaintext -H 'authorization: ApiKey dev-alice-key' -H 'idempotency-key: order-1' \
    -d '{{"name":"Keyboard","amount":2}}' {at} semel.demo.v1.Orders/Create
"#
    )
}

/// `localhost`, where that is what people would write.
fn url(at: SocketAddr) -> String {
    if at.ip().is_loopback() && at.is_ipv4() {
        format!("http://localhost:{}", at.port())
    } else {
        format!("http://{at}")
    }
}

/// What a restart leaves of the records.
fn store(url: &str) -> String {
    let shown = store::shown(url);
    let keeps = match url.split_once(':') {
        Some(("memory", _)) => "forgotten when this ends",
        Some(("sqlite", _)) => "durable, this machine only; a server's URL is for many",
        _ => "shared; `semel doctor` tells what it promises",
    };
    format!("{shown} ({keeps})")
}
