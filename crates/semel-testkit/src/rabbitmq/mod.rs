//! RabbitMQ brokers.

mod programs;
mod server;

#[cfg(test)]
mod tests;

pub use server::RabbitServer;
