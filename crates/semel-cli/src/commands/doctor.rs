//! `semel doctor`: what a store promises.

use semel::core::{Finding, FindingLevel, Preflight};

use super::store;
use crate::exit::{Exit, Stop};
use crate::output;

/// Prints what was found, and ends with the worst of it as the exit code.
pub(super) async fn run(url: &str) -> Result<(), Stop> {
    let preflight = store::examine(url).await?;
    output::data(&text(&preflight));
    match preflight.verdict() {
        FindingLevel::Fine => Ok(()),
        FindingLevel::Warning => Err(Stop::silent(Exit::Warned)),
        _ => Err(Stop::silent(Exit::Refused)),
    }
}

fn text(preflight: &Preflight) -> String {
    let mut lines = vec![preflight.store().to_owned()];
    lines.extend(preflight.findings().iter().map(line));
    lines.push(match preflight.verdict() {
        FindingLevel::Fine => "It can be used as it is.".to_owned(),
        FindingLevel::Warning => "It can be used; see the warnings.".to_owned(),
        _ => "It would be refused.".to_owned(),
    });
    lines.join("\n")
}

fn line(finding: &Finding) -> String {
    let Finding { level, subject, found, advice } = finding;
    let advice = advice
        .as_ref()
        .map_or_else(String::new, |advice| format!("\n                         {advice}"));
    format!("{level:<8} {subject:<15} {found}{advice}")
}

#[cfg(test)]
mod tests {
    use super::text;
    use semel::core::Preflight;

    #[test]
    fn each_finding_is_a_line_with_its_advice_beneath() {
        let mut preflight = Preflight::of("a store");
        preflight.fine("durability", "all of it");
        preflight.warn("replicas", "none", "add one");
        let lines = text(&preflight);
        let lines: Vec<&str> = lines.lines().map(str::trim).collect();
        assert_eq!(lines[0], "a store");
        assert!(lines[1].starts_with("fine"), "{lines:?}");
        assert_eq!(lines[3], "add one");
        assert_eq!(lines[4], "It can be used; see the warnings.");
    }
}
