//! Listings: in pages, in order, by a literal prefix.

use std::collections::BTreeMap;

use futures_util::future::join_all;

use super::fixture::Fixture;
use super::support::{Handle, LONG, Written, key, lasting, listed, pass, put, scan, ticks, win};
use crate::key::Key;
use crate::store::{Expect, Next};

/// Keys that mean something to some query language, or sort differently in some alphabet.
const HOSTILE: [&str; 33] = [
    "%",
    "%%",
    "%41",
    "_",
    "__",
    "*",
    "**",
    "?",
    "[",
    "[a]",
    "[a-z]",
    "]",
    ":",
    "::",
    "\\",
    "\\%",
    "\\_",
    "'",
    "''",
    "\"",
    "`",
    "a'--",
    "a;b",
    "a",
    "A",
    "aa",
    "B",
    "ä",
    "{1}",
    "^$.|()",
    "\u{fffd}",
    "😀",
    "\u{10ffff}",
];

async fn fill(store: &Handle, keys: impl IntoIterator<Item = impl AsRef<str>>) {
    for text in keys {
        let text = text.as_ref();
        win(store, &key(text), Expect::Absent, lasting(text.to_owned())).await;
    }
}

fn sorted(keys: impl IntoIterator<Item = impl Into<String>>) -> Vec<String> {
    let mut keys: Vec<String> = keys.into_iter().map(Into::into).collect();
    keys.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
    keys
}

pub(super) async fn a_page_holds_keys_with_their_entries(fixture: &dyn Fixture) {
    let store = fixture.store();
    let mut written = BTreeMap::new();
    for (text, value) in [("p:a", "1"), ("p:b", "22"), ("p:c", "")] {
        let put = Written::put(&store, &key(text), Expect::Absent, (value, LONG, LONG)).await;
        written.insert(key(text), put);
    }
    let page = scan(&store, "p:", None, 10).await;
    assert_eq!(page.entries.len(), 3, "all three must be on the page");
    for (key, entry) in page.entries {
        let seen = crate::Snapshot { now: page.now, entry: Some(entry) };
        written.remove(&key).expect("a key that was put, once").check(&seen);
    }
}

pub(super) async fn pages_cover_every_key_once_and_in_order(fixture: &dyn Fixture) {
    let store = fixture.store();
    let keys = sorted((0..25).map(|number| format!("page:{number}")));
    fill(&store, &keys).await;
    fill(&store, ["page", "pagf", "paga:1"]).await;
    for limit in [1, 2, 7, 24, 25, 26, 1_000, usize::MAX] {
        assert_eq!(listed(&store, "page:", limit).await, keys, "by pages of {limit}");
    }
}

pub(super) async fn order_is_that_of_utf8_bytes(fixture: &dyn Fixture) {
    let store = fixture.store();
    // By UTF-16 the last two would change places; by a locale, `B` would come after `a`.
    let keys = ["-", "0", "B", "_", "a", "aB", "ab", "z", "ä", "\u{fffd}", "\u{10000}"];
    fill(&store, keys).await;
    assert_eq!(listed(&store, "", 3).await, sorted(keys), "in the order of UTF-8 bytes");
}

pub(super) async fn a_prefix_is_literal(fixture: &dyn Fixture) {
    let store = fixture.store();
    fill(&store, HOSTILE).await;
    let longer = HOSTILE.map(|text| format!("{text}x"));
    fill(&store, &longer).await;
    let all = sorted(HOSTILE.into_iter().map(str::to_owned).chain(longer));
    for prefix in HOSTILE {
        let due: Vec<String> =
            all.iter().filter(|text| text.starts_with(prefix)).cloned().collect();
        assert_eq!(listed(&store, prefix, 4).await, due, "what begins with {prefix:?}");
    }
}

pub(super) async fn a_key_is_listed_under_each_of_its_own_prefixes(fixture: &dyn Fixture) {
    let store = fixture.store();
    let keys = sorted(["a", "ab", "abc", "abcd", "b"]);
    fill(&store, &keys).await;
    for (prefix, first, last) in [("", 0, 5), ("a", 0, 4), ("ab", 1, 4), ("abcd", 3, 4)] {
        let due = &keys[first..last];
        assert_eq!(listed(&store, prefix, 2).await, due, "what begins with {prefix:?}");
    }
    assert_eq!(listed(&store, "abcde", 2).await, Vec::<String>::new(), "nothing is that long");
}

pub(super) async fn hostile_prefixes_match_nothing_and_break_nothing(fixture: &dyn Fixture) {
    let store = fixture.store();
    fill(&store, ["a", "b", "\u{10ffff}"]).await;
    let long = "a".repeat(100_000);
    let prefixes = [" ", "\0", "a\0", "\n", "a b", "'; DROP TABLE entries; --", "%s", &long];
    for prefix in prefixes {
        let page = scan(&store, prefix, None, 10).await;
        let shown: String = prefix.chars().take(30).collect();
        assert_eq!(page.entries, Vec::new(), "no key can begin with {shown:?}");
        assert_eq!(page.next, None, "no more can follow for {shown:?}");
    }
    assert_eq!(listed(&store, "", 10).await.len(), 3, "all entries must still be there");
}

pub(super) async fn the_empty_prefix_lists_everything(fixture: &dyn Fixture) {
    let store = fixture.store();
    assert_eq!(listed(&store, "", 5).await, Vec::<String>::new(), "an empty store has nothing");
    fill(&store, HOSTILE).await;
    assert_eq!(listed(&store, "", 5).await, sorted(HOSTILE), "every key must be listed");
}

pub(super) async fn a_limit_of_zero_gives_an_empty_last_page(fixture: &dyn Fixture) {
    let store = fixture.store();
    fill(&store, ["a", "b"]).await;
    let page = scan(&store, "", None, 0).await;
    assert_eq!(page.entries, Vec::new(), "a page of zero has no entries");
    assert_eq!(page.next, None, "a page of zero leads nowhere, or its reader would never end");
}

pub(super) async fn a_cursor_needs_no_entry_behind_it(fixture: &dyn Fixture) {
    let store = fixture.store();
    fill(&store, ["c:1", "c:3", "c:5"]).await;
    let page = scan(&store, "c:", Some(&key("c:2")), 10).await;
    let texts: Vec<&str> = page.entries.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(texts, ["c:3", "c:5"], "what follows a key that was never there");
    // The last key of a page is deleted before the next page is asked for.
    let first = scan(&store, "c:", None, 1).await;
    win(&store, &key("c:1"), Expect::Any, Next::Delete).await;
    let next = first.next.expect("two more follow");
    let rest = scan(&store, "c:", Some(&next), 10).await;
    let texts: Vec<&str> = rest.entries.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(texts, ["c:3", "c:5"], "what follows a key that was deleted");
}

pub(super) async fn a_cursor_outside_the_prefix_is_only_a_bound(fixture: &dyn Fixture) {
    let store = fixture.store();
    fill(&store, ["m:1", "m:2", "z"]).await;
    let before = scan(&store, "m:", Some(&key("a")), 10).await;
    assert_eq!(before.entries.len(), 2, "a cursor before the prefix leaves nothing out");
    let behind = scan(&store, "m:", Some(&key("n")), 10).await;
    assert_eq!(behind.entries, Vec::new(), "a cursor behind the prefix leaves nothing");
}

pub(super) async fn entries_past_lease_are_listed_and_past_keep_are_not(fixture: &dyn Fixture) {
    let store = fixture.store();
    let short = ticks(fixture, 1);
    win(&store, &key("e:kept"), Expect::Absent, put("v", short, LONG)).await;
    for number in 0..5 {
        win(&store, &key(&format!("e:gone:{number}")), Expect::Absent, put("v", short, short))
            .await;
    }
    pass(fixture, short).await;
    assert_eq!(listed(&store, "e:", 1).await, ["e:kept"], "only what is kept is listed");
    let page = scan(&store, "e:kept", None, 1).await;
    let left = page.entries.first().map(|(_, entry)| entry.lease_left.is_zero());
    assert_eq!(left, Some(true), "its lease must be shown as ended");
}

pub(super) async fn the_longest_keys_are_listed(fixture: &dyn Fixture) {
    let store = fixture.store();
    let limit = fixture.abilities().key_limit;
    let keys = sorted([
        "a".repeat(limit),
        "a".repeat(limit - 1),
        "😀".repeat(limit),
        format!("{}é", "😀".repeat(limit - 1)),
        "\u{10ffff}".repeat(limit),
    ]);
    fill(&store, &keys).await;
    assert_eq!(listed(&store, "", 1).await, keys, "all of them, one a page");
    let whole = listed(&store, &"\u{10ffff}".repeat(limit), 5).await;
    assert_eq!(whole.len(), 1, "a prefix may be as long as a key");
}

pub(super) async fn what_stays_is_listed_once_while_others_come_and_go(fixture: &dyn Fixture) {
    let store = fixture.store();
    let staying = sorted((0..40).map(|number| format!("s:{number:02}")));
    fill(&store, &staying).await;
    let churn = (0..4).map(|task| {
        let store = fixture.store();
        fixture.spawn(Box::pin(async move {
            for round in 0..25 {
                let key = key(&format!("s:{:02}:{task}", round % 40));
                win(&store, &key, Expect::Any, lasting("v")).await;
                win(&store, &key, Expect::Any, Next::Delete).await;
            }
        }))
    });
    let churn: Vec<_> = churn.collect();
    for limit in [1, 3, 40] {
        let mut seen = listed(&store, "s:", limit).await;
        seen.retain(|text| text.len() == "s:00".len());
        assert_eq!(seen, staying, "by pages of {limit}: what stays, once and in order");
    }
    join_all(churn).await;
}

/// The same alphabet of trouble, for cases about single keys.
pub(super) fn hostile_keys() -> impl Iterator<Item = Key> {
    HOSTILE.into_iter().map(key)
}
