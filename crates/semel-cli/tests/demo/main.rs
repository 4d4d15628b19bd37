//! `semel demo` from outside: the real binary, real sockets, over HTTP/1.1 and HTTP/2.

#![expect(clippy::unwrap_used, reason = "where a test can't go on it fails, and says where")]

mod bad_input;
mod concurrency;
mod crash;
mod grpc;
mod hang_up;
mod keys;
mod kills;
mod mcp;
mod misbehaviour;
mod network;
mod openapi;
mod policies;
mod service;
mod session;
mod shutdown;
mod start;
mod storage;
mod support;
