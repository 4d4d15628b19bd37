//! The function form: work that runs once and whose value is replayed.

mod anyway;
mod builder;
mod error;
mod input;
mod value;
mod work;

pub use builder::CallBuilder;
pub use error::CallError;
pub use value::CodecError;

pub(crate) use anyway::FinishAnyway;
pub(crate) use value::panic_outcome;
