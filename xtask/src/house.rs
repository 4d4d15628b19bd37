//! House rules that no other tool knows.
//!
//! Macros that leave work undone, attributes that silence a lint without a
//! reason, tests that are switched off without being listed as open, and a
//! table of cases that does not match the tests fail; long files are only
//! listed, for a hard look.

use std::fs;
use std::path::Path;

use crate::cases;
use crate::shell::{Cmd, Failure};
use crate::workspace::Workspace;

/// From here on a file gets a hard look.
const LONG_FILE: usize = 400;

/// What must not be in any source, with the reason. The words are put together
/// here, so that this file does not hold them.
const FORBIDDEN: [(&str, &str); 5] = [
    (concat!("todo", "!"), "work left undone"),
    (concat!("unimplemented", "!"), "work left undone"),
    (concat!("dbg", "!"), "a trace left behind"),
    (concat!("#[", "allow("), "`#[expect(lint, reason = \"…\")]` says why and ends when it may"),
    (concat!("#![", "allow("), "`#[expect(lint, reason = \"…\")]` says why and ends when it may"),
];
const IGNORED: &str = concat!("#[", "ignore");

pub(crate) fn check(here: &Workspace) -> Result<(), Failure> {
    let listed = here.read(cases::PAGE)?;
    let sources = sources(here)?;
    let mut faults = Vec::new();
    for (path, text) in &sources {
        let lines = text.lines().count();
        if lines > LONG_FILE {
            println!("long: {path} has {lines} lines (over {LONG_FILE})");
        }
        faults.extend(faults_of(text, &listed).into_iter().map(|fault| format!("{path}:{fault}")));
    }
    faults.extend(cases::faults(here, &sources)?);
    println!("{} source files looked at", sources.len());
    if sources.is_empty() {
        return Err(Failure::new("no source file was found: that can't be right"));
    }
    if faults.is_empty() { Ok(()) } else { Err(Failure::new(faults.join("\n"))) }
}

/// Every Rust source of the project, with its path from the root: as git knows
/// them (those not yet committed too), else whatever lies outside `target`.
pub(crate) fn sources(here: &Workspace) -> Result<Vec<(String, String)>, Failure> {
    let mut paths = known_to_git(here.root()).unwrap_or_else(|| walk(here.root()));
    paths.retain(|path| path.ends_with(".rs") && here.root().join(path).is_file());
    paths.sort();
    paths.dedup();
    paths.into_iter().map(|path| here.read(&path).map(|text| (path, text))).collect()
}

fn known_to_git(root: &Path) -> Option<Vec<String>> {
    let list = Cmd::new("git").dir(root).args(["ls-files", "-z", "--cached", "--others"]);
    let printed = list.args(["--exclude-standard"]).quiet()?;
    let printed = String::from_utf8_lossy(&printed).into_owned();
    Some(printed.split_terminator('\0').map(str::to_owned).collect())
}

fn walk(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        for path in fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                if !path.ends_with("target") && !path.ends_with(".git") {
                    open.push(path);
                }
            } else if let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) {
                found.push(name.replace('\\', "/"));
            }
        }
    }
    found
}

/// `line: what is wrong` for each fault of one source.
fn faults_of(text: &str, cases: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        // No spacing makes it another word.
        let dense: String = line.split_whitespace().collect();
        for (word, why) in FORBIDDEN.iter().filter(|(word, _)| stands_in(&dense, word)) {
            faults.push(format!("{}: `{word}`: {why}", index + 1));
        }
        if dense.contains(IGNORED) {
            faults
                .extend(ignored(&lines[index..], cases).map(|why| format!("{}: {why}", index + 1)));
        }
    }
    faults
}

/// Whether `word` stands in `line`, and not as the end of a longer word.
fn stands_in(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// Why the test that is switched off in the first of `lines` may not be.
fn ignored(lines: &[&str], cases: &str) -> Option<String> {
    let name = lines.iter().find_map(|line| {
        let (_, rest) = line.split_once("fn ")?;
        rest.split_once(['(', '<']).map(|(name, _)| name.trim())
    });
    match name {
        Some(name) if stands_in(cases, name) => None,
        Some(name) => Some(format!("`{name}` is switched off, without a row in {}", cases::PAGE)),
        None => Some(format!("`{IGNORED}` without a test behind it")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        faults_of(text, "| X1 | open | `a_known_one` |")
    }

    #[test]
    fn each_forbidden_word_is_found_with_its_line() {
        for (word, _) in FORBIDDEN {
            let found = faults(&format!("fn f() {{\n    {word}(dead_code);\n}}"));
            assert_eq!(found.len(), 1, "{word}: {found:?}");
            assert!(found[0].starts_with("2: "), "{found:?}");
        }
    }

    #[test]
    fn spacing_hides_nothing() {
        let spaced = FORBIDDEN[3].0.replace('[', " [ ").replace('(', " ( ");
        assert_eq!(faults(&format!("{spaced} dead_code )]")).len(), 1);
    }

    #[test]
    fn comments_and_longer_words_are_no_fault() {
        let word = FORBIDDEN[0].0;
        assert_eq!(faults(&format!("// {word}()\n    /// {word}()\nmy_{word}()")), [""; 0]);
    }

    #[test]
    fn a_test_may_be_switched_off_only_with_a_row_among_the_open_cases() {
        let off = |name: &str| format!("#[test]\n{IGNORED} = \"slow\"]\nasync fn {name}() {{}}");
        assert_eq!(faults(&off("a_known_one")), [""; 0]);
        let found = faults(&off("another"));
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("`another`"), "{found:?}");
        assert_eq!(faults(&format!("{IGNORED}]")).len(), 1);
    }

    #[test]
    fn sources_are_found_with_git_and_without() {
        let here = Workspace::find().expect("tests run inside the workspace");
        let walked = walk(here.root());
        assert!(walked.contains(&"xtask/src/house.rs".to_owned()));
        assert!(!walked.iter().any(|path| path.starts_with("target/")));
        let found = sources(&here).expect("sources are readable");
        assert!(found.iter().any(|(path, _)| path == "xtask/src/house.rs"));
    }
}
