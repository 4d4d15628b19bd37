//! The languages that problems are written in.

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Language {
    /// English: what everybody gets who asks for nothing that we have.
    #[default]
    English,
    /// Chinese in simplified characters.
    SimplifiedChinese,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 2] = [Self::English, Self::SimplifiedChinese];

    /// The language tag (RFC 5646), as for `Content-Language`: `en` or `zh-Hans`.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::SimplifiedChinese => "zh-Hans",
        }
    }
}
