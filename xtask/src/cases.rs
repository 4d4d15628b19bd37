//! The table of cases against the tests: what `docs/cases.md` says is tested is
//! there, and what `tests/cases` tests is in the table.
//!
//! A row is `| id | fault | right behaviour | tested |`. The last cell names
//! tests as `` `CRATE/PATH.rs::FUNCTION` `` or `` `CRATE/PATH.rs` `` (below
//! `crates/`), pages as `` `docs/PAGE.md` ``, or says `open: what it waits for`.

use std::collections::{BTreeMap, BTreeSet};

use crate::shell::Failure;
use crate::workspace::Workspace;

/// Where all cases are listed.
pub(crate) const PAGE: &str = "docs/cases.md";

/// Where each test is a case, and so has a row.
const TESTS: [&str; 2] = ["crates/semel/tests/cases/", "crates/semel-http/tests/cases/"];

const CELLS: usize = 4;
const OPEN: &str = "open:";

/// One case.
#[derive(Debug, PartialEq, Eq)]
struct Row<'a> {
    line: usize,
    id: &'a str,
    tested: &'a str,
}

/// What a row refers to, between backticks.
#[derive(Debug, PartialEq, Eq)]
enum Place<'a> {
    Source { path: String, function: Option<&'a str> },
    Page(&'a str),
}

/// What is wrong with the table, given all Rust sources.
pub(crate) fn faults(
    here: &Workspace,
    sources: &[(String, String)],
) -> Result<Vec<String>, Failure> {
    let page = here.read(PAGE)?;
    let (rows, mut faults) = rows(&page);
    println!("{} cases in {PAGE}", rows.len());
    if rows.is_empty() {
        faults.push("it has no rows: that can't be right".to_owned());
    }
    let sources: BTreeMap<&str, &str> =
        sources.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    faults.extend(twice(&rows));
    for row in &rows {
        let is_page = |path: &str| here.root().join(path).is_file();
        faults.extend(faults_of(row, &sources, is_page));
    }
    faults.extend(unlisted(&rows, &sources));
    Ok(faults.into_iter().map(|fault| format!("{PAGE}:{fault}")).collect())
}

/// The rows of all tables, and the lines that look like rows and are none.
fn rows(page: &str) -> (Vec<Row<'_>>, Vec<String>) {
    let (mut rows, mut faults) = (Vec::new(), Vec::new());
    let mut before = "";
    for (index, text) in page.lines().enumerate() {
        let line = index + 1;
        if let Some(inner) = text.strip_prefix('|') {
            let cells: Vec<&str> = cells(inner);
            let is_head = !before.starts_with('|');
            let is_rule = cells.iter().all(|cell| cell.trim_matches('-').is_empty());
            if is_head || is_rule {
            } else if let [id, .., tested] = cells[..]
                && cells.len() == CELLS
                && cells.iter().all(|cell| !cell.is_empty())
            {
                rows.push(Row { line, id, tested });
            } else {
                faults.push(format!("{line}: a row has {CELLS} cells with something in each"));
            }
        }
        before = text;
    }
    (rows, faults)
}

/// The cells of a row; `\|` is a bar within one.
fn cells(inner: &str) -> Vec<&str> {
    let mut cells = Vec::new();
    let mut start = 0;
    for (at, _) in inner.match_indices('|') {
        if !inner[..at].ends_with('\\') {
            cells.push(inner[start..at].trim());
            start = at + 1;
        }
    }
    cells
}

fn twice(rows: &[Row<'_>]) -> Vec<String> {
    let mut seen = BTreeMap::new();
    let mut faults = Vec::new();
    for row in rows {
        if let Some(first) = seen.insert(row.id, row.line) {
            faults.push(format!("{}: `{}` has a row already, in line {first}", row.line, row.id));
        }
    }
    faults
}

fn faults_of(
    row: &Row<'_>,
    sources: &BTreeMap<&str, &str>,
    is_page: impl Fn(&str) -> bool,
) -> Vec<String> {
    let Row { line, id, tested } = row;
    let open = tested.split_once(OPEN).map(|(_, reason)| reason.trim());
    let places = places(tested);
    let mut faults = Vec::new();
    if open == Some("") {
        faults.push(format!("{line}: `{id}` is open without saying what it waits for"));
    }
    if open.is_none() && places.is_empty() {
        faults.push(format!("{line}: `{id}` names no test and is not open"));
    }
    for place in places {
        let fault = match place {
            Place::Page(path) => (!is_page(path)).then(|| format!("there is no {path}")),
            Place::Source { path, function } => match (sources.get(path.as_str()), function) {
                (None, _) => Some(format!("there is no {path}")),
                (Some(text), Some(name)) if !functions(text).contains(name) => {
                    Some(format!("{path} has no `fn {name}`"))
                }
                _ => None,
            },
        };
        faults.extend(fault.map(|fault| format!("{line}: `{id}`: {fault}")));
    }
    faults
}

/// What stands between backticks and looks like a file.
fn places(tested: &str) -> Vec<Place<'_>> {
    let quoted = tested.split('`').skip(1).step_by(2);
    let place = |text| match text {
        page if str::ends_with(page, ".md") => Some(Place::Page(page)),
        source => {
            let (path, function) = match str::split_once(source, "::") {
                Some((path, function)) => (path, Some(function)),
                None => (source, None),
            };
            let path = format!("crates/{path}");
            path.ends_with(".rs").then_some(Place::Source { path, function })
        }
    };
    quoted.filter_map(place).collect()
}

/// The names of all functions of a source.
fn functions(text: &str) -> BTreeSet<&str> {
    text.lines().filter_map(|line| function(line.trim_start())).collect()
}

/// The name of the function that begins in this line; a comment begins none.
fn function(line: &str) -> Option<&str> {
    let (before, rest) = line.split_once("fn ")?;
    let is_modifier =
        |word: &str| matches!(word, "async" | "const" | "pub") || word.starts_with("pub(");
    before.split_whitespace().all(is_modifier).then(|| rest.split(['(', '<']).next())?
}

/// The tests in the folder of cases that no row names.
fn unlisted(rows: &[Row<'_>], sources: &BTreeMap<&str, &str>) -> Vec<String> {
    let mut listed = BTreeSet::new();
    for place in rows.iter().flat_map(|row| places(row.tested)) {
        if let Place::Source { path, function: Some(function) } = place {
            listed.insert((path, function));
        }
    }
    let here =
        sources.iter().filter(|(path, _)| TESTS.iter().any(|folder| path.starts_with(folder)));
    let tests =
        here.flat_map(|(path, text)| tests_of(text).into_iter().map(move |name| (path, name)));
    tests
        .filter(|(path, name)| !listed.contains(&((**path).to_owned(), name)))
        .map(|(path, name)| format!("1: no row names {path}::{name}"))
        .collect()
}

/// The functions of a source that are tests.
fn tests_of(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[") {
            is_test |= line.contains("test]") || line.contains("test(");
        } else if is_test {
            found.extend(function(line));
            is_test = false;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "/// fn not_this(\n#[tokio::test(start_paused = true)]\nasync fn x1_a() {}\n\
                          pub(crate) const fn helper<T>(t: T) {}\n#[test]\nfn x2_b() {}\n";

    fn page(rows: &str) -> String {
        format!("# Cases\n\n| id | fault | right | tested |\n| --- | --- | --- | --- |\n{rows}\n")
    }

    /// What is wrong with a page of these rows, where there is one source.
    fn found(text: &str) -> Vec<String> {
        let text = page(text);
        let path = "crates/semel-http/tests/cases/x.rs";
        let sources = BTreeMap::from([(path, SOURCE)]);
        let (rows, mut faults) = rows(&text);
        faults.extend(twice(&rows));
        let is_page = |path: &str| path == "docs/design.md";
        faults.extend(rows.iter().flat_map(|row| faults_of(row, &sources, is_page)));
        faults.extend(unlisted(&rows, &sources));
        faults
    }

    const ALL: &str = "| X1 | a | b | `semel-http/tests/cases/x.rs::x1_a`, \
                       `semel-http/tests/cases/x.rs::x2_b` |\n";

    fn found_beside(more: &str) -> Vec<String> {
        found(&format!("{ALL}{more}"))
    }

    #[test]
    fn a_table_that_is_in_order_has_no_fault() {
        let rest = "| X3 | a \\| b | c | open: Redis |\n\
                    | X4 | a | b | rule: `docs/design.md` |\n\
                    | X5 | a | b | `semel-http/tests/cases/x.rs`; open: the gateway |";
        assert_eq!(found_beside(rest), [""; 0]);
    }

    #[test]
    fn a_file_a_function_or_a_page_that_is_gone_is_told_with_its_line() {
        for (tested, missing) in [
            ("`semel-http/tests/cases/y.rs::x1_a`", "crates/semel-http/tests/cases/y.rs"),
            ("`semel-http/tests/cases/x.rs::x1`", "`fn x1`"),
            ("`semel-http/tests/cases/x.rs::not_this`", "`fn not_this`"),
            ("rule: `docs/gone.md`", "docs/gone.md"),
        ] {
            let faults = found_beside(&format!("| X3 | a | b | {tested} |"));
            assert_eq!(faults.len(), 1, "{tested}: {faults:?}");
            assert!(
                faults[0].starts_with("6: `X3`: ") && faults[0].contains(missing),
                "{faults:?}"
            );
        }
    }

    #[test]
    fn a_row_says_where_it_is_tested_or_what_it_waits_for() {
        for tested in ["somewhere", "open:", "`open`"] {
            let faults = found_beside(&format!("| X3 | a | b | {tested} |"));
            assert_eq!(faults.len(), 1, "{tested}: {faults:?}");
        }
    }

    #[test]
    fn an_id_has_one_row() {
        let faults = found_beside("| X3 | a | b | open: x |\n| X3 | c | d | open: y |");
        assert_eq!(faults, ["7: `X3` has a row already, in line 6"]);
    }

    #[test]
    fn a_row_that_is_torn_is_not_passed_over() {
        for torn in ["| X3 | a | b |", "| X3 | a | | open: x |", "| X3 | a | b | c | open: x |"] {
            let faults = found_beside(torn);
            assert_eq!(faults.len(), 1, "{torn}: {faults:?}");
        }
    }

    #[test]
    fn a_test_among_the_cases_has_a_row() {
        let faults = found("| X1 | a | b | `semel-http/tests/cases/x.rs::x1_a` |");
        assert_eq!(faults, ["1: no row names crates/semel-http/tests/cases/x.rs::x2_b"]);
        for folder in TESTS {
            let path = format!("{folder}x.rs");
            let sources = BTreeMap::from([(path.as_str(), SOURCE)]);
            assert_eq!(unlisted(&[], &sources).len(), 2, "{folder}");
        }
        let elsewhere = BTreeMap::from([("crates/semel/tests/engine/x.rs", SOURCE)]);
        assert_eq!(unlisted(&[], &elsewhere), [""; 0]);
    }

    #[test]
    fn functions_are_found_by_their_whole_name() {
        let names: Vec<_> = functions(SOURCE).into_iter().collect();
        assert_eq!(names, ["helper", "x1_a", "x2_b"]);
        assert_eq!(tests_of(SOURCE), ["x1_a", "x2_b"]);
    }
}
