//! What was found on several servers, in one account.

use semel_core::{FindingLevel, Preflight};

use super::facts::Facts;
use super::findings::Said;
use crate::address::Address;

/// What was found on each server.
#[derive(Debug, Default)]
pub(super) struct Report(Vec<(Address, String, Vec<Said>)>);

impl Report {
    pub(super) fn add(&mut self, server: Address, facts: &Facts, said: Vec<Said>) {
        let (major, minor) = facts.version;
        self.0.push((server, format!("{} {major}.{minor}", facts.product), said));
    }

    /// One account. What is the same on all servers is told once; what is not, with where it is
    /// so.
    pub(super) fn account(&self) -> Preflight {
        let mut account = Preflight::of(self.name());
        let mut told: Vec<&Said> = Vec::new();
        for said in self.0.iter().flat_map(|(_, _, said)| said) {
            if !told.contains(&said) {
                told.push(said);
                self.tell(&mut account, said);
            }
        }
        account
    }

    fn tell(&self, account: &mut Preflight, said: &Said) {
        let so = self.0.iter().filter(|(_, _, all)| all.contains(said));
        let so: Vec<String> = so.map(|(server, _, _)| server.to_string()).collect();
        let found = if so.len() == self.0.len() {
            said.says.clone()
        } else {
            format!("{}: {}", so.join(", "), said.says)
        };
        let advice = || said.change.clone().unwrap_or_default();
        match said.level {
            FindingLevel::Fine => account.fine(said.check.name(), found),
            FindingLevel::Refused => account.refuse(said.check.name(), found, advice()),
            _ => account.warn(said.check.name(), found, advice()),
        }
    }

    fn name(&self) -> String {
        match self.0.as_slice() {
            [(server, product, _)] => format!("{product} at {server}"),
            servers => {
                let names: Vec<String> = servers
                    .iter()
                    .map(|(server, product, _)| format!("{product} at {server}"))
                    .collect();
                format!("a cluster of {} primaries: {}", names.len(), names.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Facts, FindingLevel, Report, Said};
    use crate::preflight::Check;

    fn warned(says: &str) -> Said {
        let (level, change) = (FindingLevel::Warning, Some("change it".to_owned()));
        Said { level, check: Check::Clock, says: says.to_owned(), change }
    }

    #[test]
    fn what_is_the_same_everywhere_is_told_once_and_what_is_not_with_its_place() {
        let mut report = Report::default();
        let facts = Facts { product: "Redis".to_owned(), version: (7, 0), ..Facts::default() };
        report.add(Address::new("a", 1), &facts, vec![warned("both"), warned("one")]);
        report.add(Address::new("b", 2), &facts, vec![warned("both")]);
        assert_eq!(
            report.account().to_string(),
            "a cluster of 2 primaries: Redis 7.0 at a:1, Redis 7.0 at b:2\n\
             warning: clock: both; change it\n\
             warning: clock: a:1: one; change it"
        );
    }
}
