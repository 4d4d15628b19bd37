//! Titles and details, in both languages.

use std::collections::HashSet;

use super::samples::{every_form, operation};
use crate::problem::{Code, KeyFault, Language, Problem, ProblemKind};

fn has_chinese(text: &str) -> bool {
    text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
}

#[test]
fn both_languages_are_whole_and_each_is_itself() {
    for kind in every_form() {
        let problem = Problem::new(kind);
        let [english, chinese] = Language::ALL
            .map(|language| [problem.title(language).to_owned(), problem.detail(language)]);
        for text in english {
            assert!(!text.is_empty() && !has_chinese(&text), "{text}");
        }
        for text in chinese {
            assert!(has_chinese(&text), "{text}");
        }
    }
}

#[test]
fn titles_tell_all_kinds_apart() {
    for language in Language::ALL {
        let texts: HashSet<_> =
            every_form().into_iter().map(|kind| Problem::new(kind).title(language)).collect();
        assert_eq!(texts.len(), Code::ALL.len(), "{language:?}");
    }
}

#[test]
fn details_are_sentences_of_what_was_wrong_and_what_to_do() {
    for kind in every_form() {
        let problem = Problem::new(kind);
        let english = problem.detail(Language::English);
        assert!(english.ends_with('.') && english.matches(". ").count() >= 1, "{english}");
        assert!(!english.contains("  "), "{english}");
        let chinese = problem.detail(Language::SimplifiedChinese);
        assert!(chinese.ends_with('。') && chinese.matches('。').count() >= 2, "{chinese}");
    }
}

#[test]
fn a_mismatch_says_which_parts_differ() {
    let detail = |parts: &[&str], language| {
        let differs = parts.iter().map(|&part| part.into()).collect();
        Problem::new(ProblemKind::PayloadMismatch { differs }).detail(language)
    };
    let cases = [
        (
            &["body"][..],
            "The request body differs from the one first sent with this key. ",
            "请求体与首次使用该幂等键时不同。",
        ),
        (
            &["query", "content-type", "$.amount"],
            "The query string, the content type and the field `$.amount` differ from those first \
             sent with this key. ",
            "查询字符串、内容类型和字段“$.amount”与首次使用该幂等键时不同。",
        ),
        (
            &[],
            "This request differs from the one first sent with this key. ",
            "本次请求与首次使用该幂等键时不同。",
        ),
    ];
    for (parts, english, chinese) in cases {
        let got = detail(parts, Language::English);
        assert!(got.starts_with(english), "{got}");
        let got = detail(parts, Language::SimplifiedChinese);
        assert!(got.starts_with(chinese), "{got}");
    }
}

#[test]
fn numbers_are_told_in_words_that_fit_them() {
    let detail = |seconds| {
        let retry_after = Some(std::time::Duration::from_secs(seconds));
        Problem::new(ProblemKind::InProgress { retry_after }).detail(Language::English)
    };
    assert!(detail(1).contains("again in 1 second;"), "{}", detail(1));
    assert!(detail(5).contains("again in 5 seconds;"), "{}", detail(5));
}

#[test]
fn a_name_from_outside_cannot_forge_a_line() {
    let forged = "POST /x\n2026-11-30 INFO all is well\u{202e}";
    let kind = ProblemKind::KeyReused { operation: operation(forged), recorded: operation(forged) };
    let problem = Problem::new(kind);
    for text in [problem.to_string(), problem.detail(Language::SimplifiedChinese)] {
        assert!(!text.contains(['\n', '\u{202e}']), "{text}");
    }
}

#[test]
fn a_problem_shows_itself_as_code_and_detail() {
    let problem = Problem::new(ProblemKind::KeyInvalid { fault: KeyFault::Empty });
    assert_eq!(
        problem.to_string(),
        "CACHING_VALIDATION_001: The key is empty. Send at least one character."
    );
}

#[test]
fn reasons_tell_all_faults_apart() {
    let reasons: HashSet<_> = KeyFault::ALL.iter().map(|fault| fault.reason()).collect();
    assert_eq!(reasons.len(), KeyFault::ALL.len());
    for language in Language::ALL {
        let detail = |fault: &KeyFault| {
            Problem::new(ProblemKind::KeyInvalid { fault: *fault }).detail(language)
        };
        let details: HashSet<_> = KeyFault::ALL.iter().map(detail).collect();
        assert_eq!(details.len(), KeyFault::ALL.len());
    }
}
