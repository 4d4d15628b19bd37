//! Broken variants: each must break a law, or the check would not find it in the real thing.

use semel_core::lock::LockEntry;
use semel_core::protocol::Verdict;
use semel_core::protocol::lock::{
    Acquire, Acquired, Force, ForceHow, Forced, KeepPlaces, LockAsk, LockSeen, PlacesKept,
    Queueing, Release, Released, Renew, Renewed,
};
use semel_core::{Expect, StoreTime, Ttl};

use crate::checks::breaks;
use crate::client::{LEASE, TICK};
use crate::laws::Law;
use crate::model::{DELAY, Settings};
use crate::rules::Rules;

fn with(seen: &LockSeen, change: impl FnOnce(&mut LockEntry)) -> LockSeen {
    let mut seen = seen.clone();
    if let Some(there) = &mut seen.entry {
        change(&mut there.entry);
    }
    seen
}

/// SH-4, ET-4, RR-3: releases whatever is there.
struct ReleasesByName;

impl Rules for ReleasesByName {
    fn release(&self, ask: &Release, seen: &LockSeen) -> Verdict<Released, LockEntry> {
        let there = seen.entry.as_ref().and_then(|there| there.entry.holders.first());
        let token = there.map_or(ask.token, |holder| holder.token);
        Release { token, ..*ask }.decide(seen)
    }
}

#[test]
fn a_release_without_a_look_at_the_token_is_found() {
    breaks("releases by name", ReleasesByName, Settings::two(), &[Law::Release, Law::Belief]);
}

/// Grants a moment before the lease has ended.
struct GrantsEarly;

impl Rules for GrantsEarly {
    fn acquire(&self, ask: &Acquire, seen: &LockSeen) -> Verdict<Acquired, LockEntry> {
        let mut early = seen.clone();
        early.now = StoreTime::from_micros(seen.now.as_micros() + TICK);
        if let Some(there) = &mut early.entry {
            there.lease_left = there
                .lease_left
                .as_micros()
                .checked_sub(TICK)
                .map_or(Ttl::ZERO, |left| Ttl::from_micros(left).unwrap());
        }
        ask.decide(&early)
    }
}

#[test]
fn a_grant_before_the_lease_has_ended_is_found() {
    breaks("grants early", GrantsEarly, Settings::two(), &[Law::Exclusion, Law::Belief]);
}

/// Lets whoever writes the entry lengthen the lease of its holder.
struct Lengthens;

impl Rules for Lengthens {
    fn acquire(&self, ask: &Acquire, seen: &LockSeen) -> Verdict<Acquired, LockEntry> {
        let mut longer = seen.clone();
        if let Some(there) = &mut longer.entry
            && !there.lease_left.is_zero()
        {
            there.lease_left = LEASE;
        }
        ask.decide(&longer)
    }
}

#[test]
fn a_dead_holders_lease_that_a_waiter_lengthens_is_found() {
    breaks("lengthens", Lengthens, Settings::waiting(), &[Law::Progress]);
}

/// Knows no delay after an unclean end.
struct NoDelay;

impl Rules for NoDelay {
    fn acquire(&self, ask: &Acquire, seen: &LockSeen) -> Verdict<Acquired, LockEntry> {
        ask.decide(&with(seen, |entry| {
            entry.holders.iter_mut().for_each(|holder| holder.lock_delay = Ttl::ZERO);
        }))
    }
}

#[test]
fn a_delay_that_is_not_kept_is_found() {
    let set = Settings { delay: DELAY, ..Settings::two() };
    breaks("no delay", NoDelay, set, &[Law::Exclusion]);
}

/// Grants to whoever asks first, not to who came first.
struct NoOrder;

impl Rules for NoOrder {
    fn acquire(&self, ask: &Acquire, seen: &LockSeen) -> Verdict<Acquired, LockEntry> {
        let past = Acquire { queueing: Queueing::Past, ..ask.clone() };
        match past.decide(seen) {
            granted @ Verdict::Write { .. } => granted,
            Verdict::Answer(_) => ask.decide(seen),
        }
    }
}

#[test]
fn a_grant_past_those_who_wait_is_found() {
    let set = Settings { clients: 3, ticks: 1, faults: 0, ..Settings::waiting() };
    breaks("no order", NoOrder, set, &[Law::Order]);
}

/// Renews whatever is there.
struct RenewsBlindly;

impl Rules for RenewsBlindly {
    fn renew(&self, ask: &Renew, seen: &LockSeen) -> Verdict<Renewed, LockEntry> {
        match ask.decide(seen) {
            Verdict::Write { write, answer, .. } => {
                Verdict::Write { expect: Expect::Any, write, answer }
            }
            answer @ Verdict::Answer(_) => answer,
        }
    }
}

#[test]
fn a_renewal_that_does_not_compare_is_found() {
    let laws = [Law::Exclusion, Law::Belief, Law::Release];
    breaks("renews blindly", RenewsBlindly, Settings::two(), &laws);
}

/// Gives the fence of whoever held it before, as a counter that is read apart does.
struct ReadsFenceApart;

impl Rules for ReadsFenceApart {
    fn acquire(&self, ask: &Acquire, seen: &LockSeen) -> Verdict<Acquired, LockEntry> {
        let verdict = ask.decide(seen);
        let Verdict::Write { expect, write, answer: Acquired::Granted { left, .. } } = verdict
        else {
            return verdict;
        };
        let last = seen.entry.as_ref().map(|there| there.version.into());
        Verdict::Write { expect, write, answer: Acquired::Granted { fence: last, left } }
    }
}

#[test]
fn a_fence_that_is_not_that_of_the_grant_is_found() {
    breaks("fence read apart", ReadsFenceApart, Settings::two(), &[Law::Fence]);
}

/// RS-5: counts from when it was told.
struct CountsFromReply;

impl Rules for CountsFromReply {
    fn counted_from(&self, _: u64, told: u64) -> u64 {
        told
    }
}

#[test]
fn a_lease_that_is_counted_from_the_reply_is_found() {
    breaks("counts from the reply", CountsFromReply, Settings::two(), &[Law::Belief]);
}

/// Takes an absolute end for one that begins with the write.
struct KeepsRelative;

impl Rules for KeepsRelative {
    fn keep(&self, ask: &KeepPlaces, seen: &LockSeen) -> Verdict<PlacesKept, LockEntry> {
        drop_untils(ask.decide(seen))
    }
}

fn drop_untils<A>(verdict: Verdict<A, LockEntry>) -> Verdict<A, LockEntry> {
    use semel_core::protocol::Write;
    match verdict {
        Verdict::Write { expect, write: Write::Put { mut record, lease, keep }, answer } => {
            record.holders.iter_mut().for_each(|holder| holder.until = None);
            Verdict::Write { expect, write: Write::Put { record, lease, keep }, answer }
        }
        other => other,
    }
}

#[test]
fn a_place_that_is_kept_at_the_cost_of_the_next_is_found() {
    breaks("keeps relative", KeepsRelative, Settings::keeping(), &[Law::Progress]);
}

/// Frees a lock that was merely revoked.
struct RevokesAtOnce;

impl Rules for RevokesAtOnce {
    fn force(&self, ask: &Force, seen: &LockSeen) -> Verdict<Forced, LockEntry> {
        Force { how: ForceHow::AtOnce, ..ask.clone() }.decide(seen)
    }
}

#[test]
fn a_revoked_lock_that_is_free_at_once_is_found() {
    let set = Settings { force: Some(ForceHow::Revoke), faults: 0, ..Settings::two() };
    breaks("revokes at once", RevokesAtOnce, set, &[Law::Belief]);
}

/// ET-1: a place that has run out is one.
struct RevivesPlaces;

impl Rules for RevivesPlaces {
    fn acquire(&self, ask: &Acquire, seen: &LockSeen) -> Verdict<Acquired, LockEntry> {
        ask.decide(&with(seen, |entry| {
            entry.queue.iter_mut().for_each(|there| {
                there.alive_until = seen.now.after(LEASE);
            });
        }))
    }
}

#[test]
fn a_dead_waiter_that_is_waited_for_is_found_by_what_is_never_seen() {
    // It harms nobody but those behind it: the check must miss the sight of a dead waiter passed.
    let report = crate::explore::explore(
        &crate::model::Model::new(RevivesPlaces, Settings::waiting()),
        400_000,
    );
    assert!(report.broken.is_none());
    assert!(!report.sights.contains(&crate::model::Sight::DeadWaiterPassed));
}
