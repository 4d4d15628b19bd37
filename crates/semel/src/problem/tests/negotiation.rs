//! `Accept-Language` (RFC 9110, 12.5.4; RFC 4647, 3.4).

use proptest::prelude::*;

use crate::problem::Language::{self, English, SimplifiedChinese};

#[test]
fn each_header_gets_the_language_that_suits_best() {
    for (header, expected) in [
        // Nothing, and nothing that we have.
        ("", English),
        ("fr, de;q=0.9", English),
        // What browsers send.
        ("en-US,en;q=0.9", English),
        ("zh-CN,zh;q=0.9,en;q=0.8", SimplifiedChinese),
        ("fr-CH, fr;q=0.9, zh;q=0.8, en;q=0.7", SimplifiedChinese),
        ("zh-TW,zh-Hant;q=0.9,en;q=0.8", English),
        // Every name of simplified Chinese, in any spelling.
        ("zh", SimplifiedChinese),
        ("zh-CN", SimplifiedChinese),
        ("zh-cn", SimplifiedChinese),
        ("ZH-HANS", SimplifiedChinese),
        ("zh-Hans-HK", SimplifiedChinese),
        ("zh-SG", SimplifiedChinese),
        ("zh-cmn-Hans-CN", SimplifiedChinese),
        ("cmn-Hans", SimplifiedChinese),
        ("zh-CN-u-co-pinyin", SimplifiedChinese),
        ("zh-x-hant", SimplifiedChinese),
        // Traditional Chinese is another writing: on to the next wish.
        ("zh-Hant", English),
        ("zh-TW", English),
        ("zh-HK", English),
        ("zh-MO", English),
        ("zh-Hant-CN", English),
        ("zh-HK, zh;q=0.5", SimplifiedChinese),
        ("zh-TW, fr;q=0.9", English),
        // Weights; the first of equals.
        ("en;q=0.5, zh;q=0.6", SimplifiedChinese),
        ("en;q=0.6, zh;q=0.5", English),
        ("zh, en", SimplifiedChinese),
        ("en, zh", English),
        ("en;q=0.001, zh;q=0", English),
        ("zh;q=0.001", SimplifiedChinese),
        ("en;q=1.000,zh;q=0.999", English),
        ("en ; Q=0.2 ,\tzh ; q=0.3", SimplifiedChinese),
        // Any other.
        ("*", English),
        ("fr, *;q=0.1", English),
        ("en;q=0, *", SimplifiedChinese),
        ("*, en;q=0", SimplifiedChinese),
        ("en-GB;q=0, *", English),
        ("en;q=0, zh;q=0, *", English),
        ("zh;q=0", English),
        ("zh;q=0.5, *", English),
        // What can't be understood is passed over.
        ("zh;q=2", English),
        ("zh;q=0.1234", English),
        ("zh;q=", English),
        ("zh;q=-1", English),
        ("zh;q=1.001", English),
        ("zh;level=1", English),
        ("zh_CN", English),
        ("zh-", English),
        ("-zh", English),
        ("中文", English),
        (",,,zh,,", SimplifiedChinese),
        ("e n, zh;q=0.1", SimplifiedChinese),
    ] {
        assert_eq!(Language::negotiate(header), expected, "{header}");
    }
}

#[test]
fn what_lies_beyond_the_bounds_is_not_read() {
    let many = "fr,".repeat(63);
    assert_eq!(Language::negotiate(&format!("{many}zh")), SimplifiedChinese);
    assert_eq!(Language::negotiate(&format!("{many}fr,zh")), English);

    let spaces = " ".repeat(4096);
    assert_eq!(Language::negotiate(&format!("zh,{spaces}")), SimplifiedChinese);
    assert_eq!(Language::negotiate(&format!("{spaces}zh")), English);
    // A range that is cut through could be read as another one.
    let cut = format!("{}zh-Hant", " ".repeat(4094));
    assert_eq!(Language::negotiate(&cut), English);
}

#[test]
fn tags_find_their_own_language() {
    for language in Language::ALL {
        assert_eq!(Language::negotiate(language.tag()), language);
    }
}

proptest! {
    #[test]
    fn no_header_makes_it_panic(header in any::<String>()) {
        let _ = Language::negotiate(&header);
    }

    #[test]
    fn no_header_of_its_own_characters_makes_it_panic(
        part in r"[zhencmtwHANSTX\*\-;,=q01. \t]{0,80}",
        times in 1..100_usize,
    ) {
        let _ = Language::negotiate(&part.repeat(times));
    }

    #[test]
    fn the_greater_weight_wins_wherever_it_stands(
        english in 1..=1000_u16,
        chinese in 1..=1000_u16,
        chinese_first: bool,
    ) {
        let weight = |q: u16| format!("{}.{:03}", q / 1000, q % 1000);
        let ranges = [format!("en;q={}", weight(english)), format!("zh;q={}", weight(chinese))];
        let [en, zh] = ranges;
        let header = if chinese_first { format!("{zh}, {en}") } else { format!("{en}, {zh}") };
        let wins = chinese > english || (chinese == english && chinese_first);
        let expected = if wins { SimplifiedChinese } else { English };
        prop_assert_eq!(Language::negotiate(&header), expected);
    }

    #[test]
    fn languages_that_we_do_not_have_change_nothing(
        header in "(en|zh|zh-TW)(;q=0\\.[1-9])?",
        others in proptest::collection::vec("(fr|de|ja|pt-BR)(;q=0\\.[0-9])?", 0..20),
    ) {
        let with_others = format!("{}, {header}", others.join(", "));
        prop_assert_eq!(Language::negotiate(&with_others), Language::negotiate(&header));
    }
}
