//! `docs/errors/`: a page for each code, and what it says is what is sent.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::samples::one_of_each;
use crate::problem::{Code, KeyFault, Language, Problem, ProblemKind};

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", "..", "docs", "errors"].iter().collect()
}

fn page(name: &str) -> String {
    let path = folder().join(format!("{name}.md"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The part of a page that is about this code: a page of two forms has a part for each.
fn part(code: Code) -> String {
    let page = page(code.code());
    let key = format!("| `messageKey` | `{}` |", code.message_key());
    let parts: Vec<&str> = page.split("\n## ").collect();
    let title = code_title(code);
    let own = parts.iter().find(|part| part.starts_with(title));
    let part = own.map_or(page.clone(), |part| (*part).to_owned());
    assert!(part.contains(&key), "{code}: {key}");
    part
}

fn code_title(code: Code) -> &'static str {
    let kind = one_of_each().into_iter().find(|kind| kind.code() == code);
    Problem::new(kind.expect("one of each")).title(Language::English)
}

/// The problem that a page shows as its example, where it isn't that of [`one_of_each`].
fn shown_on_page(kind: ProblemKind) -> Problem {
    let kind = match kind {
        ProblemKind::PayloadMismatch { .. } => {
            ProblemKind::PayloadMismatch { differs: vec!["body".into()] }
        }
        other => other,
    };
    Problem::new(kind)
}

#[test]
fn every_code_has_a_page_that_names_its_facts() {
    for code in Code::ALL {
        let part = part(code);
        for fact in [
            format!("| HTTP status | {} ", code.status()),
            format!("| gRPC status | `{}` ({}) |", code.grpc(), code.grpc().number()),
            format!("| `type` | `{}` |", code.type_uri()),
            format!("| `sameKey` | `{}`:", code.same_key().as_bool()),
        ] {
            assert!(part.contains(&fact), "{code}: {fact}");
        }
        for section in [
            "When it comes",
            "Parameters",
            "Example",
            "What a client does",
            "What an operator looks at",
        ] {
            assert!(part.contains(&format!("## {section}\n\n")), "{code}: {section}");
        }
    }
}

#[test]
fn every_page_shows_the_answer_that_is_sent() {
    for kind in one_of_each() {
        let problem = shown_on_page(kind);
        let code = problem.code();
        let part = part(code);
        for line in [
            format!("HTTP/1.1 {} ", problem.status()),
            format!("idempotency-error: {code}\n"),
            format!("\"title\": \"{}\"", problem.title(Language::English)),
            format!("\"detail\": \"{}\"", problem.detail(Language::English)),
            format!("\"sameKey\": {}\n", problem.same_key().as_bool()),
        ] {
            assert!(part.contains(&line), "{code}: {line}");
        }
        for param in problem.params() {
            assert!(part.contains(&format!("| `{}` | ", param.name)), "{code}: {}", param.name);
            assert!(part.contains(&format!("\"{}\": ", param.name)), "{code}: {}", param.name);
        }
    }
}

#[test]
fn there_is_no_page_without_a_code_and_the_index_has_them_all() {
    let entries = fs::read_dir(folder()).expect("docs/errors is there");
    let pages: BTreeSet<String> = entries
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .filter(|name| name != "README.md")
        .collect();
    let codes: BTreeSet<String> = Code::ALL.iter().map(|code| format!("{code}.md")).collect();
    assert_eq!(pages, codes);

    let index = page("README");
    for code in Code::ALL {
        let answer = if code.same_key().as_bool() { "yes" } else { "no" };
        let row = format!(
            "| [{code}]({code}.md) | {} | `{}` | `{}` | {answer} |",
            code.status(),
            code.grpc(),
            code.message_key(),
        );
        assert!(index.contains(&row), "{row}");
    }
}

#[test]
fn every_reason_is_explained_on_its_page() {
    let page = page(Code::KeyInvalid.code());
    for fault in KeyFault::ALL {
        assert!(page.contains(&format!("| `{}` | ", fault.reason())), "{}", fault.reason());
    }
}
