//! A bounded, exhaustive check of the protocol.
//!
//! Several owners call for one key. Their requests to the store, and their calls to an upstream,
//! may be lost, delayed without bound, arrive twice, or arrive after their sender is gone; replies
//! may be lost; leases may end, and owners may fail, panic, crash or give up, at any moment. Every
//! order of all that is gone through, within the bounds that each check names, and in every step
//! the laws of the guarantee are looked at.
//!
//! What decides is the production decision on the production types (see `rules`); only the store
//! and the wires between are models. So that the check itself is checked, broken variants of the
//! decision, of the store, of the upstream and of the owner are put through it (see `mutants`):
//! each must break a law.
//!
//! | law | says |
//! | --- | --- |
//! | I1 | at most one effect; for `retryable`, at most one of attempts that came to no harm |
//! | I2 | an outcome is final |
//! | I3 | all answers agree; for `retryable`, all that rest on a record |
//! | I4 | an answer is that of an effect |
//! | I5 | a claim is ended by its holder, or after its lease as the policy says |
//! | I6 | versions rise, also over a key that was free in between |
//! | I7 | `at_most_once`: a key is never freed once the work was sent out |
//! | I8 | work begins under a claim of its own whose lease has not ended |
//! | I9 | `at_most_once`: a doubt ends by its owner's outcome or by a resolution |
//! | I10 | if the store did not answer, nothing is sent |
//! | I11 | when the owner is gone and its lease over, nobody is told to wait |
#![expect(clippy::unwrap_used, reason = "a check ends where its own material is wrong")]

mod bridge;
mod checks;
mod explore;
mod forget;
mod laws;
mod model;
mod mutants;
mod owner;
mod rules;
mod settings;
mod state;
mod store;
mod symmetry;
mod upstream;
