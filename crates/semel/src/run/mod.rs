//! The function form: work that runs once and whose value is replayed.

mod anyway;
mod builder;
mod input;
mod value;
mod work;

pub use builder::{CallBuilder, CallError};
pub use value::CodecError;
