//! What a store promises as it is configured, what it does not, and what to change.

use std::borrow::Cow;
use std::fmt;

/// What was found when a store's server was looked at: for people, and for the refusal to start.
///
/// No text in it holds a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preflight {
    store: String,
    findings: Vec<Finding>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub level: FindingLevel,
    /// What was looked at, in a word or two; the name by which it can be overridden, where it can.
    pub subject: Cow<'static, str>,
    /// What was found, and what follows from it for what the store promises.
    pub found: String,
    /// What to change; none where nothing needs to be.
    pub advice: Option<String>,
}

/// How much a finding matters. A later one matters more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FindingLevel {
    /// As it should be.
    Fine,
    /// The store works, and promises less than it could.
    Warning,
    /// The store must not be used like this.
    Refused,
}

impl Preflight {
    /// An account of this store, by its name for people: kind, version and address.
    #[must_use]
    pub fn of(store: impl Into<String>) -> Self {
        Self { store: store.into(), findings: Vec::new() }
    }

    /// What was looked at, by its name for people.
    #[must_use]
    pub fn store(&self) -> &str {
        &self.store
    }

    /// All findings, in the order in which they were made.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The worst that was found; fine when nothing was.
    #[must_use]
    pub fn verdict(&self) -> FindingLevel {
        self.at_least(FindingLevel::Fine)
            .map(|finding| finding.level)
            .max()
            .unwrap_or(FindingLevel::Fine)
    }

    /// The findings that matter at least as much as `level`.
    pub fn at_least(&self, level: FindingLevel) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.level >= level)
    }

    /// Adds something that is as it should be.
    pub fn fine(&mut self, subject: impl Into<Cow<'static, str>>, found: impl Into<String>) {
        self.add(FindingLevel::Fine, subject, found, None);
    }

    /// Adds something that makes the store promise less than it could.
    pub fn warn(
        &mut self,
        subject: impl Into<Cow<'static, str>>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.add(FindingLevel::Warning, subject, found, Some(advice.into()));
    }

    /// Adds something that the store must not be used with.
    pub fn refuse(
        &mut self,
        subject: impl Into<Cow<'static, str>>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.add(FindingLevel::Refused, subject, found, Some(advice.into()));
    }

    fn add(
        &mut self,
        level: FindingLevel,
        subject: impl Into<Cow<'static, str>>,
        found: impl Into<String>,
        advice: Option<String>,
    ) {
        let (subject, found) = (subject.into(), found.into());
        self.findings.push(Finding { level, subject, found, advice });
    }
}

impl fmt::Display for FindingLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Fine => "fine",
            Self::Warning => "warning",
            Self::Refused => "refused",
        })
    }
}

impl fmt::Display for Finding {
    /// One line: level, subject, what was found, and what to change.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.level, self.subject, self.found)?;
        self.advice.iter().try_for_each(|advice| write!(f, "; {advice}"))
    }
}

impl fmt::Display for Preflight {
    /// The store, and a line for each finding.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.store)?;
        self.findings.iter().try_for_each(|finding| write!(f, "\n{finding}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{FindingLevel, Preflight};

    #[test]
    fn the_worst_finding_is_the_verdict() {
        let mut preflight = Preflight::of("PostgreSQL 15 at db:5432/app");
        assert_eq!(preflight.verdict(), FindingLevel::Fine);
        preflight.fine("fsync", "on");
        assert_eq!(preflight.verdict(), FindingLevel::Fine);
        preflight.refuse("standby", "it takes reads only", "name the primary");
        preflight.warn("encryption", "the connection is not encrypted", "set sslmode=verify-full");
        assert_eq!(preflight.verdict(), FindingLevel::Refused);
        assert_eq!(preflight.at_least(FindingLevel::Warning).count(), 2);
    }

    #[test]
    fn it_reads_as_a_line_for_each_finding() {
        let mut preflight = Preflight::of("a store");
        preflight.fine("fsync", "on");
        preflight.warn("standby", "none", "add one");
        assert_eq!(
            preflight.to_string(),
            "a store\nfine: fsync: on\nwarning: standby: none; add one"
        );
    }
}
