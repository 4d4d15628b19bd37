//! A bounded, exhaustive check of the decision over locks.
//!
//! Several clients want one lock. What they send to the store may be delayed without bound, land
//! after its sender gave up or died, or be applied with its reply lost; clients renew, release,
//! wait, die, or are forced at any moment; time goes on at any moment. Every order of all that is
//! gone through, within the bounds that each check names, and in every step the laws are looked at.
//!
//! What decides is the production decision; only the store, the wires and the clients are models.
//! So that the check itself is checked, broken variants are put through it (see `mutants`): each
//! must break a law.
//!
//! | law | says |
//! | --- | --- |
//! | `Exclusion` | nobody is granted the lock while the store's lease of another lasts, or its delay after an unclean end |
//! | `Belief` | while a holder believes in its lease by its own clock, the store grants the lock to nobody |
//! | `Fence` | each grant has a higher fence than all before it, and its holder learns that very one |
//! | `Release` | a release changes nothing of what others hold |
//! | `Order` | who waits is granted the lock only if nobody who is alive came before it |
//! | `Progress` | once leases, delays and places are over, the lock is free: nothing lengthens them |
#![expect(clippy::unwrap_used, reason = "a check ends where its own material is wrong")]

mod checks;
mod client;
#[path = "../model/explore.rs"]
mod explore;
mod laws;
mod model;
mod mutants;
mod rules;
mod store;
mod world;
