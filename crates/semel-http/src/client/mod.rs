//! The client's side: keys for requests, and retries that are safe.

mod answer;
mod asked;
mod budget;
mod drive;
mod error;
mod failure;
mod judge;
mod key;
mod layer;
mod middleware;
mod read;
mod service;
mod settings;
#[cfg(test)]
mod tests;
mod wait;

pub use answer::{AnswerInfo, Origin, Refusal};
pub use budget::RetryBudget;
pub use error::{Cause, ClientError, Conclusion, GaveUp};
pub use failure::Failure;
pub use key::RequestKey;
pub use layer::SafeRetryLayer;
pub use read::AnswerBody;
pub use service::{SafeRetry, SafeRetryFuture};
pub use settings::{ClientSettings, ClientSettingsBuilder, ClientSettingsError, KeyForm};
