//! The function form: work that runs once and whose answer is replayed.

mod answer;
mod anyway;
mod builder;
mod error;
mod failures;
mod input;
mod status;
mod value;
mod work;

pub use anyway::FinishAnyway;
pub use builder::CallBuilder;
pub use error::CallError;
pub use failures::{AllTransient, ErrorRule, Judged, RecordedError};
pub use status::CallStatus;
pub use value::CodecError;
pub(crate) use value::{panic_outcome, to_bytes};
