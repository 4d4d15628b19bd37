//! Co-commit: the claim, the caller's rows and the recorded outcome in one transaction.

mod begin;
mod commit;
mod owned;
mod settle;
mod work;

pub use begin::Transactional;
pub use owned::OwnedWork;
pub use work::Work;
