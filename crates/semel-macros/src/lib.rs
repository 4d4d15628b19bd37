//! The attribute of crate semel.
