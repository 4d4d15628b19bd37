//! Processes, as Linux tells of them.

/// What `/proc/PID/stat` says. An id of something outside our container is 0 there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// Dead, until its parent looks: in a container that may be for ever.
    pub(super) is_dead: bool,
}

impl Stat {
    /// All that we can see; none where there is no `/proc`.
    pub(super) fn all() -> Option<impl Iterator<Item = Self>> {
        let processes = std::fs::read_dir("/proc").ok()?.flatten();
        let numbered = processes
            .filter(|entry| entry.file_name().as_encoded_bytes()[0].is_ascii_digit())
            .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
        Some(numbered.filter_map(|stat| Self::parse(&stat)))
    }

    /// The name in parentheses may hold anything, so what counts stands behind the last one:
    /// state, parent, group, session.
    fn parse(stat: &str) -> Option<Self> {
        let (before, after) = stat.rsplit_once(") ")?;
        let mut fields = after.split(' ');
        let is_dead = matches!(fields.next()?, "Z" | "X" | "x");
        let mut number = || fields.next()?.parse().ok();
        let (parent, group, session) = (number()?, number()?, number()?);
        let pid = before.split(' ').next()?.parse().ok()?;
        Some(Self { pid, parent, group, session, is_dead })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_stands_behind_the_name_whatever_that_is() {
        let stat = Stat { pid: 9, parent: 1, group: 7, session: 5, is_dead: false };
        assert_eq!(Stat::parse("9 (a) Z 1 1 1) S 1 7 5 0"), Some(stat));
        assert_eq!(Stat::parse("9 (sleep) Z 1 7 5 0"), Some(Stat { is_dead: true, ..stat }));
        assert_eq!(Stat::parse("9 (sleep"), None);
        assert_eq!(Stat::parse("9 (sleep) S 1 7"), None);
    }

    #[test]
    fn we_are_among_all() {
        let us = i32::try_from(std::process::id()).unwrap();
        assert!(Stat::all().unwrap().any(|stat| stat.pid == us && !stat.is_dead));
    }
}
