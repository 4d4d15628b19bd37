//! The `semel` command.
fn main() {}
