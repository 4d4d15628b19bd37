//! Values of every size and byte, and keys that look alike.

use bytes::Bytes;

use super::fixture::Fixture;
use super::scan::hostile_keys;
use super::support::{
    LONG, LONGER, Written, assert_absent, key, lasting, look, present, read, renew, win,
};
use crate::key::Key;
use crate::store::{Expect, Next, Touch};
use crate::store_error::{Refusal, StoreErrorKind};

pub(super) async fn an_empty_value_is_a_value(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("empty"));
    let written = Written::put(&store, &key, Expect::Absent, ("", LONG, LONGER)).await;
    written.check(&look(&store, &key).await);
    let stamp = win(&store, &key, Expect::Any, renew(LONG, LONG)).await;
    written.renewed(stamp, LONG, LONG).check(&read(&store, &key, Touch::No).await);
}

pub(super) async fn a_value_of_the_limit_comes_back(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("large"));
    let value = patterned(fixture.abilities().value_limit);
    win(&store, &key, Expect::Absent, lasting(value.clone())).await;
    assert!(present(&store, &key).await.value == value, "a large value must come back whole");
    win(&store, &key, Expect::Any, renew(LONG, LONG)).await;
    assert!(present(&store, &key).await.value == value, "a renewal must leave it whole");
}

/// Bytes in which a part that is lost, repeated or moved shows.
fn patterned(len: usize) -> Bytes {
    let numbers = (0_u32..).flat_map(|number| number.wrapping_mul(0x9e37_79b1).to_le_bytes());
    numbers.take(len).collect()
}

pub(super) async fn a_value_over_the_limit_is_refused_and_changes_nothing(fixture: &dyn Fixture) {
    let (store, absent, there) = (fixture.store(), key("absent"), key("there"));
    let written = Written::put(&store, &there, Expect::Absent, ("v", LONG, LONGER)).await;
    let value = Bytes::from(vec![7; fixture.abilities().value_limit + 1]);
    for (key, expect) in [
        (&absent, Expect::Absent),
        (&absent, Expect::Any),
        (&there, Expect::Any),
        (&there, Expect::Version(written.version)),
    ] {
        let refused = store.swap(key, expect, lasting(value.clone())).await;
        let kind = refused.map_err(|error| error.kind());
        let due = Err(StoreErrorKind::Refused(Refusal::TooLarge));
        assert_eq!(kind, due, "one byte over the limit must be refused as too large");
    }
    assert_absent(&store, &absent).await;
    written.check(&look(&store, &there).await);
}

pub(super) async fn every_byte_comes_back(fixture: &dyn Fixture) {
    let (store, key) = (fixture.store(), key("bytes"));
    let all: Vec<u8> = (0..=255).collect();
    let doubled: Vec<u8> = all.iter().rev().flat_map(|byte| [*byte, *byte]).collect();
    for value in [all, doubled, vec![0; 300], vec![0xff; 300], b"a\0b".to_vec()] {
        win(&store, &key, Expect::Any, lasting(value.clone())).await;
        assert_eq!(present(&store, &key).await.value, value, "every byte must come back");
    }
}

pub(super) async fn keys_are_independent(fixture: &dyn Fixture) {
    let store = fixture.store();
    let first = Written::put(&store, &key("k:1"), Expect::Absent, ("one", LONG, LONG)).await;
    let second = Written::put(&store, &key("k:2"), Expect::Absent, ("two", LONG, LONG)).await;
    first.check(&look(&store, &key("k:1")).await);
    win(&store, &key("k:1"), Expect::Any, Next::Delete).await;
    assert_absent(&store, &key("k:1")).await;
    assert_absent(&store, &key("k:")).await;
    assert_absent(&store, &key("k:22")).await;
    second.check(&look(&store, &key("k:2")).await);
}

pub(super) async fn keys_that_look_alike_are_different(fixture: &dyn Fixture) {
    // Letter case, composed and decomposed, full width, a Cyrillic a, a zero-width joiner, and
    // German sharp s, which some collations hold equal to "ss".
    let alike = [
        "key",
        "Key",
        "KEY",
        "kéy",
        "ke\u{301}y",
        "\u{ff4b}ey",
        "а",
        "a",
        "a\u{200d}",
        "ß",
        "ss",
        "1",
        "01",
        "1.0",
        "true",
    ];
    assert_all_separate(fixture, alike.into_iter().map(key)).await;
}

pub(super) async fn hostile_keys_work_as_any_other(fixture: &dyn Fixture) {
    assert_all_separate(fixture, hostile_keys()).await;
}

async fn assert_all_separate(fixture: &dyn Fixture, keys: impl Iterator<Item = Key>) {
    let store = fixture.store();
    let keys: Vec<Key> = keys.collect();
    for key in &keys {
        win(&store, key, Expect::Absent, lasting(key.as_str().to_owned())).await;
    }
    for key in &keys {
        assert_eq!(present(&store, key).await.value, key.as_str(), "{:?}", key.as_str());
        win(&store, key, Expect::Any, Next::Delete).await;
        assert_absent(&store, key).await;
    }
}

pub(super) async fn a_key_of_the_longest_length_works(fixture: &dyn Fixture) {
    let limit = fixture.abilities().key_limit;
    let longest = ["k".repeat(limit), "é".repeat(limit), "😀".repeat(limit)];
    // Each with a neighbour that differs in its last character only.
    let neighbours = longest.clone().map(|text| {
        let last = text.char_indices().last().map_or(0, |(at, _)| at);
        format!("{}-", &text[..last])
    });
    let keys = longest.into_iter().chain(neighbours);
    assert_all_separate(fixture, keys.map(|text| key(&text))).await;
}

pub(super) async fn a_key_over_the_length_is_refused_and_changes_nothing(fixture: &dyn Fixture) {
    let store = fixture.store();
    let over = fixture.abilities().key_limit + 1;
    let Ok(key) = Key::new("k".repeat(over)) else {
        assert_eq!(over, Key::MAX_CHARS + 1, "only the grammar may refuse before the store does");
        return;
    };
    // A wrapper that adds to keys: what no longer fits must not reach the store cut short.
    let due = StoreErrorKind::Refused(Refusal::Unusable);
    let swap = store.swap(&key, Expect::Absent, lasting("v")).await;
    assert_eq!(swap.map_err(|error| error.kind()), Err(due), "a swap must be refused");
    let read = store.read(&key, Touch::No).await;
    assert_eq!(read.map_err(|error| error.kind()), Err(due), "a read must be refused");
    let page = store.scan("", None, 10).await.expect("a scan");
    assert_eq!(page.entries, Vec::new(), "nothing may have been written");
}
