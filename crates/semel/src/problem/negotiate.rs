//! `Accept-Language` → a language.

use super::language::Language;

/// Longer lists than people's browsers send are no reason to work longer.
const MOST_BYTES: usize = 4096;
const MOST_RANGES: usize = 64;

impl Language {
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
        best(accept_language)
    }
}

fn best(header: &str) -> Language {
    let wishes: Vec<Wish<'_>> =
        bounded(header).split(',').take(MOST_RANGES).filter_map(wish).collect();
    let mut best: Option<(u16, Language)> = None;
    for wish in wishes.iter().filter(|wish| wish.weight > 0) {
        let Some(language) = meant(wish, &wishes) else { continue };
        // Only more weight wins: among equals the first stays.
        if best.is_none_or(|(weight, _)| wish.weight > weight) {
            best = Some((wish.weight, language));
        }
    }
    best.map_or(Language::English, |(_, language)| language)
}

/// A language range and its weight in thousandths.
struct Wish<'a> {
    range: &'a str,
    weight: u16,
}

fn bounded(header: &str) -> &str {
    if header.len() <= MOST_BYTES {
        return header;
    }
    // The range that is cut through is not read: half of it may mean something else.
    let whole = header.as_bytes()[..MOST_BYTES].iter().rposition(|byte| *byte == b',');
    &header[..whole.unwrap_or(0)]
}

fn wish(element: &str) -> Option<Wish<'_>> {
    let (range, weight) = match element.split_once(';') {
        None => (element, 1000),
        Some((range, parameter)) => (range, weight(parameter)?),
    };
    let range = trim(range);
    (range == "*" || is_range(range)).then_some(Wish { range, weight })
}

/// White space as HTTP has it (RFC 9110, 5.6.3).
fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// `1*8ALPHA *("-" 1*8alphanum)` (RFC 4647, 2.1).
fn is_range(range: &str) -> bool {
    let fits = |part: &str, is: fn(&u8) -> bool| {
        (1..=8).contains(&part.len()) && part.as_bytes().iter().all(is)
    };
    let mut parts = range.split('-');
    parts.next().is_some_and(|first| fits(first, u8::is_ascii_alphabetic))
        && parts.all(|part| fits(part, u8::is_ascii_alphanumeric))
}

/// `q=` and a number from 0 to 1 with at most three decimals (RFC 9110, 12.4.2), in thousandths.
fn weight(parameter: &str) -> Option<u16> {
    let value = trim(parameter);
    let value = value.strip_prefix("q=").or_else(|| value.strip_prefix("Q="))?;
    let (whole, decimals) = value.split_once('.').unwrap_or((value, ""));
    if decimals.len() > 3 || !decimals.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let thousandths: u16 = format!("{decimals:0<3}").parse().ok()?;
    match whole {
        "0" => Some(thousandths),
        "1" if thousandths == 0 => Some(1000),
        _ => None,
    }
}

fn meant(wish: &Wish<'_>, all: &[Wish<'_>]) -> Option<Language> {
    if wish.range != "*" {
        return language(wish.range);
    }
    let refused = |candidate: &Language| {
        all.iter().any(|other| other.weight == 0 && covers(other.range, *candidate))
    };
    Language::ALL.into_iter().find(|candidate| !refused(candidate))
}

/// The language that a range finds by lookup: its subtags are cut from the end until one of our
/// tags is left, but a script or region that means traditional characters finds nothing.
fn language(range: &str) -> Option<Language> {
    let mut subtags = range.split('-');
    let primary = subtags.next()?;
    if primary.eq_ignore_ascii_case("en") {
        return Some(Language::English);
    }
    let chinese = ["zh", "cmn"].iter().any(|tag| primary.eq_ignore_ascii_case(tag));
    (chinese && !is_traditional(subtags)).then_some(Language::SimplifiedChinese)
}

/// A script, where there is one, says it; else the region does. What follows a singleton (`u`,
/// `x`) belongs to an extension and says nothing about either.
fn is_traditional<'a>(subtags: impl Iterator<Item = &'a str>) -> bool {
    let mut by_region = false;
    for subtag in subtags.take_while(|subtag| subtag.len() > 1) {
        let is = |name: &str| subtag.eq_ignore_ascii_case(name);
        if is("Hant") || is("Hans") {
            return is("Hant");
        }
        by_region |= ["TW", "HK", "MO"].into_iter().any(is);
    }
    by_region
}

/// Whether a refused range covers the whole of a language: `en-GB;q=0` leaves other English.
fn covers(range: &str, candidate: Language) -> bool {
    match candidate {
        Language::English => range.eq_ignore_ascii_case("en"),
        Language::SimplifiedChinese => language(range) == Some(candidate),
    }
}
