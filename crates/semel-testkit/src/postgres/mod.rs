//! PostgreSQL servers.
//!
//! PostgreSQL refuses to run as root, so as root everything runs as the user `postgres`, or
//! `nobody` where there is none. Making a data directory takes most of a second: one is made for
//! each version and user of a machine, in the directory for temporary files, and copied for each
//! server.

mod cluster;
mod pooler;
mod processes;
mod programs;
mod server;
mod shared_memory;
#[cfg(test)]
mod tests;

pub use pooler::PgBouncer;
pub use programs::postgres_program;
pub use server::{PostgresBuilder, PostgresServer};
