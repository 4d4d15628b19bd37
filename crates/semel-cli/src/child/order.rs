//! What the guardian is told: lines through a pipe.

use rustix::process::Pid;

use super::group::ProcessGroup;
use super::moment::Moment;

/// One line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// This is the group to watch over.
    Watch(ProcessGroup),
    /// At this moment it must be gone, unless another moment is named before.
    Until(Moment),
    /// It has ended: there is nothing to watch any more.
    Over,
}

impl Order {
    pub(super) fn line(self) -> String {
        match self {
            Self::Watch(group) => format!("watch {}\n", group.id().as_raw_pid()),
            Self::Until(moment) => format!("until {moment}\n"),
            Self::Over => "over\n".to_owned(),
        }
    }

    /// A line without its end; none for what is no order.
    pub(super) fn parse(line: &str) -> Option<Self> {
        match line.split_once(' ') {
            Some(("watch", id)) => {
                let id = Pid::from_raw(id.parse().ok()?)?;
                Some(Self::Watch(ProcessGroup::new(id)))
            }
            Some(("until", moment)) => moment.parse().ok().map(Self::Until),
            None if line == "over" => Some(Self::Over),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_reads_back() {
        let group = ProcessGroup::new(Pid::from_raw(4121).unwrap());
        for order in [Order::Watch(group), Order::Until(Moment::now()), Order::Over] {
            assert_eq!(Order::parse(order.line().trim_end()), Some(order));
        }
        for none in ["", "watch", "watch 0", "watch x", "until", "over there", "end"] {
            assert_eq!(Order::parse(none), None, "{none:?}");
        }
    }
}
