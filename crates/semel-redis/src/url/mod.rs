//! Store URLs.

mod parse;
mod percent;

pub(crate) use parse::{Login, Target, Tls, Topology};
pub(crate) use parse::{parse, span};
