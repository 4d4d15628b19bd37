//! What can be done to a call.

use super::gate::Gate;
use crate::key::Key;
use crate::store_error::StoreErrorKind;

/// A method of the store contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum StoreOp {
    /// [`Store::swap`](crate::Store::swap).
    Swap,
    /// [`Store::read`](crate::Store::read).
    Read,
    /// [`Store::changed`](crate::Store::changed).
    Changed,
    /// [`Store::scan`](crate::Store::scan).
    Scan,
    /// [`Store::sweep`](crate::Store::sweep).
    Sweep,
}

/// A call that a plan decides about.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FaultCall<'a> {
    /// The method.
    pub op: StoreOp,
    /// The key; none for scan and sweep.
    pub key: Option<&'a Key>,
    /// The how-many-eth call of this method it is, from 1.
    pub nth: u64,
}

/// What happens to a call.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum FaultAction {
    /// Nothing out of the ordinary.
    Pass,
    /// It fails with this and the inner store never hears of it. A hint never comes.
    FailBefore(StoreErrorKind),
    /// The inner store does it; its reply is lost, and this comes instead. A hint never comes.
    FailAfter(StoreErrorKind),
    /// It waits for the gate before the inner store hears of it. A hint is late.
    HoldBefore(Gate),
    /// The inner store does it; its reply waits for the gate. A hint is late.
    HoldAfter(Gate),
    /// The inner store does it, but the reply is one that was meant for this other key, as when
    /// connections are crossed: a read shows the other entry, a swap lost to it, and a hint tells
    /// of its changes. Not for scan and sweep.
    Crossed(Key),
    /// The lowest bit of a byte of the value, or of each value on a page, is flipped on its way
    /// back; what is stored stays. An empty value becomes one byte. A swap that wins carries no
    /// value. Not for sweep; a hint passes.
    Corrupt {
        /// Which byte, counted from 0 and, past the end, from the start again.
        at: usize,
    },
    /// The hint never comes. For `changed` only.
    LoseHint,
    /// The hint comes at once, though nothing changed. For `changed` only.
    FalseHint,
}
