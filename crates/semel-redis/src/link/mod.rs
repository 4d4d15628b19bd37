//! Connections: made, watched, given up and made again.

mod backoff;
mod dial;
mod sentinels;
mod supervise;
mod wire;

pub(crate) use backoff::Backoff;
pub(crate) use dial::{Dialer, Where};
pub(crate) use sentinels::Sentinels;
pub(crate) use supervise::Link;
pub(crate) use wire::{Live, Wiring};
