//! Under construction.

mod key;

pub use key::{
    BaggageFault, BaggageKey, BaggageKeyError, Found, HeaderFault, HeaderSyntax, HeaderSyntaxError,
    ItemKind, KeyFault, KeySource, KeySources, KeySourcesError, UncheckedKey,
};
