//! The order of the stages that a request passes, made by construction.

mod assemble;
mod stage;

pub use assemble::Pipeline;
pub use stage::{Absent, Present, Stage};
