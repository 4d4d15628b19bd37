//! Co-commit: the claim, the caller's rows and the recorded outcome in one transaction.

mod begin;
mod work;

pub use begin::Transactional;
pub use work::Work;
