//! The memory store: its limits, and all of it against a model that anyone can check by eye.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic as tests do")]

mod limits;
mod model;
mod properties;
