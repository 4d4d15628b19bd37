//! Wake-ups: the server tells of changes, on a connection of its own, of the keys that somebody
//! waits for.

mod ear;
mod hub;
mod wanted;

pub(crate) use hub::HintHub;
