//! How hard to try.

/// What `cargo xtask proof` asks for, by the variable that property tests know too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// As any other test.
    Usual,
    Short,
    Long,
}

impl Tier {
    pub(crate) fn now() -> Self {
        let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
        match cases.unwrap_or(0_u32) {
            0..2_000 => Self::Usual,
            2_000..100_000 => Self::Short,
            _ => Self::Long,
        }
    }

    pub(crate) const fn pick<T: Copy>(self, usual: T, short: T, long: T) -> T {
        match self {
            Self::Usual => usual,
            Self::Short => short,
            Self::Long => long,
        }
    }
}
