//! The order service's own business data: one SQLite file, shared by any
//! number of demo processes.
//!
//! Every statement stands for itself or runs in one immediate transaction, and
//! ids are the database's, so that processes can't get into each other's way.

mod database;
mod executions;
mod orders;
mod payments;
mod schema;

pub(crate) use database::{DataError, Database};
pub(crate) use executions::{Failure, Request};
pub(crate) use orders::{Deleted, NewOrder, Order};
pub(crate) use payments::{NewPayment, Paid};
