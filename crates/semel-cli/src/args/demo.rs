//! Flags of `semel demo`.

use std::path::PathBuf;

use clap::Args;

use super::EXIT_CODES;
use super::PolicyArgs;

const ABOUT: &str = "\
An order service whose retries are harmless, to try and to test against.

It behaves like a real one: API keys of two tenants, its own business data in a
SQLite file, and handlers that really have an effect. `POST /orders` sent twice
with one key makes one order and gets one answer: also from 200 connections at
once, also over two such processes on the same files. An answer that was given
is given again after kill -9 and a new start.

The same service stands at /mcp for MCP clients, over streamable HTTP: the tools
create_order, create_payment, list_orders, get_order and executions. A key in
`_meta.idempotencyKey` makes a call run once; without one it runs each time.
/openapi.json describes it all, and /docs shows that; neither asks for an API key.

A request header X-Demo makes the handler misbehave on purpose:
  fail-once   answers 500 at the first execution for this request, later 201
  fail        answers 500 always, without effect
  panic       panics, without effect
  slow=3s     waits that long, then works
  big=1MiB    works, then answers with a body of that size
  stream=20   works, then answers with that many server-sent events, one each 50 ms
  conflict    answers with a business 409, without effect
  cookie      works, then sets cookies and headers that may or may not be replayed
  empty       works, then answers 204 without a body
  binary      works, then answers with every byte from 0 to 255
  headers     works, then answers with repeated and non-UTF-8 header values

Through gRPC it is metadata x-demo, which takes the first four and conflict.";

/// An order service whose retries are harmless, to try and to test against
#[derive(Debug, Args)]
#[command(long_about = ABOUT, after_long_help = EXIT_CODES)]
pub(crate) struct DemoArgs {
    /// Address to listen on; port 0 takes a free one, and the first line on stdout says which
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:5000")]
    pub(crate) listen: String,

    /// Address to serve the same orders through gRPC, with server reflection; none unless it is given
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) grpc_listen: Option<String>,

    /// Where the records live: `sqlite:FILE`, `redis://HOST`, `postgres://HOST/DATABASE`, `memory:`
    #[arg(
        long,
        value_name = "URL",
        env = "SEMEL_STORE",
        hide_env_values = true,
        default_value = "sqlite:semel-demo.db"
    )]
    pub(crate) store: String,

    /// SQLite file with the orders; several demo processes may share it
    #[arg(long, value_name = "FILE", default_value = "semel-demo-orders.db")]
    pub(crate) data: PathBuf,

    /// How long a shutdown (SIGTERM, SIGINT) waits for calls that still run
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub(crate) drain: String,

    #[command(flatten)]
    pub(crate) policy: PolicyArgs,
}
