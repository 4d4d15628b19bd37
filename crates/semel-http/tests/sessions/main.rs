//! Sessions of `tower-sessions` in a cache.
#![expect(clippy::unwrap_used, reason = "a test ends where its own material is wrong")]

mod browser;
mod contract;
mod example;
mod expectations;
mod support;
