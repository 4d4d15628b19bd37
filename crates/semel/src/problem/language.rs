//! The languages that problems are written in.

use super::negotiate;

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

    /// The language that suits best, by the value of `Accept-Language` (RFC 9110, 12.5.4).
    ///
    /// Several headers are joined with a comma first. Ranges are tried from the most wanted to the
    /// least, those of the same weight as they stand, each by lookup (RFC 4647, 3.4): `zh`,
    /// `zh-CN`, `zh-SG`, `zh-Hans` mean simplified Chinese. Traditional Chinese (`zh-Hant`,
    /// `zh-TW`, `zh-HK`, `zh-MO`) is not answered with simplified characters: the next range is
    /// tried. `*` means whatever was not refused with `q=0`, English first.
    ///
    /// Never fails: what can't be understood is passed over, what is beyond the first 64 ranges
    /// or 4096 bytes is not read, and where nothing fits it is English.
    #[must_use]
    pub fn negotiate(accept_language: &str) -> Self {
        negotiate::best(accept_language)
    }
}
