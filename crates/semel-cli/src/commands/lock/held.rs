//! A lock that somebody else has, in one line.

use semel::HeldBy;
use semel::core::StoreTime;

use crate::output::{Span, day_time, safe};

/// `RES is held by OWNER since 12:03:11, free in at most 4m12s`.
pub(super) fn line(by: &HeldBy) -> String {
    let there = &by.occupant;
    let owner = safe(by.owner().unwrap_or("somebody"));
    let left = Span(by.ttl_left());
    let others = match there.waiting {
        0 => String::new(),
        1 => "; 1 waits for it".to_owned(),
        more => format!("; {more} wait for it"),
    };
    let since = since(there.since);
    match there.fence {
        Some(_) => format!(
            "{} is held by {owner}{since}, free in at most {left} unless it is renewed{others}",
            by.resource
        ),
        None => format!("{} is free, and {owner} comes first", by.resource),
    }
}

fn since(time: StoreTime) -> String {
    format!(" since {}", day_time(time))
}
