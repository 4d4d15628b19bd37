//! Which methods there are, and how each is treated.

mod described;
mod list;

pub(crate) use list::{MethodList, Methods, Treatment};

/// What to do with a call of a method that the layer was told nothing of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OtherMethods {
    /// Refuse it (`INTERNAL`) and say so in the log: a method that was forgotten in the list would
    /// run unprotected, and a stream must not be held back by mistake. Default.
    #[default]
    Refuse,
    /// Let it pass, untouched and unbuffered.
    Pass,
}
