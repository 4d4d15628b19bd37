//! Idempotency for the tools of MCP servers.
