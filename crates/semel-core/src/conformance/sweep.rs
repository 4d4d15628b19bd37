//! Clearing away what has ended, and nothing else.

use futures_util::future::join_all;

use super::fixture::{Fixture, Sweeping};
use super::support::{
    Handle, LONG, LONGER, Written, key, lasting, listed, look, pass, put, ticks, win,
};
use crate::key::Key;
use crate::store::{Expect, Next};
use crate::time::Ttl;

async fn sweep(store: &Handle, limit: usize) -> usize {
    store.sweep(limit).await.unwrap_or_else(|error| panic!("sweep({limit}): {error}"))
}

/// Makes entries that end after `keep`, and lets them end.
async fn ended(fixture: &dyn Fixture, store: &Handle, count: usize) -> Vec<Key> {
    let keep = ticks(fixture, 1);
    let keys: Vec<Key> = (0..count).map(|number| key(&format!("ended:{number}"))).collect();
    // All first under a keep that can't end meanwhile, so that no put clears away another's.
    for key in &keys {
        win(store, key, Expect::Absent, lasting("v")).await;
    }
    for key in &keys {
        win(store, key, Expect::Any, Next::Renew { lease: keep, keep }).await;
    }
    pass(fixture, keep).await;
    keys
}

/// Asserts a sweep's count: exact, or an upper bound where the store sweeps by itself.
fn assert_swept(fixture: &dyn Fixture, swept: usize, due: usize) {
    match fixture.abilities().sweeping {
        Sweeping::ByCall => assert_eq!(swept, due, "as many must go as had ended"),
        Sweeping::ByItself => assert!(swept <= due, "{swept} went, {due} had ended"),
    }
}

pub(super) async fn only_what_is_past_its_keep_goes(fixture: &dyn Fixture) {
    let store = fixture.store();
    let lapsed = Written::put(&store, &key("lapsed"), Expect::Absent, ("v", Ttl::ZERO, LONG)).await;
    let live = Written::put(&store, &key("live"), Expect::Absent, ("w", LONG, LONGER)).await;
    ended(fixture, &store, 5).await;
    assert_swept(fixture, sweep(&store, 100).await, 5);
    lapsed.check(&look(&store, &key("lapsed")).await);
    live.check(&look(&store, &key("live")).await);
    assert_eq!(listed(&store, "", 10).await, ["lapsed", "live"], "nothing else may be left");
}

pub(super) async fn a_sweep_honours_its_limit(fixture: &dyn Fixture) {
    let store = fixture.store();
    ended(fixture, &store, 7).await;
    assert_eq!(sweep(&store, 0).await, 0, "a sweep of zero removes nothing");
    assert_swept(fixture, sweep(&store, 3).await, 3);
    assert_swept(fixture, sweep(&store, 3).await, 3);
    assert_swept(fixture, sweep(&store, usize::MAX).await, 1);
    assert_eq!(sweep(&store, 3).await, 0, "nothing was left");
}

pub(super) async fn a_sweep_of_nothing_counts_nothing(fixture: &dyn Fixture) {
    let store = fixture.store();
    assert_eq!(sweep(&store, 10).await, 0, "an empty store has nothing to remove");
    win(&store, &key("live"), Expect::Absent, lasting("v")).await;
    assert_eq!(sweep(&store, 10).await, 0, "a live entry is nothing to remove");
    win(&store, &key("live"), Expect::Any, Next::Delete).await;
    assert_eq!(sweep(&store, 10).await, 0, "what was deleted is no longer there to remove");
}

pub(super) async fn a_swept_key_can_be_claimed_again(fixture: &dyn Fixture) {
    let store = fixture.store();
    let keys = ended(fixture, &store, 3).await;
    assert_swept(fixture, sweep(&store, 100).await, 3);
    for key in &keys {
        let claim = Written::put(&store, key, Expect::Absent, ("again", LONG, LONG)).await;
        claim.check(&look(&store, key).await);
    }
}

pub(super) async fn an_entry_that_was_written_again_survives_the_sweep(fixture: &dyn Fixture) {
    let store = fixture.store();
    let keys = ended(fixture, &store, 4).await;
    // One was claimed anew with a long keep, one renewed in time: their old ends mean nothing.
    let claimed = Written::put(&store, &keys[0], Expect::Absent, ("again", LONG, LONG)).await;
    let short = ticks(fixture, 2);
    let brief = key("brief");
    let written = Written::put(&store, &brief, Expect::Absent, ("v", short, short)).await;
    let stamp = win(&store, &brief, Expect::Any, Next::Renew { lease: LONG, keep: LONG }).await;
    pass(fixture, short).await;
    sweep(&store, 100).await;
    claimed.check(&look(&store, &keys[0]).await);
    written.renewed(stamp, LONG, LONG).check(&look(&store, &brief).await);
    // Deleted and made anew, the end of its first life means nothing either.
    win(&store, &keys[1], Expect::Absent, put("v", short, short)).await;
    win(&store, &keys[1], Expect::Any, Next::Delete).await;
    let anew = Written::put(&store, &keys[1], Expect::Absent, ("anew", LONG, LONG)).await;
    pass(fixture, short).await;
    sweep(&store, 100).await;
    anew.check(&look(&store, &keys[1]).await);
}

pub(super) async fn sweeps_never_take_what_is_claimed_anew_meanwhile(fixture: &dyn Fixture) {
    const KEYS: usize = 64;
    let store = fixture.store();
    let keys = ended(fixture, &store, KEYS).await;
    let sweepers = (0..8).map(|_| {
        let store = fixture.store();
        fixture.spawn(Box::pin(async move {
            for _ in 0..KEYS {
                sweep(&store, 2).await;
            }
        }))
    });
    let claimers = keys.iter().cloned().map(|key| {
        let store = fixture.store();
        fixture.spawn(Box::pin(async move {
            let claim = Written::put(&store, &key, Expect::Absent, ("again", LONG, LONG)).await;
            claim.check(&look(&store, &key).await);
        }))
    });
    let tasks: Vec<_> = sweepers.chain(claimers).collect();
    join_all(tasks).await;
    sweep(&store, usize::MAX).await;
    for key in &keys {
        let seen = look(&store, key).await;
        let value = seen.entry.map(|entry| entry.value);
        assert_eq!(value.as_deref(), Some(&b"again"[..]), "a fresh claim must outlive all sweeps");
    }
}
