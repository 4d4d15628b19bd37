//! Whether an answer stands.

/// Whether an answer stands: what a function's [`failures`](crate::CallBuilder::failures), or a
/// door's rule for failures, says of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Finality {
    /// It is recorded, and every repeat gets it.
    Final,
    /// The key is freed: a retry runs.
    Transient,
}
