//! A shop that takes orders, and a client of it.

pub(crate) mod books;
mod client;
mod server;
mod shop;

use std::sync::Arc;
use std::time::Duration;

use semel::timer::SystemClock;
use semel::{MemoryStore, Once, Policy, PolicyBuilder};
use semel_grpc::GrpcIdempotencyLayer;

pub(crate) use client::{Client, framed, order};
pub(crate) use server::Running;
pub(crate) use shop::{Asked, Order, Placed, Shop};

pub(crate) const CREATE: &str = "/shop.Orders/Create";
pub(crate) const WATCH: &str = "/shop.Orders/Watch";

pub(crate) fn once() -> Once {
    Once::new(Arc::new(MemoryStore::new(SystemClock::new())))
}

pub(crate) fn layer() -> GrpcIdempotencyLayer {
    over(once())
}

pub(crate) fn over(once: Once) -> GrpcIdempotencyLayer {
    GrpcIdempotencyLayer::new(once).unary(CREATE).pass(WATCH)
}

pub(crate) fn policy(change: impl FnOnce(PolicyBuilder) -> PolicyBuilder) -> Arc<Policy> {
    Arc::new(change(Policy::builder()).build().unwrap())
}

/// Waits until it holds.
pub(crate) async fn until(mut holds: impl FnMut() -> bool) {
    let look = || std::future::ready(holds().then_some(()));
    semel_testkit::eventually(Duration::from_secs(30), "the condition", look).await.unwrap();
}
