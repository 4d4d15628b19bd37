//! What the preflight looks at.

use std::fmt;

macro_rules! checks {
    ($($(#[$doc:meta])* $variant:ident $name:literal,)*) => {
        /// What the preflight looks at. Each check has a name, by which it can be accepted.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Check {
            $($(#[$doc])* $variant,)*
        }

        impl Check {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

checks! {
    /// The server's version: 6.2 or later.
    Version "version",
    /// Whether it is a primary.
    Role "role",
    /// Whether it evicts entries when it is full.
    Eviction "maxmemory-policy",
    /// Whether there is a bound to its memory, and whether it is reached.
    Memory "memory",
    /// What a restart leaves.
    Persistence "persistence",
    /// What a fail-over leaves.
    Replicas "replicas",
    /// Whether the scripts run, with all that the user may do.
    Scripts "scripts",
    /// Whether changes are told, and how.
    Hints "hints",
    /// Whether the server's clock makes sense.
    Clock "clock",
    /// Whether the server lost data since the store first connected.
    Data "data",
    /// Whether passwords and entries travel in the clear.
    Transport "transport",
}

impl Check {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Self::ALL.iter().copied().find(|check| check.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|check| check.name()).collect();
            format!("`accept` takes {}", names.join(", "))
        })
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
