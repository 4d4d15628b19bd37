//! Calls whose record commits in one transaction with the rows that their work writes.
//!
//! The claim is made inside the transaction, and nobody sees it before the commit; a concurrent
//! duplicate waits for the transaction's end at the store. Then it finds the outcome, or nothing.
//! So there is never a claim without its rows, nor rows without their record.
//!
//! This is the pure part that all stores with transactions share. They bring the transaction and
//! the swaps in it; doors reach them as [`Transactions`].

mod began;
mod call;
mod claimed;
mod commit;
#[cfg(test)]
mod tests;
mod transactions;
mod wire;

pub use began::{Began, Nobody};
pub use call::{Call, Step};
pub use claimed::{Claimed, Fate};
pub use commit::{CommitError, Recorded};
pub use transactions::{OpenCall, TransactionHandle, Transactions};
